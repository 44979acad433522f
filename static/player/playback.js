/** A trace, and what is known after the first k of its events. */

import { brief } from "./format.js";

/** @typedef {import("./format.js").Value} Value */
/** @typedef {{id: number, op: string, label: string, children: number[], shape: number[], value: Value,
 *   requires_grad: boolean, source?: string, captured?: object[], calls?: string[]}} TraceNode */
/** @typedef {{k: number, event: object | undefined, computed: Set<number>, gradients: Map<number, Value>,
 *   sent: Map<string, object>, arrived: Map<number, number>}} Frame */

const SIGNS = ["+", "-", "*", "/", "**", "@"];
export const WAITING = "not computed yet";

export class Playback {
  /** @param {object} data what lab/trace/export.py's `playable` returns */
  constructor(data) {
    /** @type {TraceNode[]} */
    this.nodes = data.nodes;
    this.events = data.events;
    this.output = data.output;
    this.sources = data.sources;
    this.derived = data.derived;
    this.error = data.error;
    this.length = this.events.length;
    this.seedIndex = this.events.findIndex((event) => event.kind === "seed");
    this.structure = JSON.stringify(
      this.nodes.map((node) => [node.op, node.label, node.children, node.shape, node.calls]),
    );
  }

  /** @param {number} id */
  name(id) {
    return this.derived[id].name;
  }

  /** "a * b", "relu(v1)": an operation as one would write it, with a text for each operand.
   * @param {TraceNode} node @param {(id: number) => string} text */
  written(node, text) {
    const operands = node.children.map(text);
    if (SIGNS.includes(node.op) && operands.length === 2) return `${operands[0]} ${node.op} ${operands[1]}`;
    if (node.op === "neg") return `−${operands[0]}`;
    return `${node.op}(${operands.join(", ")})`;
  }

  /** "v1 = a * b"; the name alone for a leaf. @param {number} id */
  definition(id) {
    const node = this.nodes[id];
    return node.op ? `${this.name(id)} = ${this.written(node, (child) => this.name(child))}` : this.name(id);
  }

  /** What is known after the first k events. @param {number} k @returns {Frame} */
  frame(k) {
    const computed = new Set();
    const gradients = new Map();
    const sent = new Map();
    const arrived = new Map();
    for (const event of this.events.slice(0, k)) {
      if (event.kind === "forward") computed.add(event.node);
      else if (event.kind === "seed") gradients.set(event.node, event.grad);
      else if (event.kind === "message") sent.set(`${event.node}-${event.operand}`, event);
      else {
        gradients.set(event.node, event.after);
        arrived.set(event.node, (arrived.get(event.node) ?? 0) + 1);
      }
    }
    return { k, event: this.events[k - 1], computed, gradients, sent, arrived };
  }

  /** @param {number} id @param {Frame} frame */
  isKnown(id, frame) {
    return !this.nodes[id].op || frame.computed.has(id);
  }

  /** "number", "waiting", "constant" or "no path". @param {number} id @param {Frame} frame */
  gradientState(id, frame) {
    if (frame.gradients.has(id)) return "number";
    if (!this.nodes[id].requires_grad) return "constant";
    return this.derived[id].terms.length || id === this.output ? "waiting" : "no path";
  }

  /** The gradient in words or numbers, never a 0 for what has not been computed. @param {number} id @param {Frame} frame */
  gradientText(id, frame) {
    const state = this.gradientState(id, frame);
    if (state === "number") return brief(frame.gradients.get(id));
    return { waiting: WAITING, constant: "none (constant)", "no path": "0 (no path)" }[state];
  }

  /** How far a node has got, in words. @param {number} id @param {Frame} frame */
  stateText(id, frame) {
    if (!this.isKnown(id, frame)) return "not run yet";
    const state = this.gradientState(id, frame);
    if (state === "constant") return "constant";
    if (state === "no path") return "no path to the result";
    if (id === this.output) return state === "number" ? "the seed" : "has a value";
    const expected = this.derived[id].terms.length;
    const arrived = frame.arrived.get(id) ?? 0;
    if (arrived === 0) return "has a value";
    return arrived < expected ? `${arrived} of ${expected} messages` : "complete";
  }

  /** The nodes that the last event is about: the one that acts and the one that receives. @param {Frame} frame */
  focus(frame) {
    const event = frame.event;
    if (!event) return { from: undefined, to: undefined, edge: undefined };
    if (event.kind === "message") return { from: event.node, to: event.child, edge: `${event.node}-${event.operand}` };
    if (event.kind === "accumulate") {
      const message = this.events[frame.k - 2];
      return { from: message.node, to: event.node, edge: `${message.node}-${message.operand}` };
    }
    return { from: undefined, to: event.node, edge: undefined };
  }
}
