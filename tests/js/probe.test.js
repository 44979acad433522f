import assert from "node:assert/strict";
import { test } from "node:test";

import { differenceText } from "../../static/player/probe.js";

const asked = { name: "a", cell: 0, h: 0.1 };

test("what rounding leaves is no difference", () => {
  assert.equal(differenceText({ ...asked, predicted: 0.3, actual: 0.1 + 0.2 }, 70), "0, but for rounding");
  assert.equal(differenceText({ ...asked, predicted: 3.1, actual: 3.0999999999999943 }, 70), "0, but for rounding");
  assert.equal(differenceText({ ...asked, predicted: 1e-9, actual: 1e-9 + 1e-10 }, [1e6, 3]), "0, but for rounding");
  assert.equal(differenceText({ ...asked, predicted: 0, actual: 0 }, 0), "0, but for rounding");
});

test("a true difference is told, however small", () => {
  assert.equal(differenceText({ ...asked, predicted: 3.1, actual: 3.446 }, 70), "0.346");
  assert.equal(differenceText({ ...asked, predicted: 0, actual: -1e-8 }, 2), "−1e−8");
  assert.equal(differenceText({ ...asked, predicted: 1e-20, actual: 2e-20 }, 0), "1e−20");
});

test("an infinite change is told as it is", () => {
  assert.equal(differenceText({ ...asked, predicted: 1, actual: "inf" }, 2), "∞");
  assert.equal(differenceText({ ...asked, predicted: 1, actual: "nan" }, "nan"), "NaN");
});
