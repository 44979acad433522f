/** A picture of the network: a tile for each unit, with a map of its output, and lines whose width and colour show the
 * weights. The page shows a tile large when the pointer or the focus is on it. */

import { announce } from "../charts/channel.js";
import { DataTable } from "../charts/data_table.js";
import { h, observeSight, s, setAttribute, setText } from "../player/dom.js";

/** @import { NetworkColumn, NetworkWires, ShownNetwork } from "../types.js" */

const MIN_LINE_WIDTH = 0.4; // pixels: a weight of 0
const ADDED_LINE_WIDTH = 6; // pixels that the largest weight adds
const MAX_WIDE_LAYERS = 3; // hidden layers: with more, the two buttons above a layer are stacked
const [MAX_ROWS, MANY_ROWS] = [8, 16]; // of tiles in a layer: usual ones, and small ones
const [TILE, SMALL_TILE] = [30, 15]; // pixels, at most, where tiles stand side by side
const MANY_TILES = 32; // in a layer: more are small
const DRAW_MARGIN = "200px"; // how far outside the window the picture is already drawn

/** The picture, as one of the charts of a page. */
export class Network {
  constructor() {
    /** @type {ShownNetwork | null} */
    this.shown = null;
    this.seen = false;
    this.shape = "";
    /** @type {HTMLButtonElement[][]} */
    this.tiles = [];
    /** @type {SVGPathElement[][]} */
    this.wires = [];
    this.note = h("small");
    this.depth = h("span");
    this.svg = s("svg", { class: "wires", "aria-hidden": "true" });
    this.columns = h("div", { class: "columns" });
    this.picture = h("div", { class: "network", role: "group" }, this.svg, this.columns);
    this.table = new DataTable();
    const layers = h("span", { class: "change" }, this.changer(null, -1), this.depth, this.changer(null, 1));
    const title = h("h2", {}, "Network ", this.note, layers);
    this.element = h("section", { class: "figure", "data-chart": "network" }, title, this.picture, this.table.element);
    this.sight = observeSight(this.picture, (seen) => this.see(seen), DRAW_MARGIN);
    this.size = new ResizeObserver(() => this.drawPaths());
    this.size.observe(this.picture);
  }

  /** Draw the picture if it has come near the window. @param {boolean} seen */
  see(seen) {
    this.seen = seen;
    if (seen && this.shown) this.draw(this.shown);
  }

  /** Show new data; draw the picture if it is in sight. @param {ShownNetwork} shown */
  show(shown) {
    this.shown = shown;
    const lines = shown.wires.map((wires) => wires.flat().length); // switching a feature changes the number of lines
    const shape = JSON.stringify([shown.columns.map(({ name, tiles, more }) => [name, tiles.length, more]), lines]);
    if (shape !== this.shape) this.build(shown, shape);
    setText(this.note, shown.note);
    setText(this.depth, `${shown.hidden.length} ${shown.hidden.length === 1 ? "layer" : "layers"}`);
    setAttribute(this.picture, "aria-label", shown.label);
    this.picture.style.height = shown.height;
    this.svg.style.setProperty("--plus", shown.palette[shown.palette.length - 1]);
    this.svg.style.setProperty("--minus", shown.palette[0]);
    shown.columns.forEach(({ tiles }, at) => {
      tiles.forEach(({ on }, row) => {
        if (on !== null) setAttribute(this.tiles[at][row], "aria-pressed", String(on));
      });
    });
    if (this.seen) this.draw(shown);
    this.table.show(shown);
  }

  /** Draw what changes from step to step: the maps on the tiles, and the lines.
   * @param {ShownNetwork} shown */
  draw({ columns, wires, palette }) {
    const colours = pixels(palette);
    columns.forEach(({ tiles, side }, at) => {
      tiles.forEach(({ map }, row) => paint(this.tiles[at][row], map, side, colours, palette));
    });
    wires.forEach((values, gap) => this.drawWeights(values, gap));
  }

  /** Make the elements for a network of another shape. @param {ShownNetwork} shown @param {string} shape */
  build(shown, shape) {
    const focused = this.columns.contains(document.activeElement) ? document.activeElement?.ariaLabel : null;
    this.shape = shape;
    this.picture.classList.toggle("deep", shown.hidden.length > MAX_WIDE_LAYERS);
    this.tiles = shown.columns.map((column, at) => column.tiles.map((tile, row) => button(tile, at, row, this)));
    this.columns.replaceChildren(...shown.columns.map((column, at) => this.column(column, at)));
    this.wires = shown.wires.map((wires) => wires.flat().map(() => s("path")));
    this.svg.replaceChildren(...this.wires.flat());
    const again = [...this.columns.querySelectorAll("button")].find((one) => one.ariaLabel === focused);
    if (focused) again?.focus();
    this.drawPaths();
  }

  /** Return a column with its heading, buttons and tiles. @param {NetworkColumn} column @param {number} at */
  column({ name, tiles, more, layer }, at) {
    const many = tiles.length > MANY_TILES;
    const across = Math.ceil(tiles.length / (many ? MANY_ROWS : MAX_ROWS));
    const style = `--across: ${across}; --tile: ${many ? SMALL_TILE : TILE}px`;
    const grid = h("div", { class: across > 1 ? "tiles wide" : "tiles", style }, ...this.tiles[at]);
    const buttons = layer === null ? [] : [this.changer(layer, -1), this.changer(layer, 1)];
    const head = h("div", { class: "head" }, h("span", {}, name), h("span", { class: "change" }, ...buttons));
    return h(
      "div",
      { class: "column", style: `flex-grow: ${across}` },
      head,
      grid,
      ...(more ? [h("small", {}, `+ ${more}`)] : []),
    );
  }

