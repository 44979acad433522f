import assert from "node:assert/strict";
import { test } from "node:test";

import { brief } from "../../static/player/format.js";
import { isOperation, TraceStates } from "../../static/player/states.js";
import { statesOf, traces } from "./traces.js";

const all = [...traces.operations, ...traces.random].map(({ data }) => new TraceStates(data));
all.push(...Object.keys(traces.named).map(statesOf));

test("a frame knows what has happened so far, and nothing else", () => {
  for (const states of all) {
    for (let k = 0; k <= states.length; k += 1) {
      const frame = states.frame(k);
      const past = states.events.slice(0, k);
      assert.equal(frame.event, past.at(-1));
      assert.deepEqual(
        [...frame.computed],
        past.flatMap((event) => (event.kind === "forward" ? [event.node] : [])),
      );
      const arrivals = past.filter((event) => event.kind === "accumulate");
      const held = states.nodes.flatMap(({ id, earlier }) => (earlier === undefined ? [] : [id]));
      const reached = new Set([...held, ...past.flatMap((event) => (event.kind === "seed" ? [event.node] : []))]);
      for (const [node, count] of frame.arrived) {
        const own = arrivals.filter((event) => event.node === node);
        assert.equal(own.length, count);
        if (node !== states.output) assert.equal(frame.gradients.get(node), own.at(-1)?.after);
        reached.add(node);
      }
      assert.deepEqual(new Set(frame.gradients.keys()), reached);
      assert.equal(frame.sent.size, past.filter((event) => event.kind === "message").length);
    }
  }
});

test("from the beginning a leaf holds the gradient to which the pass adds", () => {
  const states = statesOf("second");
  const arrival = states.events.find((event) => event.kind === "accumulate" && event.node === 0);
  assert.ok(arrival?.kind === "accumulate" && !arrival.first);
  for (const k of [0, states.forwardEnd, states.forwardEnd + 1])
    assert.equal(states.gradientText(0, states.frame(k)), brief(arrival.before));
});

test("at the end every gradient is the engine's", () => {
  for (const { data, gradients } of traces.random) {
    const states = new TraceStates(data);
    const found = states.frame(states.length).gradients;
    assert.deepEqual(Object.fromEntries(found), gradients);
  }
});

test("going forth event by event, no value goes again and gradients are never 0 for nothing", () => {
  for (const states of all) {
    states.nodes.forEach((node, id) => {
      const known = Array.from({ length: states.length + 1 }, (_, k) => states.isKnown(id, states.frame(k)));
      assert.ok(!known.includes(false, known.indexOf(true)), "a value does not go again");
      assert.equal(known[0], !isOperation(node));
      for (let k = 0; k <= states.length; k += 1) {
        const frame = states.frame(k);
        const gradient = frame.gradients.get(id);
        const text = states.gradientText(id, frame);
        if (gradient !== undefined) assert.equal(text, brief(gradient, node.large?.shape));
        else if (!node.requires_grad) assert.equal(text, "none (constant)");
        else assert.ok(text === "not computed yet" || text === "0 (no path)", text);
      }
    });
  }
});

test("what is not reached by the result has no path, what waits is not computed yet", () => {
  const unused = statesOf("unused");
  const texts = [0, unused.length].map((k) => [0, 1, 2].map((id) => unused.gradientText(id, unused.frame(k))));
  assert.deepEqual(texts, [
    ["not computed yet", "0 (no path)", "none (constant)"],
    ["0", "0 (no path)", "none (constant)"],
  ]);
  const data = traces.named.unused;
  const seeds = data.events.flatMap((event) => (event.kind === "seed" ? [{ ...event, node: 1 }] : []));
  const started = new TraceStates({ ...data, events: [...data.events, ...seeds] }); // a pass from two results
  assert.equal(started.gradientText(1, started.frame(0)), "not computed yet");
  const stopped = statesOf("only forward");
  assert.equal(stopped.gradientText(0, stopped.frame(stopped.length)), "not computed yet");
});

test("a message is in focus with its edge, and so is its arrival", () => {
  for (const states of all) {
    assert.deepEqual(states.focus(states.frame(0)), { from: undefined, to: undefined, edge: undefined });
    states.events.forEach((event, i) => {
      const focus = states.focus(states.frame(i + 1));
      if (event.kind === "message") {
        assert.deepEqual(focus, { from: event.node, to: event.child, edge: `${event.node}-${event.operand}` });
        assert.equal(states.nodes[event.node].children[event.operand], event.child);
        assert.deepEqual(states.focus(states.frame(i + 2)), focus);
      } else if (event.kind !== "accumulate") {
        assert.deepEqual(focus, { from: undefined, to: event.node, edge: undefined });
      }
    });
  }
});

test("operations are written as one would write them", () => {
  const wanted = {
    "+": "a + b",
    "-": "a - b",
    "*": "a * b",
    "/": "a / b",
    "**": "a ** b",
    "@": "a @ b",
    neg: "−a",
    exp: "exp(a)",
    minimum: "minimum(a, b)",
    linear: "linear(a, b, c)",
    stack: "stack(a, b, c)",
  };
  for (const [op, text] of Object.entries(wanted)) {
    const { data } = traces.operations.find((one) => one.op === op) ?? assert.fail(op);
    const states = new TraceStates(data);
    assert.equal(states.definition(states.output), `out = ${text}`);
    assert.equal(states.definition(0), "a");
  }
});

