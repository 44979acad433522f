/** A trace, and what is known after the first k of its events. */

import { brief, shapeOf } from "./format.js";

/** @import { Departure, Message, Operation, Push, Slope, TraceData, TraceEvent } from "../types.js" */
/** @import { TraceNode, Value } from "../types.js" */

/** @typedef {object} Frame what is known after the first k events
 * @property {number} k
 * @property {TraceEvent | undefined} event the last of them
 * @property {Set<number>} computed the operations that have run
 * @property {Map<number, Value>} gradients of the nodes that one has reached
 * @property {Map<string, Message | Push>} sent "7-0", the edge to operand 0 of node 7 -> what went along it
 * @property {Map<number, number>} arrived node -> how many messages it has got */

export const WAITING = "not computed yet";

/** Whether it was computed; otherwise it is an input or a constant.
 * @param {TraceNode} node @returns {node is Operation} */
export function isOperation(node) {
  return node.op !== "";
}

/** Its shape in the program, also where only some cells of it were kept. @param {TraceNode} node */
export function fullShape({ large, shape }) {
  return large?.shape ?? shape;
}

export class Playback {
  /** @param {TraceData} data @param {Slope[]} slopes of inputs that are single numbers, as far as they are known
   * @param {Departure | null} departure from the right engine's pass
   * @param {string} tangentOf in forward mode: the number that the derivatives are with respect to */
  constructor(data, slopes = [], departure = null, tangentOf = "") {
    this.slopes = slopes;
    this.tangentOf = tangentOf;
    this.departure = departure;
    this.nodes = data.nodes;
    this.events = data.events;
    this.output = data.output;
    this.sources = data.sources;
    this.derived = data.derived;
    this.error = data.error;
    this.length = this.events.length;
    this.seedIndex = this.events.findIndex(({ kind }) => kind === "seed" || kind === "tangent");
    /** how many events have happened when the forward pass has ended */
    this.forwardEnd = this.seedIndex < 0 ? this.length : this.seedIndex;
    this.stops = stopsOf(this.events);
    this.structure = JSON.stringify(
      this.nodes.map((node) => [node.op, node.label, node.children, node.shape, node.requires_grad, node.calls]),
    ).concat(tangentOf);
  }

  /** The pass that has come furthest after k events: "none", "forward" or "backward". @param {number} k */
  stage(k) {
    if (k === 0) return "none";
    return k <= this.forwardEnd ? "forward" : "backward";
  }

  /** How many events have happened at the end of a stage. @param {string} stage */
  endOf(stage) {
    return { none: 0, forward: this.forwardEnd }[stage] ?? this.length;
  }

  /** Where the next node has done all its work, or the one before. @param {number} k @param {1 | -1} by */
  nextStop(k, by) {
    return by > 0 ? (this.stops.find((stop) => stop > k) ?? k) : (this.stops.findLast((stop) => stop < k) ?? k);
  }

  /** The inputs that can have a gradient. */
  leaves() {
    return this.nodes.filter((node) => !isOperation(node) && node.requires_grad);
  }

  /** Is the last event of a frame the one that the right engine does not have? @param {Frame} frame */
  departs(frame) {
    return this.departure !== null && frame.k === this.departure.event + 1;
  }

  /** @param {number} id */
  name(id) {
    return this.derived[id].name;
  }

  /** @param {number} id */
  operation(id) {
    const node = this.nodes[id];
    if (!isOperation(node)) throw new Error(`Node ${id} is not an operation.`);
    return node;
  }

  /** "a * b", "relu(v1)": an operation as one would write it, with a text for each operand.
   * @param {Operation} node @param {(id: number) => string} text */
  written(node, text) {
    const operands = node.children.map(text);
    if (node.index !== undefined) return `${operands[0]}[${node.index}]`;
    if (node.symbol === null) return `${node.op}(${operands.join(", ")})`;
    return operands.length === 1 ? `${node.symbol}${operands[0]}` : operands.join(` ${node.symbol} `);
  }

  /** "v1 = a * b"; the name alone for a leaf. @param {number} id */
  definition(id) {
    const node = this.nodes[id];
    return isOperation(node) ? `${this.name(id)} = ${this.written(node, (child) => this.name(child))}` : this.name(id);
  }

  /** What is known after the first k events. @param {number} k @returns {Frame} */
  frame(k) {
    /** @type {Frame} */
    const frame = {
      k,
      event: this.events[k - 1],
      computed: new Set(),
      gradients: new Map(),
      sent: new Map(),
      arrived: new Map(),
    };
    for (const event of this.events.slice(0, k)) {
      if (event.kind === "forward") frame.computed.add(event.node);
      else if (event.kind === "seed") frame.gradients.set(event.node, event.grad);
      else if (event.kind === "tangent") {
        for (const { node, value } of [...event.leaves, event]) frame.gradients.set(node, value);
      } else if (event.kind === "message" || event.kind === "push") frame.sent.set(edgeName(event), event);
      else {
        frame.gradients.set(event.node, event.after);
        frame.arrived.set(event.node, (frame.arrived.get(event.node) ?? 0) + 1);
      }
    }
    return frame;
  }

