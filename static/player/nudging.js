/** The nudge: drag a number on its node, and its change travels through the picture. */

import { brief, factor, indexText, numeral, toNumber, flat, element } from "./format.js";
import { recompute, kinksCrossed, localOf, sameChange, slopesFrom } from "./nudge.js";
import { h } from "./dom.js";
import { isOperation } from "./playback.js";

/** @import { Answer, Question, Value } from "../types.js" */
/** @import { Bar, ShownNudge } from "./bars.js" */
/** @import { Figure, Story } from "./ledger.js" */
/** @import { Frame, Playback } from "./playback.js" */

const STEPS = 20; // of a nudge, for a change by one unit
const MAX_UNITS = 5; // either way
const LONGEST_BAR = 20; // steps
const FAR_OFF = 0.1; // of the true change: from there on the linear one is far off

export class Nudging {
  /** @param {{onChange: () => void, onAsk: () => void}} wishes onAsk: read `question` then */
  constructor({ onChange, onAsk }) {
    this.onChange = onChange;
    this.onAsk = onAsk;
    /** @type {Playback | null} */
    this.playback = null;
    this.numbers = "";
    this.canAsk = false;
    this.node = -1; // none
    this.cell = 0;
    this.steps = 0;
    this.inLedger = false; // the ledger speaks of the nudge, and not of the event
    /** @type {(number[] | null | undefined)[]} */
    this.slopes = [];
    /** @type {Map<string, string>} */
    this.factors = new Map();
    /** @type {Question | null} what the server is asked, where the true change is not computed here */
    this.question = null;
    /** @type {Answer | null} */
    this.answer = null;
    this.rows = h("tbody");
    const heads = ["node", "change by local derivatives", "true change"];
    this.element = h(
      "details",
      { class: "nudge-table", hidden: true, ontoggle: () => this.paint() },
      h("summary", {}, "The nudge as a table"),
      h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))), this.rows),
    );
  }

  /** @param {Playback} playback @param {boolean} canAsk the server can compute the function again */
  setTrace(playback, canAsk) {
    const numbers = playback.structure + JSON.stringify(playback.nodes.map(({ value }) => value));
    this.playback = playback;
    this.canAsk = canAsk;
    if (numbers === this.numbers) return;
    this.numbers = numbers;
    this.clear(false);
  }

  get active() {
    return this.node >= 0;
  }

  /** Can this node be nudged? It is a number, or an array of numbers that come in, and the result is a number that
   * changes with it. @param {number} id */
  allows(id) {
    const { playback } = this;
    if (!playback || playback.seedIndex < 0 || playback.nodes[playback.output].shape.length) return false;
    const node = playback.nodes[id];
    if (!node.requires_grad || id === playback.output || (isOperation(node) && node.shape.length)) return false;
    return playback.derived[id].terms.length > 0;
  }

  /** The nudge of one step, in the node's own size. @param {number} id @param {number} cell */
  stepOf(id, cell) {
    const value = Math.abs(toNumber(flat(element(this.value(id), cell))[0]));
    return 10 ** Math.floor(Math.log10(Math.max(1, Number.isFinite(value) ? value : 1))) / STEPS;
  }

  get amount() {
    return (this.steps * Math.round(this.stepOf(this.node, this.cell) * 1e6)) / 1e6;
  }

  /** @param {number} id @returns {Value} */
  value(id) {
    return /** @type {Playback} */ (this.playback).nodes[id].value;
  }

  /** @param {number} id @param {number} cell @param {number} steps from where it stood, up or down */
  set(id, cell, steps) {
    const { playback } = this;
    if (!playback || !this.allows(id)) return;
    if (id !== this.node || cell !== this.cell) {
      this.node = id;
      this.cell = cell;
      this.slopes = slopesFrom(playback, id, cell);
      this.factors = factorsOf(playback, this.slopes, id);
    }
    this.steps = Math.max(-MAX_UNITS * STEPS, Math.min(MAX_UNITS * STEPS, steps));
    this.inLedger = true;
    this.onChange();
  }

  /** @param {number} id @param {number} cell @param {number} steps */
  by(id, cell, steps) {
    this.set(id, cell, (id === this.node && cell === this.cell ? this.steps : 0) + steps);
  }

  /** The hand rests: what cannot be computed here is asked. */
  release() {
    const { playback } = this;
    if (!playback || !this.active || recompute(playback, this.node, this.amount)) return;
    const { label } = playback.nodes[this.node];
    if (!this.canAsk || isOperation(playback.nodes[this.node]) || !label) return;
    this.question = { name: label, cell: this.cell, h: this.amount };
    this.onAsk();
  }

  /** @param {Answer | null} answer */
  setAnswer(answer) {
    const { question } = this;
    if (!question || !answer || answer.name !== question.name || answer.cell !== question.cell) return;
    if (answer.h === question.h) this.answer = answer;
  }

  clear(telling = true) {
    this.node = -1;
    this.steps = 0;
    this.inLedger = false;
    this.question = this.answer = null;
    this.element.hidden = true;
    if (telling) this.onChange();
  }

  /** The change of the result: by local derivatives, and the true one, as far as each is known.
   * @returns {{linear: number | null, actual: number | null, values: number[] | null}} */
  result() {
    const playback = /** @type {Playback} */ (this.playback);
    const { output } = playback;
    const slope = this.slopes[output];
    const values = recompute(playback, this.node, this.amount);
    const asked = this.answer?.h === this.amount && this.answer.cell === this.cell ? this.answer : null;
    const actual = values ? values[output] - toNumber(flat(this.value(output))[0]) : null;
    return {
      linear: slope ? slope[0] * this.amount : null,
      actual: actual ?? (asked && this.question?.name === this.name ? toNumber(asked.actual) : null),
      values,
    };
  }

  get name() {
    return /** @type {Playback} */ (this.playback).name(this.node);
  }

  /** What the picture shows. @returns {ShownNudge | null} */
  shown() {
    const { playback } = this;
    if (!playback || !this.active || !this.steps) return null;
    const { actual, values } = this.result();
    /** @type {Map<number, Bar>} */
    const bars = new Map();
    playback.nodes.forEach(({ id, shape, value }) => {
      const slope = this.slopes[id];
      if (!slope) return;
      const largest = slope.reduce((best, x, i) => (Math.abs(x) > Math.abs(slope[best]) ? i : best), 0);
      const where = shape.length && id !== this.node ? `${indexText(shape, largest)} ` : "";
      const again = shape.length
        ? null
        : id === playback.output
          ? actual
          : values && values[id] - toNumber(flat(value)[0]);
      bars.set(id, { linear: slope[largest] * this.amount, actual: again, where });
    });
    const share = Math.min(1, Math.sqrt(Math.abs(this.steps) / LONGEST_BAR));
    return { from: this.node, bars, factors: this.factors, inLedger: this.inLedger, share };
  }

  /** In the ledger. @param {Frame} frame @returns {Story | null} */
  story(frame) {
    const { playback } = this;
    if (!playback || !this.inLedger || !this.active) return null;
    const out = playback.name(playback.output);
    const { shape } = playback.nodes[this.node];
    const name = this.name + (shape.length ? indexText(shape, this.cell) : "");
    const { linear, actual, values } = this.result();
    /** @type {Figure[]} */
    const equation = [{ text: signed(this.amount), caption: `nudge of ${name}`, role: "" }];
    const slope = this.slopes[playback.output]?.[0];
    if (linear !== null && slope !== undefined) {
      equation.push({ text: "×", caption: "", role: "sign" });
      equation.push({ text: factor(slope), caption: "local derivatives along the way", role: "" });
      equation.push({ text: "=", caption: "", role: "sign" });
      equation.push({ text: signed(linear), caption: `change of ${out}, linear`, role: "message" });
    }
    if (actual !== null) equation.push({ text: signed(actual), caption: "true: computed again", role: "value" });
    return {
      phase: `Nudge: ${name}, ${brief(element(this.value(this.node), this.cell))} → ${numeral(
        toNumber(flat(element(this.value(this.node), this.cell))[0]) + this.amount,
      )}`,
      sentence: `Move ${name} by ${signed(this.amount)}: ${this.comparison(out, linear, actual, values)}`,
      equation,
      note: `${this.meaning(name, out, slope, frame)} Arrow up and down change it, 0 ends it.`.trim(),
    };
  }

  /** @param {string} out @param {number | null} linear @param {number | null} actual @param {number[] | null} values */
  comparison(out, linear, actual, values) {
    const playback = /** @type {Playback} */ (this.playback);
    const result = toNumber(flat(this.value(playback.output))[0]);
    if (linear === null) return `the local derivatives on the way to ${out} are too many, or not known, to be shown.`;
    if (!Number.isFinite(result)) return `${out} is ${numeral(result)}, so its change is not a number.`;
    const moved = `the local derivatives move ${out} by ${signed(linear)}`;
    if (actual === null) {
      const asks = this.canAsk && !isOperation(playback.nodes[this.node]);
      return `${moved}. ${asks ? "Let go, and the engine computes the true change." : "This is the linear part only."}`;
    }
    if (sameChange(linear, actual, result)) return `${out} moves by ${signed(actual)}, as the local derivatives say.`;
    const kinks = values ? kinksCrossed(playback, values) : [];
    const but = `${moved}, but it really moves by ${signed(actual)}.`;
    if (kinks.length) return `${but} The nudge meets the kink of ${playback.definition(kinks[0])}.`;
    const far = Math.abs(linear - actual) > FAR_OFF * Math.abs(actual);
    return `${but} ${far ? "The nudge is too large for one slope." : "A smaller nudge brings them closer."}`;
  }

  /** What the product along the way has to do with the gradient. @param {string} name @param {string} out
   * @param {number | undefined} slope @param {Frame} frame */
  meaning(name, out, slope, frame) {
    const playback = /** @type {Playback} */ (this.playback);
    const seed = playback.events[playback.seedIndex];
    if (slope === undefined || seed?.kind !== "seed" || seed.grad !== 1) return "";
    const each = `${numeral(slope)} for each 1 of ${name}.`;
    const gradient = frame.k === playback.length ? frame.gradients.get(this.node) : undefined;
    if (gradient === undefined) return `${each} Backward multiplies the same numbers, from ${out} to ${name}.`;
    const found = toNumber(flat(element(gradient, this.cell))[0]);
    if (sameChange(found, slope, slope))
      return `${each} That is its gradient: the same numbers, multiplied from ${out}.`;
    return `${each} Its gradient says ${numeral(found)}: this pass went wrong.`;
  }

  /** The twin of the bars. */
  paint() {
    const shown = this.shown();
    this.element.hidden = !shown;
    if (!shown || !this.element.open) return;
    const playback = /** @type {Playback} */ (this.playback);
    const cell = (/** @type {string} */ text) => h("td", { class: "number" }, text);
    this.rows.replaceChildren(
      ...[...shown.bars].map(([id, { linear, actual, where }]) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, playback.definition(id)),
          cell(where + signed(linear)),
          cell(actual === null ? "not computed here" : signed(actual)),
        ),
      ),
    );
  }
}

/** The local derivative of each edge that the change passes, by its id.
 * @param {Playback} playback @param {(number[] | null | undefined)[]} slopes @param {number} from */
function factorsOf(playback, slopes, from) {
  /** @type {Map<string, string>} */
  const factors = new Map();
  for (const node of playback.nodes) {
    if (!isOperation(node) || !slopes[node.id] || node.id === from) continue;
    node.children.forEach((child, operand) => {
      const local = slopes[child] ? localOf(playback, node.id, operand) : null;
      if (local !== null) factors.set(`${node.id}-${operand}`, `× ${factor(local)}`);
    });
  }
  return factors;
}

/** "+0.1", "−0.3", "0". @param {number} x */
function signed(x) {
  return x > 0 ? `+${numeral(x)}` : numeral(x);
}
