/** A table of all nodes, with the same numbers as the graph. */

import { h, link, section, setAttribute, setText } from "./dom.js";

/** @import { Frame, Playback } from "./playback.js" */

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

  /** Show the state of each node after an event. @param {Playback} playback @param {Frame} frame
   * @param {number | null} selected */
  paint(playback, frame, selected) {
    if (this.structure !== playback.structure) {
      this.structure = playback.structure;
      setText(this.rate, playback.tangentOf ? "Tangent" : "Gradient");
      this.rows = playback.nodes.map(({ id }) => this.makeRow(playback, id));
      this.body.replaceChildren(...this.rows.map(({ row }) => row));
    }
    this.rows.forEach((row, id) => paintRow(row, playback, id, frame, selected));
  }

  /** Return the row of a node. @param {Playback} playback @param {number} id @returns {Row} */
  makeRow(playback, id) {
    const value = h("td", { class: "number" });
    const gradient = h("td", { class: "number gradient" });
    const name = link(playback.definition(id), () => this.onSelect(id));
    return { row: h("tr", {}, h("th", { scope: "row" }, name), value, gradient), value, gradient, last: [] };
  }
}

/** Update a row's cells. @param {Row} parts @param {Playback} playback @param {number} id
 * @param {Frame} frame @param {number | null} selected */
function paintRow(parts, playback, id, frame, selected) {
  const { row, value, gradient, last } = parts;
  const lit = id === playback.focus(frame).to;
  const chosen = id === selected;
  const known = playback.isKnown(id, frame);
  const over = playback.isForwardOver(frame); // only then a value may have been overwritten
  const now = [playback, frame.gradients.get(id), known, over, lit, chosen, frame.arrived.get(id)];
  if (now.every((part, i) => part === last[i])) return;
  parts.last = now;
  setAttribute(row, "class", `${lit ? "lit" : ""} ${chosen ? "selected" : ""} ${playback.derived[id].kind}`);
  setText(value, playback.valueText(id, frame));
  setText(gradient, playback.gradientText(id, frame));
  const wrong = playback.due(id, frame) !== undefined;
  const kind = wrong ? "wrong" : playback.gradientState(id, frame).replace(" ", "-");
  setAttribute(gradient, "class", `number gradient ${kind}`);
}
