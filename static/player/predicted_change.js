/** A number that follows the hand: what its gradient predicted for the change, next to what happened. */

import { countOf } from "./arithmetic.js";
import { element, factor, flat, indexText, numberOf, numeral, toNumber } from "./format.js";
import { figure, sign } from "./ledger.js";
import { isOperation } from "./states.js";

/** @import { Story } from "./ledger.js" */
/** @import { TraceStates } from "./states.js" */

const ROUNDING = 1e-9; // relative: a smaller difference between prediction and result is rounding

/** @typedef {object} Outcome
 * @property {number} node the input that moved
 * @property {string} name of its number
 * @property {string} out name of the result
 * @property {number} from its value before
 * @property {number} to its value now
 * @property {number} before the result before
 * @property {number} is the result now
 * @property {number | null} slope the gradient before; null if the backward pass had not ended
 * @property {number | null} predicted the result by this gradient; null if unknown */

export class Change {
  constructor() {
    /** @type {TraceStates | null} the trace before the change */
    this.base = null;
    this.ended = false; // whether its backward pass had ended
    this.held = false; // the next change of the same number belongs to the same move
    this.name = "";
    this.cell = 0;
  }

  /** Note that a number is about to change. A move lasts until the number is released.
   * @param {TraceStates} states the trace that is shown @param {boolean} ended whether its backward pass has ended
   * @param {string} name of the input @param {number} cell */
  begin(states, ended, name, cell) {
    if (this.base && this.held && name === this.name && cell === this.cell) return;
    Object.assign(this, { base: states, ended, held: true, name, cell });
  }

  release() {
    this.held = false;
  }

  clear() {
    this.base = null;
  }

  /** Compare a new trace with the one before the change; null if no number of it has changed. If others have changed
   * too, the prediction starts again from here. @param {TraceStates} now @returns {Outcome | null} */
  outcome(now) {
    const { base, name, cell } = this;
    if (!base || base.structure !== now.structure) return null;
    const leaves = now.nodes.filter((node) => !isOperation(node));
    const moved = leaves.filter(({ id, value }) => String(value) !== String(base.nodes[id].value));
    const node = leaves.find(({ label }) => label === name);
    if (!node || !moved.length) return null;
    if (moved.some(({ id }) => id !== node.id)) {
      this.base = now;
      return null;
    }
    const [from, to] = [base, now].map(({ nodes }) => numberOf(element(nodes[node.id].value, cell)));
    const [before, is] = [base, now].map(resultOf);
    if (from === to || before === null || is === null) return null;
    const slope = this.ended ? slopeOf(base, node.id, cell) : null;
    const where = node.shape.length ? indexText(node.shape, cell) : "";
    const predicted = slope === null ? null : before + slope * (to - from);
    return { node: node.id, name: name + where, out: nameOf(now), from, to, before, is, slope, predicted };
  }
}

/** Return the number whose gradient the backward pass computes: the result, or the sum of its numbers times the
 * starting gradient; null if there is none. @param {TraceStates} states */
function resultOf({ nodes, output, events, seedIndex }) {
  const numbers = flat(nodes[output].value).map(toNumber);
  const seed = events[seedIndex];
  if (seed?.kind !== "seed") return numbers.length === 1 ? numbers[0] : null;
  return numbers.reduce((sum, x, i) => sum + x * toNumber(element(seed.grad, i)), 0);
}

/** Name that number. @param {TraceStates} states */
function nameOf(states) {
  const { nodes, output, events, seedIndex } = states;
  const seed = events[seedIndex];
  const plain = seed?.kind !== "seed" || (countOf(nodes[output].shape) === 1 && numberOf(seed.grad) === 1);
  return plain ? states.name(output) : `the sum of ${states.name(output)} × its starting gradient`;
}

/** Return a number's gradient at the end of a backward pass; null if it has none.
 * @param {TraceStates} states @param {number} id @param {number} cell */
function slopeOf(states, id, cell) {
  const end = states.frame(states.length);
  const gradient = end.gradients.get(id);
  if (states.error || states.tangentOf) return null;
  if (gradient === undefined) return states.gradientState(id, end) === "no path" ? 0 : null;
  return toNumber(element(gradient, cell));
}

/** Tell what a change did, and what the gradient had predicted.
 * @param {Change} change @param {TraceStates} now @returns {Story | null} */
export function storyOfChange(change, now) {
  const found = change.outcome(now);
  if (!found) return null;
  const { name, out, from, to, before, is, slope, predicted } = found;
  const by = to - from;
  const phase = `${name}: ${numeral(from)} → ${numeral(to)}`;
  const [then, after] = [figure(numeral(before), `${out} before`, "value"), figure(numeral(is), `${out} now`, "value")];
  if (slope === null || predicted === null) {
    const each = by ? numeral((is - before) / by) : "";
    const moves = is === before ? `${out} does not move` : `${out} moves by ${signed(is - before)}`;
    return {
      phase,
      sentence: `${name} moves by ${signed(by)}, and ${moves}: ${each} for each 1 of ${name}.`,
      equation: [then, sign("→"), after],
      note: now.seedIndex < 0 ? "" : `Run the backward pass: does the gradient of ${name} say the same?`,
    };
  }
  const size = Math.max(Math.abs(predicted), Math.abs(is), Math.abs(before));
  const exact = Object.is(predicted, is) || Math.abs(predicted - is) <= ROUNDING * size;
  const sum = `${numeral(before)} + ${factor(slope)} × ${factor(by)}`;
  const note = exact
    ? "The prediction is exact for this change."
    : "A gradient is the slope at one point: the two come closer for a smaller change, and part at a bend or a kink.";
  return {
    phase,
    sentence: `Predicted ${numeral(predicted)} (gradient × change). Now ${out} is ${numeral(is)}.`,
    equation: [figure(numeral(predicted), `predicted: ${sum}`, "ghost"), after],
    note,
  };
}

/** Return a number with its sign: "+0.1", "−0.3", "0". @param {number} x */
function signed(x) {
  return x > 0 ? `+${numeral(x)}` : numeral(x);
}
