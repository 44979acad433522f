/** The numerical check: each input's gradient next to a numerical one, which the server computes once it is in view. */

import { brief } from "./format.js";
import { h, observeSight, section } from "./dom.js";

/** @import { Check, Checked } from "../types.js" */
/** @import { Frame, Playback } from "./playback.js" */

const MAX_REMARKS = 4; // sentences below the table

export class NumericalCheck {
  /** @param {() => void} onWish called when an answer is wanted; read `wanted` then */
  constructor(onWish) {
    this.onWish = onWish;
    this.wanted = false;
    this.inSight = false;
    this.atEnd = false;
    /** @type {Check | null} */
    this.answer = null;
    /** @type {unknown[]} what is written */
    this.written = [];
    this.panel = section("Gradients of the inputs, checked numerically", "check");
    this.element = this.panel.element;
    this.observer = observeSight(this.element, (seen) => {
      this.inSight = seen;
      this.askIfSeen();
    });
  }

  /** Take the result of the numerical check. @param {boolean} possible whether a server answers
   * @param {Check | null} answer */
  setAnswer(possible, answer) {
    this.element.hidden = !possible;
    this.answer = answer;
  }

  /** Show the check at the end of the backward pass. @param {Playback} playback @param {Frame} frame */
  paint(playback, frame) {
    this.atEnd = frame.k === playback.length;
    this.askIfSeen();
    const { answer, atEnd, written } = this;
    if (written[0] === atEnd && written[1] === answer) return;
    this.written = [atEnd, answer];
    if (!atEnd) this.panel.body.replaceChildren(h("p", {}, "It appears at the end of the backward pass."));
    else if (!answer) this.panel.body.replaceChildren(h("p", {}, "The engine computes it when it comes into view."));
    else this.panel.body.replaceChildren(...checkTable(answer));
  }

  askIfSeen() {
    if (this.element.hidden) return;
    const wanted = this.atEnd && this.inSight;
    const newlyWanted = wanted && !this.answer && !this.wanted;
    this.wanted = wanted;
    if (newlyWanted) this.onWish();
  }

  destroy() {
    this.observer.disconnect();
  }
}

/** Return the table of the check, with notes below it. @param {Check} answer */
function checkTable({ rows, note }) {
  const heads = ["input", "value", "gradient", "numeric", "agree"].map((text, i) =>
    h("th", { scope: "col", class: i > 0 && i < 4 ? "number" : "" }, text),
  );
  const lines = rows.map((row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, row.name),
      h("td", { class: "number" }, brief(row.value)),
      h("td", { class: "number" }, row.gradient === null ? "none" : brief(row.gradient)),
      h("td", { class: "number" }, numericText(row)),
      h("td", {}, agreement(row)),
    ),
  );
  const remarks = rows.flatMap(({ slopes }) => slopes.map(({ sentence }) => sentence));
  return [
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...lines))),
    ...[...remarks.slice(0, MAX_REMARKS), note].filter(Boolean).map((text) => h("p", { class: "note" }, text)),
  ];
}

/** Write the numerical gradient; for a number without a derivative, its slopes left and right. @param {Checked} row */
function numericText({ value, numerical, slopes }) {
  if (numerical === null) return "–";
  if (Array.isArray(value) || slopes.every(({ hasDerivative }) => hasDerivative)) return brief(numerical);
  return slopes[0].hasValue ? slopes[0].sides.join(", ") : "–";
}

/** Say whether a gradient agrees with the numerical one. @param {Checked} row */
function agreement({ gradient, agrees, slopes }) {
  if (gradient === null) return "no path";
  const mark = agrees === null ? "–" : agrees ? "✓" : "✗";
  if (slopes.every(({ hasDerivative }) => hasDerivative)) return mark;
  return agrees === null ? "no derivative" : `${mark}, not everywhere`;
}
