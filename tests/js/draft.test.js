import assert from "node:assert/strict";
import { test } from "node:test";

import { Draft } from "../../static/practice/draft.js";
import { hashed } from "../../static/progress/hash.js";

/** A browser's storage with room for so many characters. */
class Room {
  /** @param {number} room */
  constructor(room) {
    this.room = room;
    /** @type {Map<string, string>} */
    this.all = new Map();
  }

  /** @param {string} place */
  getItem(place) {
    return this.all.get(place) ?? null;
  }

  /** @param {string} place @param {string} text */
  setItem(place, text) {
    const others = [...this.all].filter(([other]) => other !== place);
    if (others.reduce((sum, [, one]) => sum + one.length, text.length) > this.room) throw new Error("no room");
    this.all.set(place, text);
  }
}

const copyOf = (/** @type {string} */ text, note = "") => ({ when: "2026-01-02T03:04:05.000Z", text, note });

test("a text comes back, to the letter", () => {
  const storage = new Room(1000);
  const text = "def f(x):\n\treturn x  # <b>ü</b>\n";
  assert.equal(new Draft("scalars", () => storage).text(), null);
  assert.equal(new Draft("scalars", () => storage).write(text), true);
  assert.equal(new Draft("scalars", () => storage).text(), text);
  assert.equal(new Draft("tensors", () => storage).text(), null);
});

test("copies are in the order of time, and one like the last only gets its note", () => {
  const room = new Room(10_000);
  const draft = new Draft("scalars", () => room);
  draft.copy(copyOf("a"));
  draft.copy(copyOf("b"));
  draft.copy(copyOf("b", "passed"));
  assert.deepEqual(
    draft.copies().map(({ text, note }) => [text, note]),
    [
      ["a", ""],
      ["b", "passed"],
    ],
  );
});

test("there are forty copies at most, the latest", () => {
  const room = new Room(1e6);
  const draft = new Draft("scalars", () => room);
  for (let i = 0; i < 60; i++) draft.copy(copyOf(`text ${i}`));
  assert.deepEqual(
    draft.copies().map(({ text }) => text),
    Array.from({ length: 40 }, (_, i) => `text ${i + 20}`),
  );
});

test("of large texts there are fewer copies, and of the largest still one", () => {
  const room = new Room(1e7);
  const draft = new Draft("scalars", () => room);
  for (let i = 0; i < 20; i++) draft.copy(copyOf(String(i).padEnd(100_000)));
  assert.deepEqual(draft.copies().length, 10);
  assert.equal(draft.copies().at(-1)?.text.trim(), "19");
  draft.copy(copyOf("x".repeat(2_000_000)));
  assert.equal(draft.copies().length, 1);
});

test("copies go where there is no room for the text; the text goes never", () => {
  const room = new Room(1000);
  const draft = new Draft("scalars", () => room);
  for (let i = 0; i < 8; i++) draft.copy(copyOf(String(i).padEnd(40)));
  assert.equal(draft.write("x".repeat(800)), true);
  assert.equal(draft.text()?.length, 800);
  assert.equal(draft.copies().at(-1)?.text.trim(), "7");
  assert.equal(draft.copy(copyOf("y".repeat(500))), false);
  assert.equal(draft.text()?.length, 800);
});

test("a browser that keeps nothing says so", () => {
  const none = () => {
    throw new Error("denied");
  };
  const draft = new Draft("scalars", none);
  assert.equal(draft.text(), null);
  assert.equal(draft.write("a"), false);
  assert.equal(draft.copy(copyOf("a")), false);
  assert.deepEqual(draft.copies(), []);
});

test("what is damaged in the storage counts as nothing", () => {
  const storage = new Room(1000);
  const draft = new Draft("scalars", () => storage);
  for (const text of ["{", "7", "null", '[{"when": 1}, null, 3]']) {
    storage.setItem("tensor-ops-lab copies scalars", text);
    assert.deepEqual(draft.copies(), []);
  }
});

test("what a check found is with the text that it checked, as data", () => {
  const room = new Room(10_000);
  const draft = new Draft("scalars", () => room);
  draft.copy(copyOf("whole"));
  draft.addResult(hashed("whole"), "Everything is passed.", 8);
  draft.copy(copyOf("half"));
  draft.addResult(hashed("half"), "One fails.", 3);
  draft.addResult(hashed("another"), "Of no copy.", 8);
  draft.write("half done");
  assert.deepEqual(
    draft.copies().map(({ text, passed }) => [text, passed]),
    [
      ["whole", 8],
      ["half", 3],
    ],
  );
  assert.equal(draft.finished(8), "whole");
  assert.equal(draft.finished(9), "half done"); // a task has been added
});
