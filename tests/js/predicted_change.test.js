import assert from "node:assert/strict";
import { test } from "node:test";

import { Change, storyOfChange } from "../../static/player/predicted_change.js";
import { TraceStates } from "../../static/player/states.js";
import { traces } from "./traces.js";

/** What is told of a change, at the end of the backward pass or before it.
 * @param {string} which @param {string} name of the input @param {number} cell @param {boolean} ended */
function told(which, name, cell = 0, ended = true) {
  const [before, after] = traces.changes[which].map((data) => new TraceStates(data));
  const change = new Change();
  change.begin(before, ended, name, cell);
  const story = storyOfChange(change, after);
  return story && [story.phase, story.sentence, story.note, story.equation.map(({ text }) => text).join(" ")];
}

for (const [which, name, cell, expected] of /** @type {[string, string, number, string[]][]} */ ([
  [
    "line",
    "a",
    0,
    [
      "a: 2 → 2.5",
      "Predicted 2.5 (gradient × change). Now out is 2.5.",
      "The prediction is exact for this change.",
      "2.5 2.5",
    ],
  ],
  [
    "curve",
    "a",
    0,
    [
      "a: 2 → 2.1",
      "Predicted 4.4 (gradient × change). Now out is 4.41.",
      "A gradient is the slope at one point: the two come closer for a smaller change, and part at a bend or a kink.",
      "4.4 4.41",
    ],
  ],
  [
    "kink",
    "a",
    0,
    [
      "a: 1 → −2",
      "Predicted 0 (gradient × change). Now out is 2.",
      "A gradient is the slope at one point: the two come closer for a smaller change, and part at a bend or a kink.",
      "0 2",
    ],
  ],
  [
    "still",
    "a",
    0,
    ["a: −2 → −1", "Predicted 2 (gradient × change). Now out is 2.", "The prediction is exact for this change.", "2 2"],
  ],
])) {
  test(`${which}: what the gradient predicted stands next to what happened`, () => {
    assert.deepEqual(told(which, name, cell), expected);
  });
}

test("a cell of an array is predicted by its own gradient", () => {
  const [phase, sentence] = told("cell", "v", 1) ?? [];
  assert.equal(phase, "v[1]: 2 → 2.5");
  assert.equal(sentence, "Predicted 16 (gradient × change). Now out is 16.25.");
  assert.equal(told("cell", "v", 0), null); // another cell has changed
});

test("before the backward pass nothing is predicted", () => {
  assert.deepEqual(told("curve", "a", 0, false), [
    "a: 2 → 2.1",
    "a moves by +0.1, and out moves by +0.41: 4.1 for each 1 of a.",
    "Run the backward pass: does the gradient of a say the same?",
    "4 → 4.41",
  ]);
});

test("a result that is not a number is told as it is", () => {
  assert.equal(told("nan", "a")?.[1], "Predicted −2 (gradient × change). Now out is NaN.");
});

test("if another input has changed too, the prediction starts again", () => {
  const [before, after] = traces.changes.both.map((data) => new TraceStates(data));
  const change = new Change();
  change.begin(before, true, "a", 0);
  assert.equal(storyOfChange(change, after), null);
  assert.equal(change.base, after);
});

test("a move goes on until the number is released", () => {
  const [before, after] = traces.changes.curve.map((data) => new TraceStates(data));
  const change = new Change();
  change.begin(before, true, "a", 0);
  change.begin(after, true, "a", 0);
  assert.equal(change.base, before);
  change.release();
  assert.ok(storyOfChange(change, after)); // it is still told
  change.begin(after, true, "a", 0);
  assert.equal(change.base, after);
  change.begin(before, true, "b", 0);
  assert.equal(change.name, "b");
});
