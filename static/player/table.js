/** All nodes in a table: the twin of the picture. */

import { brief, shapeText } from "./format.js";
import { h, link, section, setAttribute, setText } from "./dom.js";

export class Table {
  /** @param {(id: number) => void} onSelect */
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.panel = section("All nodes", "nodes");
    this.element = this.panel.element;
    this.structure = "";
  }

  /** @param {import("./playback.js").Playback} playback @param {import("./playback.js").Frame} frame @param {number | null} selected */
  paint(playback, frame, selected) {
    if (this.structure !== playback.structure) this.build(playback);
    const focus = playback.focus(frame);
    this.rows.forEach(({ row, value, gradient, state, last }, id) => {
      const now = [
        frame.gradients.get(id),
        playback.isKnown(id, frame),
        playback.nodes[id].value,
        id === focus.to,
        id === selected,
        frame.arrived.get(id),
      ];
      if (now.every((part, i) => part === last[i])) return;
      last.splice(0, 6, ...now);
      setAttribute(
        row,
        "class",
        `${id === focus.to ? "lit" : ""} ${id === selected ? "selected" : ""} ${playback.derived[id].kind}`,
      );
      setText(value, playback.isKnown(id, frame) ? brief(playback.nodes[id].value) : "not run yet");
      setText(gradient, playback.gradientText(id, frame));
      setAttribute(gradient, "class", `number gradient ${playback.gradientState(id, frame).replace(" ", "-")}`);
      setText(state, playback.stateText(id, frame));
    });
  }

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
