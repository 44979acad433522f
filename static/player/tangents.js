/** Forward mode: the derivatives of every node with respect to one input, sent along the arrows. It uses the same
 * local derivatives as the backward pass of the trace. */

import { countOf } from "./arithmetic.js";
import { indexText, nested } from "./format.js";
import { localOf, pushForward, slopesFrom } from "./nudge.js";
import { Playback } from "./playback.js";

/** @import { Along, Operation, Push, TraceEvent, Value } from "../types.js" */

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
