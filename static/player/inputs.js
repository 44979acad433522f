/** Live inputs: a slider and a number entry for each leaf, a grid for each small array. */

import { flat, indexText, nested, numberOf, numeral, shapeOf, shapeText, toNumber } from "./format.js";
import { Debounced, h, section, setText } from "./dom.js";

/** @import { Live, LiveLeaf, Value } from "../types.js" */

const MAX_GRID_CELLS = 36; // cells of an array that can be edited
const MAX_NUMBER = 1e6; // as LIMIT in lab/ui/player.py
const RANGE_HINT = "Use a number from −1,000,000 to 1,000,000.";
const MAX_UNANSWERED = 2; // messages
const ANSWER_TIMEOUT = 3000; // milliseconds after which unanswered updates no longer delay the next one

/** Sender of the newest values, with at most two unanswered messages: the server computes one while the browser paints
 * the one before. A slow server gets fewer values, not older ones. */
export class Sender {
  /** @param {(sequence: number) => void} send */
  constructor(send) {
    this.send = send;
    this.sequence = 0;
    this.last = 0; // the newest answered message
    this.changed = false;
    this.giveUp = new Debounced(() => this.answered(this.sequence), ANSWER_TIMEOUT);
  }

  /** Send the newest values as soon as possible. */
  push() {
    this.changed = true;
    if (this.sequence - this.last < MAX_UNANSWERED) this.flush();
  }

  /** Note the server's answer to a message. @param {number} sequence */
  answered(sequence) {
    if (sequence <= this.last) return;
    this.last = sequence;
    this.sequence = Math.max(this.sequence, sequence); // continue the count of an earlier player on the page
    if (this.last === this.sequence) this.giveUp.cancel();
    if (this.changed) this.flush();
  }

  flush() {
    this.changed = false;
    this.sequence += 1;
    this.giveUp.postpone();
    this.send(this.sequence);
  }

  destroy() {
    this.giveUp.cancel();
  }
}

export class Inputs {
  /** @param {(name: string, cell: number) => void} onChange called before a number in `values` changes
   * @param {() => void} onChanged called after it */
  constructor(onChange, onChanged) {
    this.onChange = onChange;
    this.onChanged = onChanged;
    this.panel = section("Inputs", "inputs");
    this.element = this.panel.element;
    this.refused = h("p", { class: "refused", role: "status" });
    this.element.append(this.refused);
    /** @type {Record<string, Value>} */
    this.values = {};
    this.id = "";
    /** @type {Map<string, {leaf: LiveLeaf, write: (cell: number, x: number) => void}>} */
    this.writers = new Map();
  }

  /** Show the inputs of a function that the server recomputes, unless they are on the page already.
   * @param {Live | null} live @param {Record<string, Value>} values that the server used */
  setLive(live, values) {
    this.element.hidden = !live;
    if (!live || live.id === this.id) return;
    this.id = live.id;
    this.values = structuredClone(values);
    setText(this.refused, "");
    this.writers.clear();
    this.panel.body.replaceChildren(
      ...live.leaves.map((leaf) => (Array.isArray(leaf.value) ? this.grid(leaf) : this.row(leaf))),
    );
  }

  /** Change an input. @param {string} name @param {Value} value @param {number} cell the number in it that changes */
  change(name, value, cell = 0) {
    setText(this.refused, "");
    this.onChange(name, cell);
    this.values = { ...this.values, [name]: value };
    this.onChanged();
  }

  /** Return whether a number can be changed here. @param {string} name of the input */
  has(name) {
    return !this.element.hidden && this.writers.has(name);
  }

  /** Move a number by some steps of its slider, as far as the slider goes. @param {string} name
   * @param {number} cell @param {number} steps */
  moveBy(name, cell, steps) {
    const writer = this.writers.get(name);
    if (!writer) return;
    const { low, high, step } = writer.leaf;
    const x = toNumber(flat(this.values[name])[cell]);
    const moved = Number((x + steps * step).toFixed(6));
    writer.write(cell, Math.min(Math.max(high, x), Math.max(Math.min(low, x), moved)));
  }

