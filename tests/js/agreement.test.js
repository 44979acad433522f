/** Every panel says the same: 300 random programs over arrays, at every event, for the whole and for a chosen cell. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { sumText, copiesOf, sendingOf } from "../../static/player/arithmetic.js";
import { derivation } from "../../static/player/derivation.js";
import { brief, element, flat, shapeOf, toNumber } from "../../static/player/format.js";
import { tell } from "../../static/player/ledger.js";
import { TraceStates } from "../../static/player/states.js";
import { comesTo, near, numbersIn, says } from "./numbers.js";
import { traces } from "./traces.js";

/** @param {string} numbers of the sentence: what each copy of a cell is sent
 * @param {number} number all of them together
 * @param {number} scale of its terms @param {string} told */
function ledgerSays(numbers, number, scale, told) {
  const [all, more] = numbers.split(/ and (?=\d+ more$)/);
  let total = 0;
  for (const part of all.split(", ")) {
    const [left, sign, right = left] = part.split(/ ([=≈]) /);
    if (!left.includes("…")) comesTo(left, numbersIn(right)[0], told, sign);
    total += numbersIn(right)[0];
  }
  if (!more) assert.ok(Math.abs(total - number) <= 2e-3 * Math.max(scale, 1e-12), told);
}

test("ledger, pill, derivation, table and engine agree on arrays", () => {
  assert.equal(traces.arrays.length, 300);
  const seen = new Set();
  for (const [program, { data, gradients }] of traces.arrays.entries()) {
    const states = new TraceStates(data);
    let random = program;
    states.events.forEach((event, i) => {
      const frame = states.frame(i + 1);
      if (event.kind === "forward") seen.add(states.operation(event.node).op);
      if (event.kind !== "message") return;
      const sent = sendingOf(states, event, i);
      const where = `program ${program}, event ${i}`;
      const size = flat(sent.arrived).length;
      random = (random * 31 + 7) % 1009;
      const cell = random % size;
      const number = toNumber(flat(sent.arrived)[cell]);

      // the engine: its products, of all copies of the cell, add up to what arrives
      const products = sent.copies(cell).map((position) => sent.products(position));
      assert.ok(!products.includes(null), `${where}: nobody knows the numbers of ${states.name(event.node)}`);
      const terms = products
        .flatMap((one) => one ?? [])
        .map((one) => toNumber(flat(one.upstream)[0]) * toNumber(flat(one.local)[0]));
      const sum = terms.reduce((total, x) => total + x, 0);
      const scale = terms.reduce((total, x) => total + Math.abs(x), 0);
      assert.ok(near(sum, number, 1e-6) || Math.abs(sum - number) <= 1e-9 * scale, `${where}: ${sum} for ${number}`);

      // the ledger, for that cell
      const chosen = Array.isArray(sent.arrived) ? cell : null;
      const told = tell(states, frame, chosen).sentence;
      const [, numbers] = / sends (.+) to [^:]+\.$/.exec(told) ?? assert.fail(told);
      if (chosen === null && sent.sums) says(numbers.split(/ [=≈] /).at(-1) ?? "", event.contribution, told);
      else ledgerSays(numbers, number, scale, told);

      // the pill is what the closure sends; when that has arrived, their sum
      says(brief(event.contribution), event.contribution, where);
      const arrival = states.arrivalAfter(i);
      const after = states.frame(i + 2);
      const arrived = tell(states, after, chosen).sentence;
      const at = chosen === null ? arrival.after : element(arrival.after, chosen);
      says(/(?:after|gradient is) (.+)\.$/.exec(arrived)?.[1] ?? "", at, arrived);
      if (sent.sums) {
        const copies = sumText(copiesOf(sent, chosen));
        assert.ok(arrived.includes(copies), arrived);
        if (chosen !== null && !copies.includes("…")) comesTo(copies, number, arrived);
      }

      // the derivation, up to here, and the table
      const [, , line] = derivation(states, after, event.child, chosen);
      const text = line.tokens.map((token) => token.text).join("");
      if (!/[…Σ@]/.test(text) && chosen !== null) comesTo(text, toNumber(flat(at)[0]), `${where}: ${text}`);
      says(states.gradientText(event.child, after), arrival.after, where);
    });
    const end = states.frame(states.length);
    for (const [node, value] of Object.entries(gradients)) {
      assert.deepEqual(end.gradients.get(Number(node)), value);
      assert.equal(states.gradientText(Number(node), end), brief(value));
      assert.deepEqual(shapeOf(value), states.nodes[Number(node)].shape);
    }
  }
  for (const op of [
    "@",
    "sum",
    "max",
    "getitem",
    "softmax",
    "transpose",
    "reshape",
    "concatenate",
    "stack",
    "+",
    "prod",
  ])
    assert.ok(seen.has(op), op);
});
