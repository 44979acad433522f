/** The effect of moving one number by h on every later node: the linear change from the local derivatives, and the
 * true change from recomputing the operations. Both run in the browser. */

import { countOf, sendingOf } from "./arithmetic.js";
import { broadcastCell, numberOf, shapeOf } from "./format.js";
import { isOperation } from "./playback.js";

/** @import { Operation } from "../types.js" */
/** @import { Playback } from "./playback.js" */

const MAX_CELLS = 400; // of an array whose change is computed
const FORWARD_TOLERANCE = 1e-6; // relative: a larger difference from the engine rules out recomputing
const CHANGE_TOLERANCE = 1e-9; // relative: a smaller difference between two changes is rounding

/** Operations on single numbers, with NumPy's results.
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

/** For operations with a kink, the side of the kink (−1, 0 or 1) that the operands are on.
 * @type {Record<string, (a: number, b: number) => number>} */
const SIDES = {
  relu: Math.sign,
  abs: Math.sign,
  maximum: (a, b) => Math.sign(a - b),
  minimum: (a, b) => Math.sign(a - b),
};

/** Return each node's derivative with respect to one number, from local derivatives: a number for each cell.
 * null if unknown, undefined if the node does not depend on the number.
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
    if (operands.length) slopes[node.id] = pushForward(playback, node, operands, slopes);
  });
  return slopes;
}

/** Return an operation's tangent, given its operands' tangents; null if unknown.
 * @param {Playback} playback @param {Operation} node @param {number[]} operands positions of those that change
 * @param {(number[] | null | undefined)[]} slopes */
export function pushForward(playback, node, operands, slopes) {
  const size = countOf(node.shape);
  if (size > MAX_CELLS) return null;
  const result = Array(size).fill(0);
  for (const operand of operands) {
    const slope = slopes[node.children[operand]];
    const paths = slope && pathsOf(playback, node, operand);
    if (!slope || !paths) return null;
    slope.forEach((change, cell) => {
      if (change === 0 && slope.length > 1) return; // a single number keeps 0 × ∞ = nan visible
      for (const [to, local] of paths(cell)) result[to] += local * change;
    });
  }
  return result;
}

/** Return a function from an operand's cell to the [cell of the result, local derivative] pairs it affects; null if
 * they are unknown or too many.
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
    const at = (/** @type {number} */ position) => numberOf(broadcastCell(local, shape, position));
    return (cell) => sent.copies(cell).map((position) => [one ? 0 : position, at(position)]);
  }
  const known = node.paths?.[operand];
  if (!known) return null;
  return (cell) => sent.copies(cell).flatMap((position) => known[position]);
}

/** Return the local derivative of an edge between single numbers; null for arrays or if unknown.
 * @param {Playback} playback @param {number} node @param {number} operand */
export function localOf(playback, node, operand) {
  const operation = playback.operation(node);
  const child = operation.children[operand];
  if (operation.shape.length || playback.nodes[child].shape.length) return null;
  const paths = pathsOf(playback, operation, operand);
  return paths && paths(0).reduce((sum, [, local]) => sum + local, 0);
}

/** Return every node's value after one moves by h; null if an operation on the way cannot be recomputed.
 * @param {Playback} playback @param {number} from a single number @param {number} h @returns {number[] | null} */
export function recompute(playback, from, h) {
  if (playback.nodes[from].shape.length) return null;
  const values = playback.nodes.map(({ value, shape }) => (shape.length ? NaN : numberOf(value)));
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

/** Tell whether this module reproduces an operation's result. @param {Playback} playback @param {Operation} node */
function isComputedHere(playback, node) {
  const operands = node.children.map((child) => playback.nodes[child]);
  if (!Object.hasOwn(FORWARD, node.op) || [node, ...operands].some(({ shape }) => shape.length)) return false;
  const due = numberOf(node.value);
  return alike(
    run(node, (child) => numberOf(playback.nodes[child].value)),
    due,
    FORWARD_TOLERANCE * Math.abs(due),
  );
}

/** Compute an operation. @param {Operation} node @param {(child: number) => number} value of an operand */
function run({ op, children }, value) {
  return FORWARD[op](value(children[0]), value(children[1] ?? children[0]));
}

/** Return the operations whose kink a nudge reaches, crosses or leaves.
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

/** Tell whether two changes are equal up to rounding of the changes and of the numbers they were subtracted from.
 * @param {number} one @param {number} other @param {number} size of those numbers */
export function sameChange(one, other, size) {
  return alike(one, other, CHANGE_TOLERANCE * Math.max(Math.abs(one), Math.abs(other)) + 1e-14 * Math.abs(size));
}

/** Tell whether two numbers are close. @param {number} one @param {number} other @param {number} tolerance */
function alike(one, other, tolerance) {
  return Object.is(one, other) || one === other || Math.abs(one - other) <= tolerance;
}
