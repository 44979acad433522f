/** The nudge against the engine: what local derivatives say, and the true change, of 300 random expressions. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { element, flat, toNumber } from "../../static/player/format.js";
import { recompute, kinksCrossed, sameChange, slopesFrom } from "../../static/player/nudge.js";

import { Playback } from "../../static/player/playback.js";
import { near } from "./numbers.js";
import { traces } from "./traces.js";

/** @param {Playback} playback @param {string} name */
const leaf = (playback, name) => playback.nodes.findIndex((node) => node.label === name && node.op === "");

test("the operations computed here give the engine's numbers, for small and large nudges", () => {
  assert.equal(traces.nudges.length, 300);
  const seen = new Set();
  for (const [i, { data, name, nudges, results }] of traces.nudges.entries()) {
    const playback = new Playback(data);
    for (const node of playback.nodes) seen.add(node.op);
    nudges.forEach((h, at) => {
      const values = recompute(playback, leaf(playback, name), h);
      assert.ok(values, `program ${i} is not computed`);
      const found = values[playback.output];
      const due = toNumber(results[at]);
      assert.ok(near(found, due, 1e-9) || sameChange(found, due, 1e3), `program ${i}, h = ${h}: ${found} for ${due}`);
    });
  }
  for (const op of "+ - * / ** neg exp log sqrt sin cos tanh sigmoid softplus relu abs maximum minimum".split(" "))
    assert.ok(seen.has(op), op);
});

test("the change by local derivatives is the gradient's, and that of finite differences", () => {
  let compared = 0;
  for (const [i, { data, name, slope, gradient }] of traces.nudges.entries()) {
    const playback = new Playback(data);
    const from = leaf(playback, name);
    const slopes = slopesFrom(playback, from, 0)[playback.output];
    const due = toNumber(gradient);
    const found = slopes === undefined ? 0 : slopes?.[0];
    assert.ok(found !== undefined && near(found, due, 1e-9), `program ${i}: ${found} for ${due}`);
    const measured = toNumber(slope);
    if (!Number.isFinite(measured) || kinksCrossed(playback, recompute(playback, from, 0) ?? []).length) continue;
    const atKink = [1e-5, -1e-5].some((h) => kinksCrossed(playback, recompute(playback, from, h) ?? []).length);
    const values = playback.nodes.map(({ value }) => Math.abs(toNumber(/** @type {number} */ (value))));
    const noise = 1e-10 * Math.max(1, ...values.filter(Number.isFinite));
    if (atKink || Math.max(...values) > 1e4 || Math.abs(due) > 1e4) continue;
    assert.ok(near(found, measured, 1e-4) || Math.abs(found - measured) < 1e-4 + noise, `program ${i}: ${measured}`);
    compared += 1;
  }
  assert.ok(compared > 150, `${compared} compared`);
});

test("an operation that is not known here, or that gave another number, is not computed", () => {
  const { data, name } = traces.nudges[0];
  const playback = new Playback(structuredClone(data));
  const from = leaf(playback, name);
  assert.ok(recompute(playback, from, 0.1));
  const user = playback.nodes.find(({ children }) => children.includes(from));
  assert.ok(user);
  user.value = 12345;
  assert.equal(recompute(playback, from, 0.1), null);
});

test("through arrays the change is the engine's gradient, whatever the operations", () => {
  let compared = 0;
  for (const { data, gradients } of traces.arrays) {
    const playback = new Playback(data);
    const seed = playback.events[playback.seedIndex];
    if (seed?.kind !== "seed") continue;
    for (const { id, op, shape } of playback.nodes) {
      if (op || !(id in gradients)) continue;
      const size = shape.reduce((product, length) => product * length, 1);
      for (let cell = 0; cell < size; cell += 3) {
        const found = slopesFrom(playback, id, cell)[playback.output];
        if (found === null) continue; // too many, or no finite number
        const due = toNumber(flat(gradients[id])[cell]);
        const sum = (found ?? [0]).reduce((total, x, to) => total + x * toNumber(element(seed.grad, to)), 0);
        assert.ok(near(sum, due, 1e-6) || Math.abs(sum - due) < 1e-9, `${sum} for ${due}`);
        compared += 1;
      }
    }
  }
  assert.ok(compared > 300, `${compared} compared`);
});
