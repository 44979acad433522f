/** All nodes in a table: the twin of the picture. */

import { brief, shapeText } from "./format.js";
import { h, link, section, setAttribute, setText } from "./dom.js";

/** @import { Frame, Playback } from "./playback.js" */

/** @typedef {{row: HTMLElement, value: HTMLElement, gradient: HTMLElement, state: HTMLElement, last: unknown[]}} Row
 * with what it shows */

export class Table {
  /** @param {(id: number) => void} onSelect */
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.panel = section("All nodes", "nodes");
    this.element = this.panel.element;
    this.structure = "";
    /** @type {Row[]} */
    this.rows = [];
  }

  /** @param {Playback} playback @param {Frame} frame @param {number | null} selected */
  paint(playback, frame, selected) {
    if (this.structure !== playback.structure) this.build(playback);
    const focus = playback.focus(frame);
    this.rows.forEach((parts, id) => {
      const { row, value, gradient, state, last } = parts;
      const known = playback.isKnown(id, frame);
      const lit = id === focus.to;
      const chosen = id === selected;
      const now = [frame.gradients.get(id), known, playback.nodes[id].value, lit, chosen, frame.arrived.get(id)];
      if (now.every((part, i) => part === last[i])) return;
      parts.last = now;
      setAttribute(row, "class", `${lit ? "lit" : ""} ${chosen ? "selected" : ""} ${playback.derived[id].kind}`);
      setText(value, known ? brief(playback.nodes[id].value) : "not run yet");
      setText(gradient, playback.gradientText(id, frame));
      setAttribute(gradient, "class", `number gradient ${playback.gradientState(id, frame).replace(" ", "-")}`);
      setText(state, playback.stateText(id, frame));
    });
  }

  /** @param {Playback} playback */
  build(playback) {
    this.structure = playback.structure;
    this.rows = playback.nodes.map((node, id) => {
      const value = h("td", { class: "number" });
      const gradient = h("td", { class: "number gradient" });
      const state = h("td");
      const name = h(
        "th",
        { scope: "row" },
        link(playback.definition(id), () => this.onSelect(id)),
      );
      const role = playback.derived[id].kind + (node.shape.length ? ` ${shapeText(node.shape)}` : "");
      return { row: h("tr", {}, name, h("td", {}, role), value, gradient, state), value, gradient, state, last: [] };
    });
    const heads = ["Node", "Role", "Value", "Gradient", "State"].map((text, i) =>
      h("th", { scope: "col", class: i === 2 || i === 3 ? "number" : "" }, text),
    );
    this.panel.body.replaceChildren(
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of all nodes" },
        h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...this.rows.map((parts) => parts.row))),
      ),
    );
  }
}
