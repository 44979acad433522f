/** What if: nudge one input by h, and compare what its gradient predicts with what the engine computes. */

import { element, factor, flat, indexText, numeral, shapeOf } from "./format.js";
import { h, section } from "./dom.js";
import { fill } from "./inputs.js";

export class Probe {
  /** @param {() => void} onChange called after each change; read `question` then */
  constructor(onChange) {
    this.onChange = onChange;
    /** @type {{name: string, cell: number, h: number} | null} what is asked of the server */
    this.question = null;
    this.panel = section("What if?", "probe");
    this.element = this.panel.element;
    this.leaf = h("select", { "aria-label": "Input to nudge", onchange: () => this.ask() });
    this.range = h("input", {
      type: "range",
      min: -1,
      max: 1,
      step: 0.01,
      value: 0.1,
      "aria-label": "Nudge h",
      oninput: () => this.ask(),
    });
    this.amount = h("output", {});
    this.answer = h("div", { class: "answer" });
    const row = h("div", { class: "row" }, this.leaf, this.range, this.amount);
    this.panel.body.append(
      h("p", {}, "Nudge one input by h: the gradient predicts the change of the result."),
      row,
      this.answer,
    );
  }

  /** @param {import("./playback.js").Playback} playback @param {boolean} possible whether a server answers */
  setTrace(playback, possible) {
    this.element.hidden = !possible;
    if (!possible || this.structure === playback.structure) return;
    this.structure = playback.structure;
    this.question = null;
    this.answer.replaceChildren();
    const options = playback.nodes
      .filter((node) => !node.op && node.label && node.requires_grad)
      .flatMap((node) =>
        flat(node.value)
          .slice(0, 100)
          .map((_, cell) => {
            const text = node.label + (node.shape.length ? indexText(shapeOf(node.value), cell) : "");
            return h("option", { value: JSON.stringify({ name: node.label, cell }) }, text);
          }),
      );
    this.leaf.replaceChildren(...options);
    this.show();
  }

  ask() {
    if (!this.leaf.value) return;
    this.question = { ...JSON.parse(this.leaf.value), h: Number(this.range.value) };
    this.show();
    this.onChange();
  }

  show() {
    this.amount.textContent = `h = ${numeral(Number(this.range.value))}`;
    fill(this.range);
  }

  /** @param {import("./playback.js").Playback} playback
   * @param {{name: string, cell: number, h: number, predicted: object, actual: object} | null} found */
  setAnswer(playback, found) {
    if (!found || !this.question || found.h !== this.question.h || found.name !== this.question.name) return;
    const node = playback.nodes.find((one) => one.label === found.name && !one.op);
    const gradient = playback.frame(playback.length).gradients.get(node.id);
    const slope = gradient === undefined ? 0 : element(gradient, found.cell);
    const line = (word, text, name) => h("div", { class: name }, h("dt", {}, word), h("dd", {}, text));
    this.answer.replaceChildren(
      h(
        "dl",
        {},
        line(
          "predicted: gradient × h",
          `${factor(slope)} × ${factor(found.h)} = ${numeral(found.predicted)}`,
          "predicted",
        ),
        line("actual: the engine, run again", numeral(found.actual), "actual"),
        line("difference", numeral(found.actual - found.predicted), "difference"),
      ),
      h("p", { class: "note" }, "A gradient is a slope. The smaller h is, the closer the two come."),
    );
  }
}
