import assert from "node:assert/strict";
import { test } from "node:test";

import { isClose, limitOf, readAnswer, verdictOn } from "../../static/player/predict.js";
import { statesOf, traces } from "./traces.js";

test("an answer may be written in many ways", () => {
  for (const text of ["6", " 6.0 ", "+6", "12/2", "12 / 2", "6e0", "6,0"]) assert.equal(readAnswer(text, []), 6, text);
  for (const text of ["−.5", "-0,5", "−1/2"]) assert.equal(readAnswer(text, []), -0.5, text);
  for (const text of ["[1, -2]", "1 -2", "1, −2", "(1 -2)", "[2/2 -2]", "1; -2", "1,0 -2,0"])
    assert.deepEqual(readAnswer(text, [2]), [1, -2], text);
  assert.deepEqual(readAnswer("1,5", [2]), [1, 5]);
  assert.deepEqual(readAnswer("1,5; 2", [2]), [1.5, 2]);
  assert.deepEqual(readAnswer("1,5 2", []), [1, 5, 2], "as written where nothing fits");
  assert.deepEqual(readAnswer("[[1 2] [3 4]]", [2, 2]), [
    [1, 2],
    [3, 4],
  ]);
  for (const text of ["", "x", "[", "[]", "1/0", '"6"', "null", "6 apples", "true"])
    assert.equal(readAnswer(text, []), null, text);
});

test("what is near enough, and what is not", () => {
  assert.ok(isClose(3.33, 10 / 3));
  assert.ok(!isClose(3, 10 / 3));
  assert.ok(!isClose(0.001, 0));
  assert.ok(!isClose([1, 2], 1));
  assert.ok(!isClose("nan", 1));
});

test("of every wrong gradient that a known mistake gives, the mistake is told", () => {
  const states = statesOf("shared");
  for (const [index, known] of Object.entries(traces.guesses)) {
    const right = states.arrivalAfter(Number(index) - 1).after;
    assert.equal(verdictOn(right, right, known), "✓ As you predicted.");
    for (const { wrong, said } of known) assert.ok(verdictOn(wrong, right, known).includes(said));
  }
  assert.ok(
    Object.values(traces.guesses)
      .flat()
      .some(({ said }) => said.includes("you overwrite instead of adding")),
  );
});

test("sign and shape are credited", () => {
  assert.equal(verdictOn(3, 7, []), "✗ You predicted 3, with the right sign.");
  assert.equal(verdictOn(-3, 7, []), "✗ You predicted −3.");
  assert.equal(verdictOn([1, 2], [3, 4], []), "✗ You predicted [1, 2], with the right signs.");
  assert.equal(verdictOn([1, 2], 7, []), "✗ You predicted [1, 2], of shape (2,).");
});

test("a step goes to the next message that is to be predicted, and from the question past it", () => {
  const states = statesOf("shared");
  const first = states.events.findIndex((event) => event.kind === "message");
  const reach = limitOf.bind(null, states, traces.guesses);
  assert.equal(reach(-1, 0, states.length), first);
  assert.equal(reach(-1, first, first + 1), first);
  assert.equal(reach(first, first, first + 1), first + 2);
  assert.equal(reach(first, first, states.length), first + 2);
  assert.equal(limitOf(states, {}, -1, 0, states.length), states.length);
});