  /** Build a slider and a number entry for the same number. @param {LiveLeaf} leaf */
  row(leaf) {
    const { name, step } = leaf;
    const used = () => numberOf(this.values[name]);
    const set = (/** @type {number} */ x) => {
      put(range, x);
      put(number, x);
      fill(range);
      this.change(name, x);
    };
    const range = slider(leaf, name, used(), set);
    const number = this.entry({ label: `${name}, exact number`, name, step, used }, set);
    this.writers.set(name, { leaf, write: (_, x) => set(x) });
    return h("div", { class: "row" }, h("span", { class: "leaf-name", "aria-hidden": true }, name), range, number);
  }

  /** Build a number entry for each cell, and a slider for the cell entered last. @param {LiveLeaf} leaf */
  grid(leaf) {
    const shape = shapeOf(leaf.value);
    const head = h("p", { class: "leaf-head" }, h("span", { class: "leaf-name" }, leaf.name), ` ${shapeText(shape)}`);
    const cells = flat(this.values[leaf.name]).map(toNumber);
    if (cells.length > MAX_GRID_CELLS) {
      head.append(" is too large to edit here.");
      return h("div", { class: "grid-input" }, head);
    }
    const slot = h("div", { class: "row" });
    let chosen = -1; // the cell of the slider
    /** @param {number} position @param {number} x */
    const set = (position, x) => {
      cells[position] = x;
      put(entries[position], x);
      if (position !== chosen) choose(position);
      for (const range of slot.querySelectorAll("input")) {
        put(range, x);
        fill(range);
      }
      this.change(leaf.name, nested(cells, shape), position);
    };
    const labels = cells.map((_, position) => leaf.name + indexText(shape, position));
    const entries = labels.map((label, position) => {
      const what = { label, name: label, step: leaf.step, used: () => cells[position] };
      const field = this.entry(what, (x) => set(position, x));
      field.onfocus = () => choose(position);
      return field;
    });
    /** @param {number} position */
    const choose = (position) => {
      chosen = position;
      const range = slider(leaf, labels[position], cells[position], (x) => set(position, x));
      slot.replaceChildren(h("span", { class: "leaf-name", "aria-hidden": true }, labels[position]), range);
    };
    this.writers.set(leaf.name, { leaf, write: set });
    choose(0);
    const style = `grid-template-columns: repeat(${shape.at(-1)}, minmax(3.2rem, 1fr))`;
    const grid = h("div", { class: "scroll" }, h("div", { class: "entries", style }, ...entries));
    return h("div", { class: "grid-input" }, head, grid, slot);
  }

  /** Build an entry that passes on valid numbers and marks others. On blur it shows the number in use.
   * @param {{label: string, name: string, step: number, used: () => number}} what @param {(x: number) => void} write */
  entry({ label, name, step, used }, write) {
    const field = h("input", { type: "number", step, value: used(), "aria-label": label });
    const refuse = () => setText(this.refused, `${name} stays ${numeral(used())}. ${RANGE_HINT}`);
    field.oninput = () => {
      const x = Number(field.value);
      const usable = field.value !== "" && Math.abs(x) <= MAX_NUMBER;
      field.setAttribute("aria-invalid", String(!usable));
      if (usable) write(x);
      else if (field.value !== "") refuse(); // an empty field may still become a number
    };
    field.onblur = () => {
      if (field.getAttribute("aria-invalid") !== "true") return;
      refuse();
      field.value = String(used());
      field.setAttribute("aria-invalid", "false");
    };
    return field;
  }
}

/** Return the slider of an input. @param {LiveLeaf} leaf @param {string} label @param {number} value
 * @param {(x: number) => void} change */
function slider({ low, high, step }, label, value, change) {
  const range = h("input", { type: "range", min: low, max: high, step, value, "aria-label": label });
  range.oninput = () => change(Number(range.value));
  fill(range);
  return range;
}

/** Write a number into a field that does not show it already. @param {HTMLInputElement} field @param {number} x */
function put(field, x) {
  if (Number(field.value) !== x) field.value = String(x);
}

/** Set the filled part of a slider's track. @param {HTMLInputElement} range */
export function fill(range) {
  const share = (Number(range.value) - Number(range.min)) / (Number(range.max) - Number(range.min) || 1);
  range.style.setProperty("--share", `${100 * share}%`);
}
