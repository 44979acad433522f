/** Facts about a node that a pass recorded in a running program adds to its numbers. */

import { brief, shapeText } from "./format.js";

/** @import { TraceNode } from "../types.js" */

/** Return the facts about a node as sentences, the most important first. @param {TraceNode} node @returns {string[]} */
export function factsOf(node) {
  const { large, writes, hides, version } = node;
  const facts = [];
  if (node.cut) facts.push("The graph ends here: no gradient passes.");
  if (node.unseen) facts.push("PyTorch computed this inside another operation: its numbers were never in Python.");
  if (hides) facts.push(`One operation in your code. Inside it PyTorch ran: ${hides.join(", ")}.`);
  if (node.shares) facts.push("One of several results of a call: another one sends the message for all of them.");
  if (node.sizes) facts.push("Complex numbers: only their absolute values are shown, which need not add up.");
  if (large) {
    const others = large.not_finite ? `; ${large.not_finite} are not finite` : "";
    facts.push(
      `Some cells of ${shapeText(large.shape)}, evenly spaced. The whole array: smallest ${brief(large.min)}, ` +
        `largest ${brief(large.max)}, mean ${brief(large.mean)}${others}.`,
    );
  }
  if (writes) {
    const each = writes.map((write) => `version ${write.version} by ${write.op} in line ${write.line}`);
    facts.push(`Written in place: ${each.join(", ")}. This is version ${version ?? 0}.`);
  }
  return facts;
}