test("the structure is the same for other numbers, and another for another program", () => {
  const [first, ...others] = traces.operations.filter(({ op }) => op === "exp").map(({ data }) => data);
  const changed = structuredClone(first);
  changed.nodes[0].value = 7;
  changed.events = [];
  assert.equal(new TraceStates(changed).structure, new TraceStates(first).structure);
  for (const other of others) assert.notEqual(new TraceStates(other).structure, new TraceStates(first).structure);
});

test("another constant of an expression is another structure: the card has its number as a name", () => {
  const [first, second] = ["shared", "many"].map((name) => structuredClone(traces.named[name]));
  const constant = second.nodes.findIndex(({ requires_grad }) => !requires_grad);
  const changed = structuredClone(second);
  changed.derived[constant].name = "77";
  assert.notEqual(new TraceStates(changed).structure, new TraceStates(second).structure);
  assert.equal(new TraceStates(structuredClone(first)).structure, new TraceStates(first).structure);
});

test("a run halts where messages add up, and where a broken engine departs", () => {
  /** @param {TraceStates} states @param {number} from */
  const halts = (states, from) => {
    const found = [];
    for (let k = states.nextHalt(from, states.length); k < states.length; k = states.nextHalt(k, states.length))
      found.push(k);
    return found;
  };
  const shared = statesOf("shared");
  assert.deepEqual(halts(shared, 0), [19]);
  const event = shared.events[18];
  assert.ok(event.kind === "accumulate");
  assert.deepEqual([event.before, event.message, event.after], [10, 21, 31]);
  assert.equal(shared.nextHalt(0, shared.forwardEnd), shared.forwardEnd);
  assert.deepEqual(halts(new TraceStates(traces.named.shared, [], { event: 8, line: "" }), 0), [9, 19]);
  const broadcast = statesOf("broadcast");
  const sums = broadcast.events.flatMap((one, i) => (broadcast.addsUp(i + 1) && "node" in one ? [one.node] : []));
  assert.deepEqual(
    sums.map((id) => broadcast.name(id)),
    ["row"],
  );
});

test("a step by node rests where a node has done its work", () => {
  const states = statesOf("shared");
  assert.deepEqual(states.stops, [0, 1, 2, 3, 4, 5, 9, 13, 17, 21]);
  assert.deepEqual(
    [states.nextStop(0, 1), states.nextStop(6, 1), states.nextStop(6, -1), states.nextStop(21, 1)],
    [1, 9, 5, 21],
  );
  for (const one of all) {
    assert.equal(one.stops.at(-1), one.length);
    for (const stop of one.stops.slice(1)) {
      const [event, next] = [one.events[stop - 1], one.events[stop]];
      assert.notEqual(event.kind, "message"); // what was sent has arrived
      assert.ok(next?.kind !== "accumulate");
    }
  }
});

test("each event is of one pass", () => {
  for (const one of [...all, statesOf("only forward")]) {
    const stages = Array.from({ length: one.length + 1 }, (_, k) => one.stage(k));
    assert.equal(stages[0], "none");
    for (const stage of new Set(stages)) assert.equal(stages.lastIndexOf(stage), one.endOf(stage));
  }
});

test("what is asked of an event that it is not is refused", () => {
  const states = statesOf("shared");
  const message = states.events.findIndex((event) => event.kind === "message");
  assert.throws(() => states.message(0), /not a message/);
  assert.throws(() => states.arrivalAfter(0), /not a message that has arrived/);
  assert.throws(() => states.operation(0), /not an operation/);
  assert.throws(() => states.term(0, states.message(message)), /in no derivation/);
});

test("after the last event nothing is still to send", () => {
  for (const { data } of [...traces.random, ...traces.arrays]) {
    const states = new TraceStates(data);
    assert.deepEqual(states.pending(states.frame(states.length)), []);
  }
});

test("a result whose message another result of its call sends is not waited for", () => {
  const data = structuredClone(traces.arrays[0].data);
  const { node } = data.events.findLast((event) => event.kind === "message") ?? { node: 0 };
  data.events = data.events.filter((event) => event.kind !== "message" || event.node !== node);
  const ids = () => new TraceStates(data).pending(new TraceStates(data).frame(data.events.length));
  assert.deepEqual(ids(), [node]);
  data.nodes[node].shares = 0;
  assert.deepEqual(ids(), []);
});

test("a trace of another structure takes over at the end of the pass that was reached", () => {
  const [before, now] = [statesOf("shared"), statesOf("lines")];
  assert.notEqual(before.structure, now.structure);
  const [forward, end] = [before.forwardEnd, before.length];
  // The visitor's event, the server's event before and now, and the event shown.
  /** @type {[number, number, number, number][]} */
  const cases = [
    [end, 0, 0, now.length],
    [forward, 0, 0, now.forwardEnd],
    [forward - 1, 0, 0, now.forwardEnd],
    [forward + 1, 0, 0, now.length],
    [0, end, now.length, 0],
    [end, forward, now.forwardEnd, now.length], // the server's stage is the old one, too
    [0, 0, 0, 0],
    [3, 3, 3, 3], // the visitor has not moved
    [end, 0, 2, 2], // the server asks for another place
    [0, end, 2, 2],
  ];
  for (const [k, opened, asked, shown] of cases) {
    assert.equal(now.eventAfter(before, k, opened, asked), shown, `${[k, opened, asked]}`);
  }
});
