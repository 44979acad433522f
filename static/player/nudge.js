/** One number moved by h: what the local derivatives say of every node after it, and the true change, by computing the
 * operations again. Both run here, without the server. */

import { countOf, sendingOf } from "./arithmetic.js";
import { broadcastCell, flat, shapeOf, toNumber } from "./format.js";
import { isOperation } from "./playback.js";

/** @import { Operation, Value } from "../types.js" */
/** @import { Playback } from "./playback.js" */

const MAX_CELLS = 400; // of an array whose change is followed
const RECOMPUTED = 1e-6; // relative: an operation that gives another number than the engine is not computed here
const SAME = 1e-9; // relative: two changes that differ by less differ by rounding

/** The operations on single numbers, as NumPy computes them.
 * @type {Record<string, (a: number, b: number) => number>} */
const FORWARD = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "**": (a, b) => (a === 1 ? 1 : a ** b),
  neg: (a) => -a,
  exp: Math.exp,
  log: Math.log,
  sqrt: Math.sqrt,
  sin: Math.sin,
  cos: Math.cos,
  tanh: Math.tanh,
  sigmoid: (a) => 1 / (1 + Math.exp(-a)),
  softplus: (a) => Math.max(a, 0) + Math.log1p(Math.exp(-Math.abs(a))),
  relu: (a) => Math.max(a, 0),
  abs: Math.abs,
  maximum: (a, b) => Math.max(a, b),
  minimum: (a, b) => Math.min(a, b),
};

/** On which side of its kink an operation is, from its operands.
 * @type {Record<string, (a: number, b: number) => number>} */
const SIDES = {
  relu: Math.sign,
  abs: Math.sign,
  maximum: (a, b) => Math.sign(a - b),
  minimum: (a, b) => Math.sign(a - b),
};

/** How each node changes with one number, by local derivatives: a number for each of its cells. null: not known here.
 * undefined: it does not change.
 * @param {Playback} playback @param {number} from @param {number} cell of that node
 * @returns {(number[] | null | undefined)[]} */
export function slopesFrom(playback, from, cell) {
  /** @type {(number[] | null | undefined)[]} */
  const slopes = playback.nodes.map(() => undefined);
  slopes[from] = Array(countOf(playback.nodes[from].shape)).fill(0);
  slopes[from][cell] = 1;
  playback.nodes.forEach((node) => {
    if (!isOperation(node) || node.id === from) return;
    const operands = node.children.flatMap((child, operand) => (slopes[child] === undefined ? [] : [operand]));
    if (operands.length) slopes[node.id] = pushed(playback, node, operands, slopes);
  });
  return slopes;
}

/** What some operands' changes do to an operation. @param {Playback} playback @param {Operation} node
 * @param {number[]} operands those that change
 * @param {(number[] | null | undefined)[]} slopes */
export function pushed(playback, node, operands, slopes) {
  const size = countOf(node.shape);
  if (size > MAX_CELLS) return null;
  const result = Array(size).fill(0);
  for (const operand of operands) {
    const slope = slopes[node.children[operand]];
    const paths = slope && pathsOf(playback, node, operand);
    if (!slope || !paths) return null;
    slope.forEach((change, cell) => {
      if (change === 0 && slope.length > 1) return; // of a single number, 0 × ∞ is to be seen
      for (const [to, local] of paths(cell)) result[to] += local * change;
    });
  }
  return result;
}

/** The local derivatives of an operation with respect to one operand: for a cell of it, each cell of the result that
 * changes, and how fast. null: not known, or too many.
 * @param {Playback} playback @param {Operation} node @param {number} operand
 * @returns {((cell: number) => [number, number][]) | null} */
function pathsOf(playback, node, operand) {
  const child = node.children[operand];
  const term = playback.derived[child].terms.find((one) => one.node === node.id && one.operand === operand);
  if (!term || term.event === null || countOf(playback.nodes[child].shape) > MAX_CELLS) return null;
  const sent = sendingOf(playback, playback.message(term.event), term.event);
  const one = node.shape.length === 0;
  const shape = one ? shapeOf(sent.contribution) : node.shape;
  const { local } = term;
  if (local !== null) {
    const at = (/** @type {number} */ position) => toNumber(flat(broadcastCell(local, shape, position))[0]);
    return (cell) => sent.copies(cell).map((position) => [one ? 0 : position, at(position)]);
  }
  const known = node.paths?.[operand];
  if (!known) return null;
  return (cell) => sent.copies(cell).flatMap((position) => known[position]);
}

/** The local derivative of an edge between single numbers. null: there is none, or it is not known.
 * @param {Playback} playback @param {number} node @param {number} operand */
export function localOf(playback, node, operand) {
  const operation = playback.operation(node);
  const child = operation.children[operand];
  if (operation.shape.length || playback.nodes[child].shape.length) return null;
  const paths = pathsOf(playback, operation, operand);
  return paths && paths(0).reduce((sum, [, local]) => sum + local, 0);
}

/** Every node's value with one of them moved by h. null: an operation on the way is not computed here.
 * @param {Playback} playback @param {number} from a single number @param {number} h @returns {number[] | null} */
export function computedAgain(playback, from, h) {
  if (playback.nodes[from].shape.length) return null;
  const values = playback.nodes.map(({ value, shape }) => (shape.length ? NaN : toNumber(flat(value)[0])));
  const changed = new Set([from]);
  values[from] += h;
  for (const node of playback.nodes) {
    if (!isOperation(node) || node.id === from || !node.children.some((child) => changed.has(child))) continue;
    if (!isComputedHere(playback, node)) return null;
    values[node.id] = run(node, (child) => values[child]);
    changed.add(node.id);
  }
  return values;
}

/** Does this module compute an operation as the engine did? @param {Playback} playback @param {Operation} node */
function isComputedHere(playback, node) {
  const operands = node.children.map((child) => playback.nodes[child]);
  if (!Object.hasOwn(FORWARD, node.op) || [node, ...operands].some(({ shape }) => shape.length)) return false;
  const due = numberOf(node.value);
  return alike(
    run(node, (child) => numberOf(playback.nodes[child].value)),
    due,
    RECOMPUTED * Math.abs(due),
  );
}

/** @param {Operation} node @param {(child: number) => number} value */
function run({ op, children }, value) {
  return FORWARD[op](value(children[0]), value(children[1] ?? children[0]));
}

/** The operations whose kink a nudge reaches or crosses, or that stand at theirs.
 * @param {Playback} playback @param {number[]} values after the nudge */
export function kinksCrossed(playback, values) {
  return playback.nodes.flatMap((node) => {
    if (!isOperation(node) || !Object.hasOwn(SIDES, node.op)) return [];
    const side = (/** @type {(child: number) => number} */ value) =>
      SIDES[node.op](value(node.children[0]), value(node.children[1] ?? node.children[0]));
    const [before, after] = [side((child) => numberOf(playback.nodes[child].value)), side((child) => values[child])];
    return before === after ? [] : [node.id];
  });
}

/** Whether two changes are the same, apart from rounding: of themselves, and of the numbers they are differences of.
 * @param {number} one @param {number} other @param {number} size of those numbers */
export function sameChange(one, other, size) {
  return alike(one, other, SAME * Math.max(Math.abs(one), Math.abs(other)) + 1e-14 * Math.abs(size));
}

/** @param {number} one @param {number} other @param {number} tolerance */
function alike(one, other, tolerance) {
  return Object.is(one, other) || one === other || Math.abs(one - other) <= tolerance;
}

/** @param {Value} value */
function numberOf(value) {
  return toNumber(flat(value)[0]);
}