  /** The message at an index. @param {number} index */
  message(index) {
    const event = this.events[index];
    if (event?.kind !== "message") throw new Error(`Event ${index} is not a message.`);
    return event;
  }

  /** The message whose arrival is the event at an index: it stands right before. @param {number} index */
  messageBefore(index) {
    return this.message(index - 1);
  }

  /** What became of the message at an index: its arrival is the next event. @param {number} index */
  arrivalAfter(index) {
    const event = this.events[index + 1];
    if (event?.kind !== "accumulate") throw new Error(`Event ${index} is not a message that has arrived.`);
    return event;
  }

  /** The part of the receiver's derivation that a message is. @param {number} index @param {Message} message */
  term(index, message) {
    const found = this.derived[message.child].terms.find((term) => term.event === index);
    if (!found || found.event === null) throw new Error(`Event ${index} is in no derivation.`);
    return found;
  }

  /** @param {number} id @param {Frame} frame */
  isKnown(id, frame) {
    return !isOperation(this.nodes[id]) || frame.computed.has(id);
  }

  /** The shape in the program of an array that belongs to one of these nodes. @param {Value} value
   * @param {(number | undefined)[]} ids */
  shapeIn(value, ids) {
    const kept = shapeOf(value);
    const node = this.nodes.find(({ id, shape }) => ids.includes(id) && String(shape) === String(kept));
    return node ? fullShape(node) : kept;
  }

  /** "number", "waiting", "constant" or "no path". @param {number} id @param {Frame} frame */
  gradientState(id, frame) {
    if (frame.gradients.has(id)) return "number";
    if (!this.nodes[id].requires_grad) return "constant";
    return this.tangentOf || this.derived[id].terms.length || id === this.output ? "waiting" : "no path";
  }

  /** The value in numbers; from the end of the forward pass on also what was written in its place.
   * @param {number} id @param {Frame} frame */
  valueText(id, frame) {
    const { value, now, unseen } = this.nodes[id];
    if (!this.isKnown(id, frame)) return "not run yet";
    if (unseen) return "not seen";
    return now !== undefined && this.isForwardOver(frame)
      ? `${brief(value)} → ${brief(now)}`
      : brief(value, fullShape(this.nodes[id]));
  }

  /** @param {Frame} frame */
  isForwardOver(frame) {
    return this.nodes.every((_, id) => this.isKnown(id, frame));
  }

  /** The gradient in words or numbers, never a 0 for what has not been computed.
   * @param {number} id @param {Frame} frame */
  gradientText(id, frame) {
    const gradient = frame.gradients.get(id);
    const { due } = this.nodes[id];
    if (gradient !== undefined)
      return due === undefined ? brief(gradient, fullShape(this.nodes[id])) : `✕ ${brief(gradient)}, due ${brief(due)}`;
    const state = this.gradientState(id, frame);
    if (state === "constant") return "none (constant)";
    return state === "no path" ? "0 (no path)" : WAITING;
  }

  /** In which order the operations send: node -> 1 for the first.
   * @returns {Map<number, number>} */
  sendingOrder() {
    /** @type {Map<number, number>} */
    const order = new Map();
    for (const event of this.events)
      if (event.kind === "message" && !order.has(event.node)) order.set(event.node, order.size + 1);
    return order;
  }

  /** The operations that have a gradient and have not sent it on: they are the next ones.
   * @param {Frame} frame */
  pending(frame) {
    const sent = new Set([...frame.sent.values()].map(({ node }) => node));
    const acting = frame.k < this.length ? this.focus(frame).from : undefined;
    const gone = (/** @type {number} */ id) => (sent.has(id) && acting !== id) || this.nodes[id].shares;
    return [...frame.gradients.keys()].filter((id) => isOperation(this.nodes[id]) && !gone(id));
  }

  /** How far a node has got, in words. @param {number} id @param {Frame} frame */
  stateText(id, frame) {
    if (!this.isKnown(id, frame)) return "not run yet";
    const state = this.gradientState(id, frame);
    if (state === "constant") return "constant";
    if (state === "no path") return "no path to the result";
    if (this.tangentOf) return state === "number" ? "has a tangent" : "has a value";
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
    if (event.kind === "push") return { from: event.child, to: event.node, edge: edgeName(event) };
    if (event.kind !== "message" && event.kind !== "accumulate")
      return { from: undefined, to: event.node, edge: undefined };
    const message = event.kind === "message" ? event : this.messageBefore(frame.k - 1);
    return { from: message.node, to: message.child, edge: edgeName(message) };
  }
}

/** @param {Message | Push} message */
function edgeName({ node, operand }) {
  return `${node}-${operand}`;
}

/** Where a step by node rests: after each operation, after the seed, and when a node has sent all its messages.
 * @param {TraceEvent[]} events */
function stopsOf(events) {
  const stops = [0];
  /** @type {number | null} */
  let sender = null;
  events.forEach((event, i) => {
    if (event.kind === "accumulate" || (event.kind === "tangent" && !event.leaves.length))
      stops[stops.length - 1] = i + 1;
    else if ("operand" in event && event.node === sender) stops[stops.length - 1] = i + 1;
    else stops.push(i + 1);
    if (event.kind !== "accumulate") sender = "operand" in event ? event.node : null;
  });
  return stops;
}
