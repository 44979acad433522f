/** Nudging: drag a number on its node and see the change travel through the graph. */

import { brief, factor, indexText, numberOf, numeral, toNumber, element } from "./format.js";
import { recompute, kinksCrossed, localOf, sameChange, slopesFrom } from "./nudge.js";
import { h } from "./dom.js";
import { isOperation } from "./playback.js";

/** @import { Answer, Question, Value } from "../types.js" */
/** @import { Bar, ShownNudge } from "./bars.js" */
/** @import { Figure, Story } from "./ledger.js" */
/** @import { Frame, Playback } from "./playback.js" */

const STEPS_PER_UNIT = 20; // of a nudge
const MAX_UNITS = 5; // up or down
const FULL_BAR_STEPS = 20; // steps that give a bar its full length
const MAX_LINEAR_ERROR = 0.1; // relative to the true change: beyond it the nudge is called too large

export class Nudging {
  /** @param {{onChange: () => void, onAsk: () => void}} callbacks onAsk: `question` is to be sent */
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
    this.inLedger = false; // whether the ledger describes the nudge instead of the event
    /** @type {(number[] | null | undefined)[]} */
    this.slopes = [];
    /** @type {Map<string, string>} */
    this.factors = new Map();
    /** @type {Question | null} for the server, if the true change cannot be computed here */
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

  /** Take a trace, and end the nudge if its numbers differ. @param {Playback} playback
   * @param {boolean} canAsk whether a server can recompute the function */
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

  /** Tell whether a node can be nudged: it is a number or an input array, and the result is a number that depends on
   * it. @param {number} id */
  allows(id) {
    const { playback } = this;
    if (!playback || playback.seedIndex < 0 || playback.nodes[playback.output].shape.length) return false;
    const node = playback.nodes[id];
    if (!node.requires_grad || id === playback.output || (isOperation(node) && node.shape.length)) return false;
    return playback.derived[id].terms.length > 0;
  }

  /** Return the size of one step, scaled to the node's value. @param {number} id @param {number} cell */
  stepOf(id, cell) {
    const value = Math.abs(numberOf(element(this.value(id), cell)));
    return 10 ** Math.floor(Math.log10(Math.max(1, Number.isFinite(value) ? value : 1))) / STEPS_PER_UNIT;
  }

  get amount() {
    return (this.steps * Math.round(this.stepOf(this.node, this.cell) * 1e6)) / 1e6;
  }

  /** Return the value of a node. @param {number} id @returns {Value} */
  value(id) {
    return /** @type {Playback} */ (this.playback).nodes[id].value;
  }

  /** Nudge a cell of a node to this many steps from its value. @param {number} id @param {number} cell
   * @param {number} steps from the original value */
  set(id, cell, steps) {
    const { playback } = this;
    if (!playback || !this.allows(id)) return;
    if (id !== this.node || cell !== this.cell) {
      this.node = id;
      this.cell = cell;
      this.slopes = slopesFrom(playback, id, cell);
      this.factors = factorsOf(playback, this.slopes, id);
    }
    this.steps = Math.max(-MAX_UNITS * STEPS_PER_UNIT, Math.min(MAX_UNITS * STEPS_PER_UNIT, steps));
    this.inLedger = true;
    this.onChange();
  }

  /** Nudge a cell of a node by this many more steps. @param {number} id @param {number} cell @param {number} steps */
  nudgeBy(id, cell, steps) {
    this.set(id, cell, (id === this.node && cell === this.cell ? this.steps : 0) + steps);
  }

  /** End a drag: ask the server for the true change if it cannot be computed here. */
  release() {
    const { playback } = this;
    if (!playback || !this.active || recompute(playback, this.node, this.amount)) return;
    const { label } = playback.nodes[this.node];
    if (!this.canAsk || isOperation(playback.nodes[this.node]) || !label) return;
    this.question = { name: label, cell: this.cell, h: this.amount };
    this.onAsk();
  }

  /** Take the true change that the server has computed, unless another one has been asked for.
   * @param {Answer | null} answer */
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

  /** Return the change of the result, linear (by local derivatives) and true; null if unknown.
   * @returns {{linear: number | null, actual: number | null, values: number[] | null}} */
  result() {
    const playback = /** @type {Playback} */ (this.playback);
    const { output } = playback;
    const slope = this.slopes[output];
    const values = recompute(playback, this.node, this.amount);
    const asked = this.answer?.h === this.amount && this.answer.cell === this.cell ? this.answer : null;
    const actual = values ? values[output] - numberOf(this.value(output)) : null;
    return {
      linear: slope ? slope[0] * this.amount : null,
      actual: actual ?? (asked && this.question?.name === this.name ? toNumber(asked.actual) : null),
      values,
    };
  }

  get name() {
    return /** @type {Playback} */ (this.playback).name(this.node);
  }

  /** Return the nudge for the graph to draw. @returns {ShownNudge | null} */
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
      const change = shape.length ? null : id === playback.output ? actual : values && values[id] - numberOf(value);
      bars.set(id, { linear: slope[largest] * this.amount, actual: change, where });
    });
    const share = Math.min(1, Math.sqrt(Math.abs(this.steps) / FULL_BAR_STEPS));
    return { from: this.node, bars, factors: this.factors, inLedger: this.inLedger, share };
  }

  /** Return the ledger's story of the nudge, if it shows one. @param {Frame} frame @returns {Story | null} */
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
        numberOf(element(this.value(this.node), this.cell)) + this.amount,
      )}`,
      sentence: `Move ${name} by ${signed(this.amount)}: ${this.comparison(out, linear, actual, values)}`,
      equation,
      note: `${this.meaning(name, out, slope, frame)} Arrow up and down change it, 0 ends it.`.trim(),
    };
  }

  /** Compare the change that the local derivatives say with the true one, in a sentence. @param {string} out
   * @param {number | null} linear @param {number | null} actual @param {number[] | null} values */
  comparison(out, linear, actual, values) {
    const playback = /** @type {Playback} */ (this.playback);
    const result = numberOf(this.value(playback.output));
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
    const far = Math.abs(linear - actual) > MAX_LINEAR_ERROR * Math.abs(actual);
    return `${but} ${far ? "The nudge is too large for one slope." : "A smaller nudge brings them closer."}`;
  }

  /** Return how the product of local derivatives relates to the gradient. @param {string} name @param {string} out
   * @param {number | undefined} slope @param {Frame} frame */
  meaning(name, out, slope, frame) {
    const playback = /** @type {Playback} */ (this.playback);
    const seed = playback.events[playback.seedIndex];
    if (slope === undefined || seed?.kind !== "seed" || seed.grad !== 1) return "";
    const each = `${numeral(slope)} for each 1 of ${name}.`;
    const gradient = frame.k === playback.length ? frame.gradients.get(this.node) : undefined;
    if (gradient === undefined) return `${each} Backward multiplies the same numbers, from ${out} to ${name}.`;
    const found = numberOf(element(gradient, this.cell));
    if (sameChange(found, slope, slope))
      return `${each} That is its gradient: the same numbers, multiplied from ${out}.`;
    return `${each} Its gradient says ${numeral(found)}: this pass went wrong.`;
  }

  /** Update the table that repeats the bars. */
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

/** Return the local derivatives of the edges that the change passes, by edge id.
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

/** Return a number with its sign: "+0.1", "−0.3", "0". @param {number} x */
function signed(x) {
  return x > 0 ? `+${numeral(x)}` : numeral(x);
}
