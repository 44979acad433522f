/** The network as a picture: units as tiles with what each computes, joined by lines whose width and colour are the
 * weights. Pointing at a tile, or moving the focus to it, is told to the page, which shows it large; so are the buttons
 * that change the network. The teller is a component of its own, outside of what is redrawn while training: only there
 * is it heard at once. */

import { DataTable } from "../charts/data_table.js";
import { h, s, setAttribute, setText } from "../player/dom.js";

/** @import { Component, NetworkColumn, NetworkWires, ShownNetwork } from "../types.js" */

const UNIT = "tensor-ops-lab-unit";
const CHANGE = "tensor-ops-lab-network";
const PAUSE = 80; // milliseconds that the pointer stays before it means something
const THIN = 0.4; // pixels of a line for a weight of 0
const THICK = 6; // and what the largest has besides
const DEEP = 3; // hidden layers: with more, the buttons above a layer stand below each other
const TALLEST = 8; // tiles of a column below each other
const MARGIN = "200px"; // so far out of sight it is drawn already

/** The picture as a part of a board of charts. */
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
    this.twin = new DataTable();
    const layers = h("span", { class: "change" }, this.changer(null, -1), this.depth, this.changer(null, 1));
    const heading = h("h2", {}, "Network ", this.note, layers);
    this.element = h("section", { class: "figure", "data-chart": "network" }, heading, this.picture, this.twin.element);
    this.sight = new IntersectionObserver(([entry]) => this.see(entry.isIntersecting), { rootMargin: MARGIN });
    this.sight.observe(this.picture);
    this.size = new ResizeObserver(() => this.place());
    this.size.observe(this.picture);
  }

  /** @param {boolean} seen */
  see(seen) {
    this.seen = seen;
    if (seen && this.shown) this.draw(this.shown);
  }

  /** @param {ShownNetwork} shown */
  show(shown) {
    this.shown = shown;
    const lines = shown.wires.map((wires) => wires.flat().length); // also of the features that are on
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
    this.twin.show(shown.headers, shown.rows);
  }

  /** What changes with every picture: the tiles and the lines.
   * @param {ShownNetwork} shown */
  draw({ columns, wires, palette }) {
    const colours = pixels(palette);
    columns.forEach(({ tiles, side }, at) => {
      tiles.forEach(({ map }, row) => paint(this.tiles[at][row], map, side, colours, palette));
    });
    wires.forEach((values, gap) => this.weigh(values, gap));
  }

  /** @param {ShownNetwork} shown @param {string} shape */
  build(shown, shape) {
    const focused = this.columns.contains(document.activeElement) ? document.activeElement?.ariaLabel : null;
    this.shape = shape;
    this.picture.classList.toggle("deep", shown.hidden.length > DEEP);
    this.tiles = shown.columns.map((column, at) => column.tiles.map((tile, row) => button(tile, at, row, this)));
    this.columns.replaceChildren(...shown.columns.map((column, at) => this.column(column, at)));
    this.wires = shown.wires.map((wires) => wires.flat().map(() => s("path")));
    this.svg.replaceChildren(...this.wires.flat());
    const again = [...this.columns.querySelectorAll("button")].find((one) => one.ariaLabel === focused);
    if (focused) again?.focus();
    this.place();
  }

  /** @param {NetworkColumn} column @param {number} at */
  column({ name, tiles, more, layer }, at) {
    const across = Math.ceil(tiles.length / TALLEST);
    const wide = across > 1;
    const grid = h("div", { class: wide ? "tiles wide" : "tiles", style: `--across: ${across}` }, ...this.tiles[at]);
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

  /** A button for a unit more or less in a hidden layer; without one, for a layer more or less.
   * @param {number | null} layer @param {number} by */
  changer(layer, by) {
    const what = layer === null ? "hidden layer" : `unit in layer ${layer + 1}`;
    const name = `${by > 0 ? "Add" : "Remove"} a ${what}`;
    const onclick = () => {
      const hidden = [...(this.shown?.hidden ?? [])];
      if (layer !== null) hidden[layer] += by;
      else if (by > 0) hidden.push(hidden.at(-1) ?? 4);
      else hidden.pop();
      if (this.shown) this.shown.hidden = hidden; // the next click comes before the page has answered this one
      change({ hidden: hidden.filter((width) => width > 0).join(" ") });
    };
    return h("button", { type: "button", title: name, "aria-label": name, onclick }, by > 0 ? "+" : "−");
  }

  /** Lines from tile to tile, where these are now. */
  place() {
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
      const paths = from.flatMap((a) => to.map((b) => `M${a.right} ${a.y}C${middle(a, b)}`));
      paths.forEach((path, at) => this.wires[gap][at]?.setAttribute("d", path));
    });
  }

  /** The tiles of a column where lines end: all, those that are on, or one place for a column that is too large.
   * @param {{left: number, right: number, y: number}[][]} places @param {number} at @param {number} count */
  ends(places, at, count) {
    const column = places[at];
    const on = column.filter((_, row) => this.shown?.columns[at].tiles[row].on !== false);
    if (on.length === count) return on;
    const [lefts, rights, ys] = [column.map((p) => p.left), column.map((p) => p.right), column.map((p) => p.y)];
    return [{ left: Math.min(...lefts), right: Math.max(...rights), y: (Math.min(...ys) + Math.max(...ys)) / 2 }];
  }

  /** Width and sign of the lines of a gap; so coarse that most lines stay as they are from one picture to the next.
   * @param {NetworkWires} wires @param {number} gap */
  weigh(wires, gap) {
    const values = wires.flat();
    const reach = Math.max(...values.map(Math.abs)) || 1;
    values.forEach((value, at) => {
      const line = this.wires[gap][at];
      const share = Math.abs(value) / reach;
      setAttribute(line, "stroke-width", (THIN + THICK * share).toFixed(1));
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

/** @param {{right: number, y: number}} a @param {{left: number, y: number}} b */
function middle(a, b) {
  const x = (a.right + b.left) / 2;
  return `${x} ${a.y} ${x} ${b.y} ${b.left} ${b.y}`;
}

/** The colours as the four bytes of a pixel, each in one number.
 * @param {string[]} palette */
function pixels(palette) {
  const bytes = palette.flatMap((colour) => [...[1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)), 255]);
  return new Uint32Array(Uint8Array.from(bytes).buffer);
}

/** @param {HTMLButtonElement} tile @param {string} map @param {number} side
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

/** @param {{name: string, place: string, on: boolean | null, word: string}} tile @param {number} at
 * @param {number} row @param {Network} network */
function button({ name, place, on, word }, at, row, network) {
  const element = h("button", { type: "button", title: name, "aria-label": name }, h("canvas"), h("span", {}, word));
  const point = () => window.dispatchEvent(new CustomEvent(UNIT, { detail: place || null }));
  const leave = () => window.dispatchEvent(new CustomEvent(UNIT, { detail: null }));
  element.onpointerenter = point;
  element.onpointerleave = leave;
  element.onfocus = point;
  element.onblur = leave;
  if (on === null) return element;
  element.onclick = () => {
    const tiles = network.shown?.columns[at].tiles ?? [];
    tiles[row].on = !tiles[row].on;
    const features = tiles.filter((tile) => tile.on).map((tile) => tile.key);
    if (features.length) change({ features: features.join(" ") });
    else tiles[row].on = true; // a network without inputs learns nothing
  };
  return element;
}

/** @param {Record<string, string>} detail */
function change(detail) {
  window.dispatchEvent(new CustomEvent(CHANGE, { detail }));
}

/** Tells the page which tile is pointed at, null when it is none, and what is to change in the network.
 * @param {Component<ShadowRoot>} component */
export function tell({ setStateValue, setTriggerValue }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  /** @type {string | null} */
  let told = null;
  const heard = (/** @type {Event} */ event) => {
    const unit = /** @type {CustomEvent<string | null>} */ (event).detail;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (unit === told) return;
      told = unit;
      setStateValue("unit", unit);
    }, PAUSE);
  };
  const changed = (/** @type {Event} */ event) => {
    clearTimeout(waiting); // the tile that was pointed at may be gone
    setTriggerValue("change", /** @type {CustomEvent} */ (event).detail);
  };
  window.addEventListener(UNIT, heard);
  window.addEventListener(CHANGE, changed);
  return () => {
    clearTimeout(waiting);
    window.removeEventListener(UNIT, heard);
    window.removeEventListener(CHANGE, changed);
  };
}
