/** Arrays drawn cell by cell. Pointing at a cell, focusing it or tapping it highlights the related cells of the other
 * arrays and shows how its value is computed. Everything comes with the picture, so no server is asked. */

import { mount } from "../mount.js";
import { h, moveFocus, setText } from "../player/dom.js";
import { indexText, shapeText } from "../player/format.js";

const MIN_COLUMNS = 2; // that an array takes, with its title

/** @import { ShownGrid, ShownGrids } from "../types.js" */

export const show = mount(
  () => {
    const element = h("div");
    return { element, show: (/** @type {ShownGrids} */ shown) => element.replaceChildren(new Picture(shown).element) };
  },
  new URL("grids.css", import.meta.url),
);

/** @typedef {ShownGrids["rows"][number][number]} Part */

/** Split a row of parts at its "|". @param {Part[]} parts @returns {Part[][]} */
function halves(parts) {
  const middle = parts.findIndex((part) => "sign" in part && part.sign === "|");
  return middle < 0 ? [parts] : [parts.slice(0, middle), parts.slice(middle + 1)];
}

/** Split a row of parts where a line may break: between two arrays without a sign between them.
 * @param {Part[]} parts @returns {Part[][]} */
function groups(parts) {
  const between = (/** @type {number} */ at) => [parts[at - 1], parts[at]].every((part) => part && !("sign" in part));
  return parts.reduce((found, part, at) => {
    if (!at || between(at)) found.push([]);
    found[found.length - 1].push(part);
    return found;
  }, /** @type {Part[][]} */ ([]));
}

/** Return the numbers from which the style sheet computes how large a cell may be. Rows with two sides fill the room.
 * @param {ShownGrids["rows"]} rows */
function roomFor(rows) {
  if (rows.some((row) => halves(row).length > 1)) return "";
  const shapes = rows.map((row) => row.flatMap((part) => ("sign" in part ? [] : [part.shape])));
  const across = shapes.map((row) => row.reduce((sum, shape) => sum + Math.max(shape.at(-1) ?? 1, MIN_COLUMNS) + 1, 0));
  const down = shapes.reduce((sum, row) => sum + Math.max(...row.map((shape) => shape.at(-2) ?? 1)) + 1, 0);
  return `--across: ${Math.max(...across)}; --down: ${down}`;
}

/** Rows of grids, and the text about the cell that is pointed at. */
class Picture {
  /** @param {ShownGrids} shown */
  constructor({ rows, start }) {
    /** @type {Map<string, Grid>} */
    this.grids = new Map();
    this.what = h("span");
    this.arithmetic = h("b");
    const words = h("p", { class: "words", "aria-live": "polite" }, this.what, this.arithmetic);
    const sides = rows.map(halves);
    const columns = sides[0].map((_, side) =>
      h("div", { class: "column" }, ...sides.map((row) => this.line(row[side]))),
    );
    this.element = h(
      "div",
      { class: "grids", style: roomFor(rows), onpointerleave: () => this.point(this.chosen) },
      words,
      h("div", { class: "columns", style: `--rows: ${rows.length}` }, ...columns),
    );
    /** the cell that was chosen last: pointing at another cell shows that one only meanwhile */
    this.chosen = start;
    this.choose(start);
  }

  /** Return a row of one column. @param {Part[]} parts */
  line(parts) {
    const lines = groups(parts).map((group) => h("div", { class: "group" }, ...group.map((part) => this.part(part))));
    return h("div", { class: "row" }, ...lines);
  }

  /** Return a sign or a grid. @param {Part} part */
  part(part) {
    if ("sign" in part) return h("span", { class: "sign" }, part.sign);
    const grid = new Grid(part, (cell, chosen) => {
      const place = { key: part.key, cell };
      if (chosen) this.choose(place);
      else this.point(place);
    });
    this.grids.set(part.key, grid);
    return grid.element;
  }

  /** Choose a cell and point at it. @param {ShownGrids["start"]} place */
  choose(place) {
    this.chosen = place;
    // Tab reaches it
    this.grids.get(place.key)?.buttons.forEach((button, at) => (button.tabIndex = at === place.cell ? 0 : -1));
    this.point(place);
  }

  /** Highlight a cell and the related ones, and show its text. @param {ShownGrids["start"]} place */
  point({ key, cell }) {
    const grid = this.grids.get(key);
    if (!grid) return;
    const lights = grid.shown.lights[cell];
    for (const [name, other] of this.grids) other.highlight(lights[name] ?? [], name === key ? cell : null);
    const [what, arithmetic] = grid.shown.says[cell].split("\n");
    setText(this.what, what);
    setText(this.arithmetic, arithmetic);
  }
}

/** One array as a table of buttons: Tab reaches one of them, the arrow keys the others. */
class Grid {
  /** @param {ShownGrid} shown @param {(cell: number, chosen: boolean) => void} tell */
  constructor(shown, tell) {
    this.shown = shown;
    this.buttons = shown.cells.map((text, cell) => {
      const label = `${shown.title}${shown.shape.length ? indexText(shown.shape, cell) : ""}: ${text}`;
      return h("button", {
        tabindex: cell ? -1 : 0,
        "aria-label": label,
        onpointerenter: (/** @type {PointerEvent} */ event) => event.pointerType === "mouse" && tell(cell, false),
        onfocus: () => tell(cell, true),
        onclick: () => tell(cell, true),
        onkeydown: (/** @type {KeyboardEvent} */ event) => moveFocus(event, this.buttons, shown.shape.at(-1) ?? 1),
      }, text); // prettier-ignore
    });
    const title = h("figcaption", {}, h("b", {}, shown.title), ` ${shapeText(shown.shape)}`);
    this.element = h("figure", { class: shown.kind, "data-grid": shown.key }, title, h("div", {}, ...this.tables()));
  }

  tables() {
    const { shape } = this.shown;
    const [slices, rows, columns] = [1, 1, 1, ...shape].slice(-3);
    return Array.from({ length: slices }, (_, slice) => {
      const lines = Array.from({ length: rows }, (__, row) => {
        const cells = Array.from({ length: columns }, (___, column) =>
          h("td", {}, this.buttons[(slice * rows + row) * columns + column]),
        );
        return h("tr", {}, ...(shape.length > 1 ? [h("th", { scope: "row" }, `${row}`)] : []), ...cells);
      });
      const heads = Array.from({ length: columns }, (_heads, column) => h("th", { scope: "col" }, `${column}`));
      const corner = shape.length > 1 ? [h("td", {}, shape.length > 2 ? `[${slice}]` : "")] : [];
      const head = shape.length ? [h("thead", {}, h("tr", {}, ...corner, ...heads))] : [];
      const name = `${this.shown.title}${shape.length > 2 ? `, part ${slice}` : ""}`;
      return h("table", { "aria-label": name }, ...head, h("tbody", {}, ...lines));
    });
  }

  /** Highlight cells. @param {number[]} cells @param {number | null} pointed the cell that is pointed at */
  highlight(cells, pointed) {
    this.buttons.forEach((button, cell) => {
      button.classList.toggle("lit", cells.includes(cell));
      button.classList.toggle("pointed", cell === pointed);
    });
  }
}
