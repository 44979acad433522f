/** Forward mode: the derivatives of every node with respect to one input, sent along the arrows. It uses the same
 * local derivatives as the backward pass of the trace. */

import { countOf, sendingOf } from "./arithmetic.js";
import { broadcastCell, indexText, nested, numberOf, shapeOf } from "./format.js";
import { isOperation, TraceStates } from "./states.js";

/** @import { Along, Operation, Push, TraceEvent, Value } from "../types.js" */

const MAX_CELLS = 400; // of an array whose change is computed

/** Return the same graph with tangents instead of the backward pass. Returns the states itself if the backward pass
 * has not begun or the input does not exist. @param {TraceStates} states @param {Along} along @returns {TraceStates} */
export function forwardMode(states, { name, cell }) {
  const leaf = states.leaves().find(({ label }) => label === name);
  if (!leaf || states.seedIndex < 0 || cell >= countOf(leaf.shape)) return states;
  const forward = states.events.slice(0, states.forwardEnd);
  const first = forward.find((event) => event.kind === "forward");
  if (!first) return states;
  const { source, line } = first;
  const tangents = slopesFrom(states, leaf.id, cell);
  const valueOf = (/** @type {number} */ id) => {
    const { shape } = states.nodes[id];
    return nested(tangents[id] ?? Array(countOf(shape)).fill(0), shape);
  };
  const leaves = states.leaves().map(({ id }) => ({ node: id, value: valueOf(id) }));
  /** @type {TraceEvent[]} */
  const events = [{ kind: "tangent", node: leaf.id, value: valueOf(leaf.id), leaves, source, line }];
  for (const event of forward) {
    if (event.kind !== "forward") continue;
    const node = states.operation(event.node);
    const step = { source: event.source, line: event.line };
    if (!node.requires_grad || tangents[node.id] === null) continue; // its tangent is unknown
    for (const [operand, child] of node.children.entries()) {
      const part = tangents[child] && pushForward(states, node, [operand], tangents);
      if (part) events.push(pushOf(states, node, operand, valueOf(child), nested(part, node.shape), step));
    }
    events.push({ kind: "tangent", node: node.id, value: valueOf(node.id), leaves: [], ...step });
  }
  const of = leaf.shape.length ? `${name}${indexText(leaf.shape, cell)}` : name;
  const derived = states.derived.map((one) => ({ ...one, terms: [] }));
  const { nodes, output, result, sources } = states;
  const data = { nodes, output, result, sources, derived, events: [...forward, ...events], error: "" };
  return new TraceStates(data, [], null, of);
}

/** Return the event of one push. @param {TraceStates} states @param {Operation} node @param {number} operand
 * @param {Value} tangent @param {Value} contribution @param {{source: string, line: number}} step @returns {Push} */
function pushOf(states, node, operand, tangent, contribution, step) {
  const child = node.children[operand];
  const term = states.derived[child].terms.find((one) => one.node === node.id && one.operand === operand);
  const text = term && term.event !== null ? term.text : "";
  const local = localOf(states, node.id, operand);
  return { kind: "push", node: node.id, child, operand, tangent, local, text, contribution, ...step };
}

/** Return each node's derivative with respect to one number, from local derivatives: a number for each cell.
 * null if unknown, undefined if the node does not depend on the number.
 * @param {TraceStates} states @param {number} from @param {number} cell of that node
 * @returns {(number[] | null | undefined)[]} */
export function slopesFrom(states, from, cell) {
  /** @type {(number[] | null | undefined)[]} */
  const slopes = states.nodes.map(() => undefined);
  slopes[from] = Array(countOf(states.nodes[from].shape)).fill(0);
  slopes[from][cell] = 1;
  states.nodes.forEach((node) => {
    if (!isOperation(node) || node.id === from) return;
    const operands = node.children.flatMap((child, operand) => (slopes[child] === undefined ? [] : [operand]));
    if (operands.length) slopes[node.id] = pushForward(states, node, operands, slopes);
  });
  return slopes;
}

/** Return an operation's tangent, given its operands' tangents; null if unknown.
 * @param {TraceStates} states @param {Operation} node @param {number[]} operands positions of those that change
 * @param {(number[] | null | undefined)[]} slopes */
function pushForward(states, node, operands, slopes) {
  const size = countOf(node.shape);
  if (size > MAX_CELLS) return null;
  const result = Array(size).fill(0);
  for (const operand of operands) {
    const slope = slopes[node.children[operand]];
    const paths = slope && pathsOf(states, node, operand);
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
 * @param {TraceStates} states @param {Operation} node @param {number} operand
 * @returns {((cell: number) => [number, number][]) | null} */
function pathsOf(states, node, operand) {
  const child = node.children[operand];
  const term = states.derived[child].terms.find((one) => one.node === node.id && one.operand === operand);
  if (!term || term.event === null || countOf(states.nodes[child].shape) > MAX_CELLS) return null;
  const sent = sendingOf(states, states.message(term.event), term.event);
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
 * @param {TraceStates} states @param {number} node @param {number} operand */
function localOf(states, node, operand) {
  const operation = states.operation(node);
  const child = operation.children[operand];
  if (operation.shape.length || states.nodes[child].shape.length) return null;
  const paths = pathsOf(states, operation, operand);
  return paths && paths(0).reduce((sum, [, local]) => sum + local, 0);
}
