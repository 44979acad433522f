/** Closure X-ray: what the backward step of the selected node holds on to. */

import { brief, shapeText } from "./format.js";
import { h, link, section } from "./dom.js";

export class Closure {
  /** @param {(id: number) => void} onSelect */
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.panel = section("Closure X-ray", "closure");
    this.element = this.panel.element;
  }

  /** @param {import("./playback.js").Playback} playback @param {import("./playback.js").Frame} frame @param {number} id */
  paint(playback, frame, id) {
    const node = playback.nodes[id];
    const ran = playback.events.slice(0, frame.k).some((event) => event.kind === "message" && event.node === id);
    const over = frame.k === playback.length;
    if (this.shown === node && this.ran === ran && this.over === over) return;
    [this.shown, this.ran, this.over] = [node, ran, over];
    if (!node.op) {
      this.panel.body.replaceChildren(
        h("p", {}, `${playback.name(id)} was not computed from anything, so it has no _backward.`),
      );
      return;
    }
    const rows = node.captured.map((entry) =>
      h(
        "tr",
        { class: entry.written ? "written" : "" },
        h("th", { scope: "row" }, h("code", {}, entry.name)),
        h("td", {}, ...this.meaning(playback, node, entry)),
        h("td", { class: "number" }, entry.holds === "operand" ? "" : this.value(playback, node, entry)),
        h("td", {}, entry.holds === "operand" ? "" : this.since(entry, ran)),
      ),
    );
    const heads = ["Name", "What it is", "Value", "Since then"].map((text, i) =>
      h("th", { scope: "col", class: i === 2 ? "number" : "" }, text),
    );
    this.panel.body.replaceChildren(
      h("p", {}, "When ", h("b", {}, playback.definition(id)), " ran, its ", h("code", {}, "_backward"), " kept:"),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "What the closure holds" },
        h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows)),
      ),
    );
  }

  meaning(playback, node, entry) {
    const shape = entry.shape.length ? ` ${shapeText(entry.shape)}` : "";
    const toNode = (id) => link(playback.name(id), () => this.onSelect(id));
    if (entry.holds === "operand") return ["the tensor ", toNode(entry.node), ", to send its message to"];
    if (entry.holds === "output") return [`its own output${shape}`];
    const operand = /^value of operand (\d+)$/.exec(entry.holds);
    if (operand) return ["input: the value of ", toNode(node.children[Number(operand[1])]), shape];
    return [entry.holds === "array" ? `an array of its own${shape}` : `a setting (${entry.holds})`];
  }

  value(playback, node, entry) {
    if ("value" in entry) return typeof entry.value === "string" ? entry.value : brief(entry.value);
    const operand = /^value of operand (\d+)$/.exec(entry.holds);
    return brief(operand ? playback.nodes[node.children[Number(operand[1])]].value : node.value);
  }

  since(entry, ran) {
    if (!ran && !this.over) return "not read yet";
    if (entry.written === undefined) return "never read";
    return entry.written ? "⚠ written to" : "unchanged";
  }
}
