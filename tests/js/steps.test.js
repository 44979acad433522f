import assert from "node:assert/strict";
import { test } from "node:test";

import { axis, extent, lineThrough, scale } from "../../static/steps/scales.js";

test("a straight line is cut where it leaves the box", () => {
  assert.deepEqual(lineThrough(2, 0, [-10, 0], [-8, 1]), [
    [-4, -8],
    [0, 0],
  ]);
  assert.deepEqual(lineThrough(-1, -10, [-16, 0], [-12, 4]), [
    [-14, 4],
    [0, -10],
  ]);
  assert.equal(lineThrough(1, 100, [-16, 0], [-12, 4]), null);
});

test("a range has room, also around one number and around none", () => {
  assert.deepEqual(extent([]), [-1, 1]);
  const [low, high] = extent([3, -1]);
  assert.ok(low < -1 && high > 3);
  assert.equal(scale([low, high], [0, 100])(high), 100);
});

test("an axis names few powers of ten", () => {
  assert.deepEqual(axis(-11, 1), [-11, -8, -5, -2, 1]);
  assert.ok(axis(-300, 2).length <= 6);
});
