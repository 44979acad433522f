/** A trace and its state after the first k events. */

import { brief, flat, shapeOf, toNumber } from "./format.js";

/** @import { Departure, Message, Operation, Push, Slope, TraceData, TraceEvent } from "../types.js" */
/** @import { TraceNode, Value } from "../types.js" */

/** @typedef {object} Frame the state after the first k events
 * @property {number} k
 * @property {TraceEvent | undefined} event the last event
 * @property {Set<number>} computed the operations that have run
 * @property {Map<number, Value>} gradients so far, by node
 * @property {Map<string, Message | Push>} sent the last message on each edge: "7-0" leads to operand 0 of node 7
 * @property {Map<number, number>} arrived number of messages received, by node */

const MAX_ROUNDING = 1e-9; // relative: a smaller difference between two engines is rounding
export const WAITING = "not computed yet";

/** Return whether a node is an operation, not an input or a constant.
 * @param {TraceNode} node @returns {node is Operation} */
export function isOperation(node) {
  return node.op !== "";
}

/** Return a node's shape in the program, even if the trace holds only some of its cells. @param {TraceNode} node */
export function fullShape({ large, shape }) {
  return large?.shape ?? shape;
}

/** A trace with lookups by event and by node. */
export class TraceStates {
  /** @param {TraceData} data @param {Slope[]} slopes of single input numbers, as far as known
   * @param {Departure | null} departure first difference from the correct engine's pass
   * @param {string} tangentOf in forward mode: the name of the input number; otherwise ""
   * @param {TraceStates | null} right the correct engine's pass over the same graph, if this is another engine's
   * @param {string} engine name of that other engine */
  constructor(data, slopes = [], departure = null, tangentOf = "", right = null, engine = "") {
    this.slopes = slopes;
    this.tangentOf = tangentOf;
    this.departure = departure;
    this.nodes = data.nodes;
    /** @type {TraceEvent[]} */
    this.events = data.events;
    this.output = data.output;
    this.result = data.result;
    this.sources = data.sources;
    this.derived = data.derived;
    this.error = data.error;
    this.length = this.events.length;
    this.seedIndex = this.events.findIndex(({ kind }) => kind === "seed" || kind === "tangent");
    this.forwardEnd = this.seedIndex < 0 ? this.length : this.seedIndex; // the number of events in the forward pass
    this.starts = new Set(this.events.flatMap((event) => (event.kind === "seed" ? [event.node] : [])));
    this.stops = stopsOf(this.events);
    this.structure = JSON.stringify(
      this.nodes.map((node, id) => {
        const { op, label, children, shape, requires_grad, calls } = node;
        return [op, label, children, shape, requires_grad, calls, data.derived[id].name]; // a constant's is its number
      }),
    ).concat(tangentOf);
    this.right = right;
    this.engine = engine;
    const due = right?.frame(Infinity).gradients;
    this.dues = this.nodes.map((node) => node.due ?? due?.get(node.id));
    // Whether a card has room for a right gradient: decided before the pass runs, so that no event moves the drawing.
    this.roomForDue = this.nodes.map((node) => node.requires_grad && (right !== null || node.due !== undefined));
    this.early = departure !== null && this.events[departure.event].kind === "message"; // what differs is the order
    if (right) Object.assign(right, { roomForDue: this.roomForDue, early: this.early }); // both drawings are alike
  }

  /** Return the right gradient of a node that has received all its messages and holds another one; otherwise undefined.
   * @param {number} id @param {Frame} frame */
  due(id, frame) {
    const found = frame.gradients.get(id);
    const due = this.dues[id];
    if (found === undefined || due === undefined || isSame(found, due)) return undefined;
    const complete = (frame.arrived.get(id) ?? 0) >= this.derived[id].terms.length || frame.k === this.length;
    return complete ? due : undefined;
  }

  /** Return the index of the event in the right engine's pass that does the same as event `index` of this one: its
   * message takes the same edge as often before. null if there is none, or no right pass. @param {number} index */
  counterpart(index) {
    if (!this.right) return null;
    const name = aboutOf(this, index);
    let before = 0;
    for (let i = 0; i < index; i += 1) if (aboutOf(this, i) === name) before += 1;
    const same = this.right.events.flatMap((_, i) => (this.right && aboutOf(this.right, i) === name ? [i] : []));
    return same[before] ?? null;
  }

  /** Return the pass that event k belongs to: "none", "forward" or "backward". @param {number} k */
  stage(k) {
    if (k === 0) return "none";
    return k <= this.forwardEnd ? "forward" : "backward";
  }

  /** Return the number of events up to the end of a pass. @param {string} stage */
  endOf(stage) {
    return { none: 0, forward: this.forwardEnd }[stage] ?? this.length;
  }

