/** Forward mode: the derivatives of every node with respect to one input, sent along the arrows. It uses the same
 * local derivatives as the backward pass of the trace. */

import { countOf, sendingOf } from "./arithmetic.js";
import { broadcastCell, indexText, nested, numberOf, shapeOf } from "./format.js";
import { isOperation, Playback } from "./playback.js";

/** @import { Along, Operation, Push, TraceEvent, Value } from "../types.js" */

const MAX_CELLS = 400; // of an array whose change is computed

/** Return the same graph with tangents instead of the backward pass. Returns the playback itself if the backward pass
 * has not begun or the input does not exist. @param {Playback} playback @param {Along} along @returns {Playback} */
export function forwardMode(playback, { name, cell }) {
  const leaf = playback.leaves().find(({ label }) => label === name);
  if (!leaf || playback.seedIndex < 0 || cell >= countOf(leaf.shape)) return playback;
  const forward = playback.events.slice(0, playback.forwardEnd);
  const first = forward.find((event) => event.kind === "forward");
  if (!first) return playback;
  const { source, line } = first;
  const tangents = slopesFrom(playback, leaf.id, cell);
  const valueOf = (/** @type {number} */ id) => {
    const { shape } = playback.nodes[id];
    return nested(tangents[id] ?? Array(countOf(shape)).fill(0), shape);
  };
  const leaves = playback.leaves().map(({ id }) => ({ node: id, value: valueOf(id) }));
  /** @type {TraceEvent[]} */
  const events = [{ kind: "tangent", node: leaf.id, value: valueOf(leaf.id), leaves, source, line }];
  for (const event of forward) {
    if (event.kind !== "forward") continue;
    const node = playback.operation(event.node);
    const step = { source: event.source, line: event.line };
    if (!node.requires_grad || tangents[node.id] === null) continue; // its tangent is unknown
    for (const [operand, child] of node.children.entries()) {
      const part = tangents[child] && pushForward(playback, node, [operand], tangents);
      if (part) events.push(pushOf(playback, node, operand, valueOf(child), nested(part, node.shape), step));
    }
    events.push({ kind: "tangent", node: node.id, value: valueOf(node.id), leaves: [], ...step });
  }
  const of = leaf.shape.length ? `${name}${indexText(leaf.shape, cell)}` : name;
  const derived = playback.derived.map((one) => ({ ...one, terms: [] }));
  const { nodes, output, sources } = playback;
  const data = { nodes, output, sources, derived, events: [...forward, ...events], error: "" };
  return new Playback(data, [], null, of);
}

/** Return the event of one push. @param {Playback} playback @param {Operation} node @param {number} operand
 * @param {Value} tangent @param {Value} contribution @param {{source: string, line: number}} step @returns {Push} */
function pushOf(playback, node, operand, tangent, contribution, step) {
  const child = node.children[operand];
  const term = playback.derived[child].terms.find((one) => one.node === node.id && one.operand === operand);
  const text = term && term.event !== null ? term.text : "";
  const local = localOf(playback, node.id, operand);
  return { kind: "push", node: node.id, child, operand, tangent, local, text, contribution, ...step };
}

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
function pushForward(playback, node, operands, slopes) {
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
function localOf(playback, node, operand) {
  const operation = playback.operation(node);
  const child = operation.children[operand];
  if (operation.shape.length || playback.nodes[child].shape.length) return null;
  const paths = pathsOf(playback, operation, operand);
  return paths && paths(0).reduce((sum, [, local]) => sum + local, 0);
}