  /** Return a button that adds or removes a unit of a hidden layer, or a whole layer.
   * @param {number | null} layer null for a whole layer @param {number} by 1 or -1 */
  changer(layer, by) {
    const what = layer === null ? "hidden layer" : `unit in layer ${layer + 1}`;
    const name = `${by > 0 ? "Add" : "Remove"} a ${what}`;
    const onclick = () => {
      const hidden = [...(this.shown?.hidden ?? [])];
      if (layer !== null) hidden[layer] += by;
      else if (by > 0) hidden.push(hidden.at(-1) ?? 4);
      else hidden.pop();
      if (this.shown) this.shown.hidden = hidden; // the next click may come before the page has answered
      announce("change", { hidden: hidden.filter((width) => width > 0).join(" ") });
    };
    return h("button", { title: name, "aria-label": name, onclick }, by > 0 ? "+" : "−");
  }

  /** Draw the lines between the tiles where they are now. */
  drawPaths() {
    const { left, top, width, height } = this.picture.getBoundingClientRect();
    if (!width || !this.shown) return;
    setAttribute(this.svg, "viewBox", `0 0 ${width} ${height}`);
    const places = this.tiles.map((column) =>
      column.map((tile) => {
        const box = tile.getBoundingClientRect();
        return { left: box.left - left, right: box.right - left, y: (box.top + box.bottom) / 2 - top };
      }),
    );
    this.shown.wires.forEach((wires, gap) => {
      const from = this.ends(places, gap, wires.length);
      const to = this.ends(places, gap + 1, wires[0]?.length ?? 0);
      const paths = from.flatMap((a) =>
        to.map((b) => {
          const x = (a.right + b.left) / 2; // where the curve between two tiles is steepest
          return `M${a.right} ${a.y}C${x} ${a.y} ${x} ${b.y} ${b.left} ${b.y}`;
        }),
      );
      paths.forEach((path, at) => this.wires[gap][at]?.setAttribute("d", path));
    });
  }

  /** Return where lines end in a column: at each tile that is on, or at one place if the column has more units.
   * @param {{left: number, right: number, y: number}[][]} places @param {number} at @param {number} count */
  ends(places, at, count) {
    const column = places[at];
    const on = column.filter((_, row) => this.shown?.columns[at].tiles[row].on !== false);
    if (on.length === count) return on;
    const [lefts, rights, ys] = [column.map((p) => p.left), column.map((p) => p.right), column.map((p) => p.y)];
    return [{ left: Math.min(...lefts), right: Math.max(...rights), y: (Math.min(...ys) + Math.max(...ys)) / 2 }];
  }

  /** Set the width and the sign of the lines between two columns, rounded so that few of them change from one picture
   * to the next. @param {NetworkWires} wires @param {number} gap */
  drawWeights(wires, gap) {
    const values = wires.flat();
    const reach = Math.max(...values.map(Math.abs)) || 1;
    values.forEach((value, at) => {
      const line = this.wires[gap][at];
      const share = Math.abs(value) / reach;
      setAttribute(line, "stroke-width", (MIN_LINE_WIDTH + ADDED_LINE_WIDTH * share).toFixed(1));
      setAttribute(line, "stroke-opacity", (0.25 + 0.7 * share).toFixed(1));
      setAttribute(line, "class", value < 0 ? "minus" : "plus");
    });
  }

  remove() {
    this.sight.disconnect();
    this.size.disconnect();
    this.element.remove();
  }
}

/** Return each colour as the four bytes of a pixel in one number.
 * @param {string[]} palette */
function pixels(palette) {
  const bytes = palette.flatMap((colour) => [...[1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)), 255]);
  return new Uint32Array(Uint8Array.from(bytes).buffer);
}

/** Draw the map on a tile unless it is there. @param {HTMLButtonElement} tile @param {string} map @param {number} side
 * @param {Uint32Array} colours @param {string[]} palette */
function paint(tile, map, side, colours, palette) {
  const canvas = tile.querySelector("canvas");
  if (!canvas || tile.dataset.shown === palette[0] + map) return;
  tile.dataset.shown = palette[0] + map;
  canvas.hidden = !map;
  if (!map) return;
  canvas.width = side;
  canvas.height = map.length / side;
  const image = new ImageData(canvas.width, canvas.height);
  const cells = new Uint32Array(image.data.buffer);
  for (let at = 0; at < map.length; at++) cells[at] = colours[parseInt(map[at], 36)];
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}

/** Return a tile, which switches its feature if it has one.
 * @param {{name: string, place: string, on: boolean | null, word: string}} tile @param {number} at @param {number} row
 * @param {Network} network */
function button({ name, place, on, word }, at, row, network) {
  const element = h("button", { title: name, "aria-label": name }, h("canvas"), h("span", {}, word));
  const point = () => announce("unit", place || null);
  const leave = () => announce("unit", null);
  element.onpointerenter = point;
  element.onpointerleave = leave;
  element.onfocus = point;
  element.onblur = leave;
  if (on === null) {
    if (at) element.onclick = () => announce("open", [at, row]);
    return element;
  }
  element.onclick = () => {
    const tiles = network.shown?.columns[at].tiles ?? [];
    tiles[row].on = !tiles[row].on;
    const features = tiles.filter((tile) => tile.on).map((tile) => tile.key);
    if (features.length) announce("change", { features: features.join(" ") });
    else tiles[row].on = true; // the network needs at least one input
  };
  return element;
}
