/** Live inputs: a slider and a number entry for each leaf, a grid for each small array. */

import { flat, indexText, shapeText } from "./format.js";
import { h, section } from "./dom.js";

const LARGEST_GRID = 36; // elements that get an entry each
const AHEAD = 2; // messages
const GIVE_UP = 3000; // milliseconds after which unanswered updates no longer hold back the next one

/** Sends the newest values, at most two messages ahead of the answers: the server computes one while the browser paints
 * the one before. A slow server sees fewer values, not older ones. */
export class Sender {
  /** @param {(sequence: number) => void} send */
  constructor(send) {
    this.send = send;
    this.sequence = 0;
    this.last = 0; // the newest that was answered
    this.changed = false;
  }

  /** Something is to be sent. */
  push() {
    this.changed = true;
    if (this.sequence - this.last < AHEAD) this.flush();
  }

  /** The server has answered. @param {number} sequence */
  answered(sequence) {
    if (sequence <= this.last) return;
    this.last = sequence;
    this.sequence = Math.max(this.sequence, sequence); // the count goes on where an earlier player on the page left it
    if (this.last === this.sequence) clearTimeout(this.timer);
    if (this.changed) this.flush();
  }

  flush() {
    this.changed = false;
    this.sequence += 1;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.answered(this.sequence), GIVE_UP);
    this.send(this.sequence);
  }

  destroy() {
    clearTimeout(this.timer);
  }
}

export class Inputs {
  /** @param {() => void} onChange called after each change; read `values` then */
  constructor(onChange) {
    this.onChange = onChange;
    this.panel = section("Inputs", "inputs");
    this.element = this.panel.element;
    /** @type {Record<string, import("./format.js").Value>} */
    this.values = {};
    this.id = "";
  }

  /** @param {{id: string, leaves: {name: string, value: object, low: number, high: number, step: number}[]} | null} live
   * @param {Record<string, object>} values what the server computed with */
  setLive(live, values) {
    this.element.hidden = !live;
    if (!live || live.id === this.id) return;
    this.id = live.id;
    this.values = structuredClone(values);
    this.panel.body.replaceChildren(
      ...live.leaves.map((leaf) => (Array.isArray(leaf.value) ? this.grid(leaf) : this.row(leaf))),
    );
  }

  change(name, value) {
    this.values = { ...this.values, [name]: value };
    this.onChange();
  }

  row(leaf) {
    const { range, number } = this.pair(
      leaf,
      leaf.name,
      () => this.values[leaf.name],
      (x) => this.change(leaf.name, x),
    );
    return h("div", { class: "row" }, h("span", { class: "leaf-name", "aria-hidden": true }, leaf.name), range, number);
  }

  /** A slider and a number entry that show the same number. */
  pair({ low, high, step }, label, read, write) {
    const limits = { min: low, max: high, step };
    const range = h("input", { type: "range", ...limits, value: read(), "aria-label": label });
    const number = h("input", { type: "number", step, value: read(), "aria-label": `${label}, exact number` });
    range.oninput = () => {
      number.value = range.value;
      fill(range);
      write(Number(range.value));
    };
    number.oninput = () => {
      const x = Number(number.value);
      const usable = number.value !== "" && Number.isFinite(x) && Math.abs(x) <= 1e6;
      number.setAttribute("aria-invalid", String(!usable));
      if (!usable) return;
      range.value = number.value;
      fill(range);
      write(x);
    };
    fill(range);
    return { range, number };
  }

  grid(leaf) {
    const shape = [];
    for (let inner = leaf.value; Array.isArray(inner); inner = inner[0]) shape.push(inner.length);
    const head = h("p", { class: "leaf-head" }, h("span", { class: "leaf-name" }, leaf.name), ` ${shapeText(shape)}`);
    const cells = flat(this.values[leaf.name]);
    if (cells.length > LARGEST_GRID) {
      head.append(" is too large to edit here.");
      return h("div", { class: "grid-input" }, head);
    }
    const slot = h("div", { class: "row" });
    const set = (position, x) => {
      cells[position] = x;
      this.change(leaf.name, nested(cells, shape));
    };
    const entries = cells.map((cell, position) => {
      const entry = h("input", {
        type: "number",
        step: leaf.step,
        value: cell,
        "aria-label": `${leaf.name}${indexText(shape, position)}`,
      });
      entry.oninput = () => {
        const x = Number(entry.value);
        const usable = entry.value !== "" && Math.abs(x) <= 1e6;
        entry.setAttribute("aria-invalid", String(!usable));
        if (usable) set(position, x);
      };
      entry.onfocus = () => choose(position);
      return entry;
    });
    const choose = (position) => {
      const label = `${leaf.name}${indexText(shape, position)}`;
      const write = (x) => {
        entries[position].value = String(x);
        set(position, x);
      };
      const { range } = this.pair(leaf, label, () => cells[position], write);
      slot.replaceChildren(h("span", { class: "leaf-name", "aria-hidden": true }, label), range);
    };
    choose(0);
    const columns = shape.at(-1);
    const style = `grid-template-columns: repeat(${columns}, minmax(3.2rem, 1fr))`;
    return h(
      "div",
      { class: "grid-input" },
      head,
      h("div", { class: "scroll" }, h("div", { class: "entries", style }, ...entries)),
      slot,
    );
  }
}

/** The filled part of a slider's track. @param {HTMLInputElement} range */
export function fill(range) {
  const share = (Number(range.value) - Number(range.min)) / (Number(range.max) - Number(range.min) || 1);
  range.style.setProperty("--share", `${100 * share}%`);
}

/** @param {number[]} cells @param {number[]} shape */
function nested(cells, shape) {
  if (shape.length === 1) return [...cells];
  const size = cells.length / shape[0];
  return Array.from({ length: shape[0] }, (_, i) => nested(cells.slice(i * size, (i + 1) * size), shape.slice(1)));
}
