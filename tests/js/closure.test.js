import assert from "node:assert/strict";
import { test } from "node:test";

import { purpose, valueText } from "../../static/player/closure.js";
import { brief } from "../../static/player/format.js";
import { TraceStates } from "../../static/player/states.js";
import { traces } from "./traces.js";

test("the X-ray shows what each closure kept, also what the trace did not send twice", () => {
  let lookedUp = 0;
  for (const { op, data, captured } of traces.operations) {
    const states = new TraceStates(data);
    const node = states.operation(states.output);
    assert.deepEqual(
      node.captured.map((entry) => entry.name),
      captured.map((entry) => entry.name),
    );
    node.captured.forEach((entry, i) => {
      const kept = captured[i];
      if (entry.holds === "operand" || kept.holds === "operand") return;
      assert.ok(kept.value !== undefined, op);
      lookedUp += Number(!("value" in entry));
      const wanted = kept.holds === "setting" ? kept.value : brief(kept.value);
      assert.equal(valueText(states, node, entry), wanted, `${op}: ${entry.name}`);
    });
  }
  assert.ok(lookedUp > 100);
});

test("a closure keeps a tensor to send it a message, and one without a gradient is said to get none", () => {
  const told = new Set();
  for (const { op, data } of traces.operations) {
    const states = new TraceStates(data);
    for (const entry of states.operation(states.output).captured) {
      if (entry.holds !== "operand") continue;
      const sent = states.events.some((event) => event.kind === "message" && event.child === entry.node);
      assert.match(purpose(states, entry), sent ? /gets a message/ : /gets no message/, op);
      told.add(sent);
    }
  }
  assert.equal(told.size, 2);
});

test("the masks of closures are shown as Python writes them", () => {
  const texts = traces.operations.flatMap(({ data, captured }) => {
    const states = new TraceStates(data);
    const node = states.operation(states.output);
    return captured.flatMap((kept, i) => {
      const entry = node.captured[i];
      if (kept.holds !== "array" || entry.holds === "operand") return [];
      return /true|false/.test(JSON.stringify(kept.value)) ? [valueText(states, node, entry)] : [];
    });
  });
  assert.ok(texts.some((text) => text.includes("True")) && texts.some((text) => text.includes("False")));
  for (const text of texts) assert.match(text, /^(True|False|\[(True|False|[[\], ])+\]|\([\d, ]+\))$/);
});

test("an array of one number that is none is told as everywhere else", () => {
  const states = new TraceStates(traces.named.shared);
  const node = states.operation(4);
  const shape = /** @type {number[]} */ ([]);
  assert.equal(valueText(states, node, { name: "y", holds: "array", shape, value: "nan" }), "NaN");
  assert.equal(valueText(states, node, { name: "axis", holds: "setting", type: "str", shape, value: "nan" }), "nan");
});
