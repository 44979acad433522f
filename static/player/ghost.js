/** The ghost of a change at the result's card: a dashed bar for what the gradient predicted above a filled one for what
 * happened. Both start in the middle and lead to the right for an increase. */

import { s, setAttribute, setText } from "./dom.js";
import { numeral } from "./format.js";

/** @import { Outcome } from "./predicted_change.js" */

const BAR_HEIGHT = 7; // pixels
const STEPS = [1, 2, 5, 10];

export class Ghost {
  constructor() {
    this.predicted = s("rect", { class: "predicted", y: -BAR_HEIGHT - 1, height: BAR_HEIGHT });
    this.actual = s("rect", { class: "actual", y: 1, height: BAR_HEIGHT });
    this.text = s("text", { "text-anchor": "middle" });
    const ground = s("line", { class: "ground", y1: -BAR_HEIGHT - 4, y2: BAR_HEIGHT + 4 });
    this.bars = s("g", {}, this.predicted, this.actual, ground);
    this.element = s("g", { class: "ghost", "aria-hidden": true, visibility: "hidden" }, this.bars, this.text);
  }

  /** Draw a change at the card of the result, or nothing. @param {{x: number, y: number}} middle of the card
   * @param {{width: number, height: number}} card @param {Outcome | null} outcome */
  paint({ x, y }, card, outcome) {
    setAttribute(this.element, "visibility", outcome ? "visible" : "hidden");
    if (!outcome) return;
    const { before, is, predicted } = outcome;
    const changes = [predicted === null ? 0 : predicted - before, is - before];
    const half = card.width / 2;
    const scale = half / roundUp(Math.max(...changes.map(Math.abs).filter(Number.isFinite), 0));
    setAttribute(this.element, "transform", `translate(${x} ${y})`);
    setAttribute(this.bars, "transform", `translate(0 ${card.height / 2})`);
    setAttribute(this.predicted, "visibility", predicted === null ? "hidden" : "inherit");
    [this.predicted, this.actual].forEach((bar, i) => {
      const length = Number.isFinite(changes[i]) ? changes[i] * scale : 0;
      setAttribute(bar, "x", Math.min(0, length).toFixed(1));
      setAttribute(bar, "width", Math.abs(length).toFixed(1));
    });
    setText(this.text, predicted === null ? "" : `predicted ${numeral(predicted)}`);
    setAttribute(this.text, "y", String(-card.height / 2 - 8));
  }
}

/** Return the next number of the form 1, 2 or 5 times a power of ten, so that bars grow with the change between two
 * changes of their scale. @param {number} x */
function roundUp(x) {
  if (!(x > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(x));
  return power * (STEPS.find((step) => step * power >= x) ?? 10);
}
