/** Forward mode against the engine's gradients: the same numbers from the other end. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { flat, toNumber } from "../../static/player/format.js";
import { tell } from "../../static/player/ledger.js";
import { TraceStates } from "../../static/player/states.js";
import { forwardMode } from "../../static/player/tangents.js";
import { near } from "./numbers.js";
import { statesOf, traces } from "./traces.js";

test("the result's tangent along an input is that input's gradient", () => {
  for (const [i, { data, name, gradient }] of traces.expressions.entries()) {
    const forward = forwardMode(new TraceStates(data), { name, cell: 0 });
    assert.equal(forward.tangentOf, name);
    const value = forward.frame(forward.length).gradients.get(forward.output);
    assert.ok(value !== undefined, `program ${i}`);
    assert.ok(near(toNumber(flat(value)[0]), toNumber(gradient), 1e-9), `program ${i}`);
  }
});

test("each cell of an array has its own pass, which gives its gradient", () => {
  let compared = 0;
  for (const { data, gradients } of traces.arrays.slice(0, 60)) {
    const reverse = new TraceStates(data);
    const seed = reverse.events[reverse.seedIndex];
    if (seed?.kind !== "seed") continue;
    const upstream = flat(seed.grad).map(toNumber);
    for (const { id, label: name } of reverse.leaves()) {
      flat(gradients[id] ?? []).forEach((due, cell) => {
        const forward = forwardMode(reverse, { name, cell });
        const value = forward.frame(forward.length).gradients.get(forward.output);
        if (!forward.tangentOf || value === undefined) return;
        const found = flat(value).reduce((/** @type {number} */ sum, x, at) => sum + toNumber(x) * upstream[at], 0);
        const apart = Math.abs(found - toNumber(due));
        assert.ok(apart < 1e-12 || near(found, toNumber(due), 1e-9), `${name} ${cell}: ${found}`);
        compared += 1;
      });
    }
  }
  assert.ok(compared > 20, `${compared} compared`);
});

test("tangents go with the arrows, and each event says what was multiplied", () => {
  const [name] = Object.keys(traces.named);
  const reverse = statesOf(name);
  const [leaf] = reverse.leaves();
  const forward = forwardMode(reverse, { name: leaf.label, cell: 0 });
  assert.notEqual(forward.structure, reverse.structure);
  const pushes = forward.events.flatMap((event, i) => (event.kind === "push" ? [i] : []));
  assert.ok(pushes.length);
  for (const i of pushes) {
    const focus = forward.focus(forward.frame(i + 1));
    const event = forward.events[i];
    assert.ok(event.kind === "push" && focus.from === event.child && focus.to === event.node);
  }
  for (let k = 0; k <= forward.length; k += 1) assert.ok(tell(forward, forward.frame(k), null).sentence);
  assert.match(tell(forward, forward.frame(forward.length), null).result?.sentence ?? "", /such passes|changes|is 0/);
  assert.equal(forwardMode(reverse, { name: "nobody", cell: 0 }), reverse);
});
