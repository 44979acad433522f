/** A table of all nodes, with the same numbers as the graph. */

import { h, link, section, setAttribute, setText } from "./dom.js";

/** @import { Frame, TraceStates } from "./states.js" */

/** A row of the table, its cells, and the state that it last showed.
 * @typedef {{row: HTMLElement, value: HTMLElement, gradient: HTMLElement, last: unknown[]}} Row */

export class Table {
  /** @param {(id: number) => void} onSelect */
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.panel = section("Nodes", "nodes");
    this.element = this.panel.element;
    this.structure = "";
    /** @type {Row[]} */
    this.rows = [];
    this.body = h("tbody");
    this.rate = h("th", { scope: "col", class: "number" });
    const heads = [h("th", { scope: "col" }, "Node"), h("th", { scope: "col", class: "number" }, "Value"), this.rate];
    this.panel.body.append(h("table", {}, h("thead", {}, h("tr", {}, ...heads)), this.body));
  }

  /** Show the state of each node after an event. @param {TraceStates} states @param {Frame} frame
   * @param {number | null} selected */
  paint(states, frame, selected) {
    if (this.structure !== states.structure) {
      this.structure = states.structure;
      setText(this.rate, states.tangentOf ? "Tangent" : "Gradient");
      this.rows = states.nodes.map(({ id }) => this.makeRow(states, id));
      this.body.replaceChildren(...this.rows.map(({ row }) => row));
    }
    this.rows.forEach((row, id) => paintRow(row, states, id, frame, selected));
  }

  /** Return the row of a node. @param {TraceStates} states @param {number} id @returns {Row} */
  makeRow(states, id) {
    const value = h("td", { class: "number" });
    const gradient = h("td", { class: "number gradient" });
    const name = link(states.definition(id), () => this.onSelect(id));
    return { row: h("tr", {}, h("th", { scope: "row" }, name), value, gradient), value, gradient, last: [] };
  }
}

/** Update a row's cells. @param {Row} parts @param {TraceStates} states @param {number} id
 * @param {Frame} frame @param {number | null} selected */
function paintRow(parts, states, id, frame, selected) {
  const { row, value, gradient, last } = parts;
  const lit = id === states.focus(frame).to;
  const chosen = id === selected;
  const known = states.isKnown(id, frame);
  const over = states.isForwardOver(frame); // only then a value may have been overwritten
  const now = [states, frame.gradients.get(id), known, over, lit, chosen, frame.arrived.get(id)];
  if (now.every((part, i) => part === last[i])) return;
  parts.last = now;
  setAttribute(row, "class", `${lit ? "lit" : ""} ${chosen ? "selected" : ""} ${states.derived[id].kind}`);
  setText(value, states.valueText(id, frame));
  setText(gradient, states.gradientText(id, frame));
  const wrong = states.due(id, frame) !== undefined;
  const kind = wrong ? "wrong" : states.gradientState(id, frame).replace(" ", "-");
  setAttribute(gradient, "class", `number gradient ${kind}`);
}
