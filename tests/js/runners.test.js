import assert from "node:assert/strict";
import { test } from "node:test";

import { passesOfLane, passesAt, placeOf } from "../../static/runners/pace.js";

test("passes only grow, and end at the total", () => {
  for (const total of [2, 6, 2000, 2e12]) {
    let last = 0;
    for (let time = 0; time <= 6; time += 0.01) {
      const passes = passesAt(time, total);
      assert.ok(passes >= last && passes <= total);
      last = passes;
    }
    assert.equal(passesAt(6, total), total);
    assert.equal(passesAt(Infinity, total), total);
  }
  assert.equal(passesAt(0.8, 2), 2); // the two of reverse mode are seen
});

test("one runner after the other runs forward twice", () => {
  assert.deepEqual(
    [0, 1, 2].map((lane) => passesOfLane(2.5, lane, 2)),
    [2, 0.5, 0],
  );
  assert.equal(placeOf(0.5), 0.5);
  assert.equal(placeOf(1.5), 0.5);
  assert.equal(placeOf(2), 1);
});
