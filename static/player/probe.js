/** The What-if panel: nudge one input by h and compare the change its gradient predicts with the actual one. */

import { element, factor, flat, indexText, numeral, toNumber } from "./format.js";
import { h, section } from "./dom.js";
import { fill } from "./inputs.js";
import { isOperation } from "./playback.js";

/** @import { Answer, Question, Value } from "../types.js" */
/** @import { Frame, Playback } from "./playback.js" */

const ROUNDING = 1e-12; // relative to the numbers subtracted: a smaller difference is rounding

/** Return actual minus predicted change as a text. Rounding errors, which grow with the result, count as 0.
 * @param {Answer} answer @param {Value} result */
export function differenceText({ predicted, actual }, result) {
  const [due, found] = [predicted, actual].map(toNumber);
  const largest = Math.max(...flat(result).map((x) => Math.abs(toNumber(x))), Math.abs(due), Math.abs(found));
  const nothing = Number.isFinite(largest) && Math.abs(found - due) <= ROUNDING * largest;
  return nothing ? "0, but for rounding" : numeral(found - due);
}

export class Probe {
  /** @param {() => void} onChange called when `question` changes */
  constructor(onChange) {
    this.onChange = onChange;
    /** @type {Question | null} sent to the server */
    this.question = null;
    this.structure = "";
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
    /** @type {Answer | null} */
    this.found = null;
    this.early = h(
      "p",
      { class: "early" },
      "First a gradient, then what it predicts: run the backward pass to its end.",
    );
    const row = h("div", { class: "row" }, this.leaf, this.range, this.amount);
    this.panel.body.append(
      h("p", {}, "Nudge one input by h: the gradient predicts the change of the result."),
      this.early,
      row,
      this.answer,
    );
  }

  /** Offer the leaves of a trace, unless it has the same structure as the last one. @param {Playback} playback
   * @param {boolean} possible whether a server can answer */
  setTrace(playback, possible) {
    if (!possible || this.structure === playback.structure) return;
    this.structure = playback.structure;
    this.question = null;
    this.found = null;
    const options = playback.nodes
      .filter((node) => !isOperation(node) && node.label && node.requires_grad)
      .flatMap((node) =>
        flat(node.value)
          .slice(0, 100)
          .map((_, cell) => {
            const text = node.label + (node.shape.length ? indexText(node.shape, cell) : "");
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

  /** Take the answer to the last question. @param {Answer | null} found */
  setAnswer(found) {
    const asked = this.question;
    if (found && found.name === asked?.name && found.cell === asked.cell && found.h === asked.h) this.found = found;
  }

  /** Show how the answer agrees with the gradient. @param {Playback} playback @param {Frame} frame */
  paint(playback, frame) {
    const ready = frame.k === playback.length && !playback.error;
    this.early.hidden = ready;
    this.leaf.disabled = this.range.disabled = !ready;
    const found = ready ? this.found : null;
    if (!found) {
      this.answer.replaceChildren();
      return;
    }
    const leaf = playback.nodes.findIndex((node) => node.label === found.name && !isOperation(node));
    const gradient = frame.gradients.get(leaf);
    const slope = gradient === undefined ? 0 : element(gradient, found.cell);
    /** @param {string} word @param {string} text @param {string} name */
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
        line("difference", differenceText(found, playback.nodes[playback.output].value), "difference"),
      ),
      h("p", { class: "note" }, "A gradient is a slope. The smaller h is, the closer the two come."),
    );
  }
}
