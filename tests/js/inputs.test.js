import assert from "node:assert/strict";
import { test } from "node:test";

import { Sender } from "../../static/player/inputs.js";

/** A sender, and the numbers of the messages that it has sent. */
function recording() {
  /** @type {number[]} */
  const sent = [];
  return { sent, sender: new Sender((sequence) => sent.push(sequence)) };
}

test("never more than two updates are unanswered", () => {
  const { sent, sender } = recording();
  for (let i = 0; i < 10; i++) sender.push();
  assert.deepEqual(sent, [1, 2]);
  sender.answered(1);
  assert.deepEqual(sent, [1, 2, 3]);
  sender.answered(1); // again: nothing new
  assert.deepEqual(sent, [1, 2, 3]);
  sender.answered(3); // without 2, which came too late to be computed
  assert.deepEqual(sent, [1, 2, 3]);
  sender.answered(7); // of an earlier player on the page
  for (let i = 0; i < 10; i++) sender.push();
  assert.deepEqual(sent, [1, 2, 3, 8, 9]);
  sender.answered(9);
  assert.deepEqual(sent, [1, 2, 3, 8, 9, 10]);
  sender.destroy();
});

test("the last change is always sent, however the answers come", () => {
  for (let pattern = 0; pattern < 64; pattern += 1) {
    const { sent, sender } = recording();
    let changes = 0;
    /** @type {Map<number, number>} message -> how many changes it has */
    const told = new Map();
    sender.send = (sequence) => {
      sent.push(sequence);
      told.set(sequence, changes);
    };
    for (let step = 0; step < 6; step += 1) {
      if ((pattern >> step) & 1) {
        changes += 1;
        sender.push();
      } else if (sent.length) sender.answered(sent[Math.min(step, sent.length - 1)]);
    }
    for (let i = 0; i < 4 && sent.length; i++) sender.answered(/** @type {number} */ (sent.at(-1)));
    if (changes) assert.equal(told.get(/** @type {number} */ (sent.at(-1))), changes, pattern.toString(2));
    assert.deepEqual(
      sent,
      sent.map((_, i) => i + 1),
    );
    sender.destroy();
  }
});

test("a server that never answers is given up after three seconds", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { sent, sender } = recording();
  for (let i = 0; i < 5; i++) sender.push();
  context.mock.timers.tick(2999);
  assert.deepEqual(sent, [1, 2]);
  context.mock.timers.tick(1);
  assert.deepEqual(sent, [1, 2, 3]);
  context.mock.timers.tick(10_000);
  assert.deepEqual(sent, [1, 2, 3]); // nothing has changed since
  sender.destroy();
});