  /** Return the event at which this trace replaces one of another structure: the end of the pass that the visitor has
   * reached, unless the visitor has not moved or the server asks for another place than before.
   * @param {TraceStates} before @param {number} k the visitor's event there
   * @param {number} opened the server's event there @param {number} asked the server's event here */
  eventAfter(before, k, opened, asked) {
    const endHere = (/** @type {number} */ at) => (at >= before.length ? this.length : this.endOf(before.stage(at)));
    const isMoved = k !== opened && (asked === opened || asked === endHere(opened));
    return isMoved ? endHere(k) : asked;
  }

  /** Return the next stop of stepping by node, forward or back. @param {number} k @param {1 | -1} by */
  nextStop(k, by) {
    return by > 0 ? (this.stops.find((stop) => stop > k) ?? k) : (this.stops.findLast((stop) => stop < k) ?? k);
  }

  /** Return the next event after k at which a run halts, because messages have added up or a broken engine departs from
   * the right one; `end` if there is none before it. @param {number} k @param {number} end */
  nextHalt(k, end) {
    for (let next = k + 1; next < end; next += 1)
      if (this.addsUp(next) || this.departure?.event === next - 1) return next;
    return end;
  }

  /** Return whether several messages have added up in event k: at a node that is used more than once, or that
   * broadcasting has copied. @param {number} k */
  addsUp(k) {
    const event = this.events[k - 1];
    if (event.kind === "tangent")
      return this.events.slice(0, k).filter((one) => one.kind === "push" && one.node === event.node).length > 1;
    if (event.kind !== "accumulate") return false;
    const sent = flat(this.message(k - 2).contribution).length;
    return !event.first || sent > flat(event.message).length;
  }

  /** Return the inputs that can have a gradient. */
  leaves() {
    return this.nodes.filter((node) => !isOperation(node) && node.requires_grad);
  }

  /** Return whether a frame ends at the first event that differs from the correct engine. @param {Frame} frame */
  departs(frame) {
    return this.departure !== null && frame.k === this.departure.event + 1;
  }

  /** Return a node's name. @param {number} id */
  name(id) {
    return this.derived[id].name;
  }

  /** Return a node that must be an operation. @param {number} id */
  operation(id) {
    const node = this.nodes[id];
    if (!isOperation(node)) throw new Error(`Node ${id} is not an operation.`);
    return node;
  }

  /** Return an operation as code, such as "a * b" or "relu(v1)", with `text` for each operand.
   * @param {Operation} node @param {(id: number) => string} text */
  written(node, text) {
    const operands = node.children.map(text);
    if (node.index !== undefined) return `${operands[0]}[${node.index}]`;
    if (node.symbol === null) return `${node.op}(${operands.join(", ")})`;
    return operands.length === 1 ? `${node.symbol}${operands[0]}` : operands.join(` ${node.symbol} `);
  }

  /** Return a node's definition, such as "v1 = a * b"; only the name for a leaf. @param {number} id */
  definition(id) {
    const node = this.nodes[id];
    return isOperation(node) ? `${this.name(id)} = ${this.written(node, (child) => this.name(child))}` : this.name(id);
  }

  /** Return the state after the first k events. @param {number} k @returns {Frame} */
  frame(k) {
    /** @type {Frame} */
    const frame = {
      k,
      event: this.events[k - 1],
      computed: new Set(),
      gradients: new Map(this.nodes.flatMap(({ id, earlier }) => (earlier === undefined ? [] : [[id, earlier]]))),
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

  /** Return the event at an index, which must be a message. @param {number} index */
  message(index) {
    const event = this.events[index];
    if (event?.kind !== "message") throw new Error(`Event ${index} is not a message.`);
    return event;
  }

  /** Return the arrival of the message at an index: the next event. @param {number} index */
  arrivalAfter(index) {
    const event = this.events[index + 1];
    if (event?.kind !== "accumulate") throw new Error(`Event ${index} is not a message that has arrived.`);
    return event;
  }

  /** Return a message's term in the receiver's derivation. @param {number} index @param {Message} message */
  term(index, message) {
    const found = this.derived[message.child].terms.find((term) => term.event === index);
    if (!found || found.event === null) throw new Error(`Event ${index} is in no derivation.`);
    return found;
  }

  /** Return whether a node has its value. @param {number} id @param {Frame} frame */
  isKnown(id, frame) {
    return !isOperation(this.nodes[id]) || frame.computed.has(id);
  }

  /** Return the shape in the program of an array that belongs to one of these nodes. @param {Value} value
   * @param {(number | undefined)[]} ids */
  shapeIn(value, ids) {
    const kept = shapeOf(value);
    const node = this.nodes.find(({ id, shape }) => ids.includes(id) && String(shape) === String(kept));
    return node ? fullShape(node) : kept;
  }

  /** Return a gradient state: "number", "waiting", "constant" or "no path". @param {number} id @param {Frame} frame */
  gradientState(id, frame) {
    if (frame.gradients.has(id)) return "number";
    if (!this.nodes[id].requires_grad) return "constant";
    const waits = this.tangentOf || this.derived[id].terms.length || id === this.output || this.starts.has(id);
    return waits ? "waiting" : "no path";
  }

  /** Return a value as text; after the forward pass also the value that has overwritten it.
   * @param {number} id @param {Frame} frame */
  valueText(id, frame) {
    const { value, now, unseen } = this.nodes[id];
    if (!this.isKnown(id, frame)) return "not run yet";
    if (unseen) return "not seen";
    return now !== undefined && this.isForwardOver(frame)
      ? `${brief(value)} → ${brief(now)}`
      : brief(value, fullShape(this.nodes[id]));
  }

  /** Return whether all nodes have their values. @param {Frame} frame */
  isForwardOver(frame) {
    return this.nodes.every((_, id) => this.isKnown(id, frame));
  }

  /** Return a gradient's shape in the program; a broken engine may give it another one than its node's.
   * @param {number} id @param {Value} gradient */
  gradientShape(id, gradient) {
    const node = this.nodes[id];
    return String(shapeOf(gradient)) === String(node.shape) ? fullShape(node) : shapeOf(gradient);
  }

  /** Return a gradient as text; words, not 0, if it is not computed yet.
   * @param {number} id @param {Frame} frame */
  gradientText(id, frame) {
    const gradient = frame.gradients.get(id);
    const due = this.due(id, frame);
    if (gradient !== undefined) {
      const text = brief(gradient, this.gradientShape(id, gradient));
      return due === undefined ? text : `✗ ${text}, right: ${brief(due)}`;
    }
    const state = this.gradientState(id, frame);
    if (state === "constant") return "none (constant)";
    return state === "no path" ? "0 (no path)" : WAITING;
  }

  /** Return the order in which the operations send their messages: node -> 1 for the first.
   * @returns {Map<number, number>} */
  sendingOrder() {
    /** @type {Map<number, number>} */
    const order = new Map();
    for (const event of this.events)
      if (event.kind === "message" && !order.has(event.node)) order.set(event.node, order.size + 1);
    return order;
  }

  /** Return the operations that have a gradient and still have to send messages.
   * @param {Frame} frame */
  pending(frame) {
    const sent = new Set([...frame.sent.values()].map(({ node }) => node));
    const acting = frame.k < this.length ? this.focus(frame).from : undefined;
    const gone = (/** @type {number} */ id) => (sent.has(id) && acting !== id) || this.nodes[id].shares !== undefined;
    return [...frame.gradients.keys()].filter((id) => isOperation(this.nodes[id]) && !gone(id));
  }

  /** Return the last event's sender and receiver, and the edge between them. @param {Frame} frame */
  focus(frame) {
    const event = frame.event;
    if (!event) return { from: undefined, to: undefined, edge: undefined };
    if (event.kind === "push") return { from: event.child, to: event.node, edge: edgeName(event) };
    if (event.kind !== "message" && event.kind !== "accumulate")
      return { from: undefined, to: event.node, edge: undefined };
    const message = event.kind === "message" ? event : this.message(frame.k - 2);
    return { from: message.node, to: message.child, edge: edgeName(message) };
  }

  /** Return the nodes of an event: those it comes from, then the one it goes to. Before the first event, its nodes.
   * @param {Frame} frame */
  nodesOf(frame) {
    const { from, to = this.events[0]?.node } = this.focus(frame);
    if (to === undefined) return [];
    return [...(from === undefined ? this.nodes[to].children : [from]), to];
  }
}

/** Return an edge's name in `Frame.sent`. @param {Message | Push} message */
function edgeName({ node, operand }) {
  return `${node}-${operand}`;
}

/** Tell what an event is about: its kind, its node, and the edge of its message. @param {TraceStates} states
 * @param {number} index */
function aboutOf({ events }, index) {
  const event = events[index];
  const sent = event.kind === "accumulate" ? events[index - 1] : event;
  return `${event.kind} ${event.node} ${sent?.kind === "message" ? edgeName(sent) : ""}`;
}

/** Return whether two gradients are equal, but for rounding. @param {Value} one @param {Value} other */
export function isSame(one, other) {
  const [a, b] = [one, other].map((value) => flat(value).map(toNumber));
  const alike = (/** @type {number} */ x, /** @type {number} */ y) =>
    Object.is(x, y) || x === y || Math.abs(x - y) <= MAX_ROUNDING * Math.abs(y);
  return a.length === b.length && a.every((x, i) => alike(x, b[i]));
}

/** Return the stops of stepping by node: after each operation, the seed and the last message of each node.
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
