import assert from "node:assert/strict";
import { test } from "node:test";

import { formatter, short, show, tellPoints } from "../../static/charts/charts.js";

test("numbers of tooltips are written in the formats that the pages ask for", () => {
  const cases = /** @type {const} */ ([
    [undefined, 0.123456, "0.1235"],
    ["%.4g", 1234567, "1235000"],
    ["%.4g", 2, "2"],
    ["%.1f %%", 12.34, "12.3 %"],
    ["%.0f %%", 99.6, "100 %"],
    ["%d", 1234.4, "1234"],
    ["loss %.2f!", -0.456, "loss −0.46!"],
  ]);
  for (const [format, number, text] of cases) assert.equal(formatter(format)(number), text);
});

test("a value that is missing or no number is a dash", () => {
  for (const value of [null, undefined, NaN, Infinity, "-"]) assert.equal(formatter("%.1f %%")(value), "–");
});

test("a format that is none is refused", () => {
  assert.throws(() => formatter("number"), /not a number format/);
});

test("numbers beside an axis have the player's minus sign", () => {
  const cases = /** @type {const} */ ([
    [-0.25, "−0.25"],
    [0.0001, "1e−4"],
    [-1e22, "−1e22"],
    [0, "0"],
  ]);
  for (const [number, text] of cases) assert.equal(short(number), text);
});

test("all numbers beside a linear axis have one form, which its end decides", () => {
  const write = (/** @type {number} */ end) => [0, end / 2, end].map((number) => short(number, end));
  assert.deepEqual(write(1e5), ["0", "5e4", "1e5"]);
  assert.deepEqual(write(5e4), ["0", "25000", "50000"]);
  assert.deepEqual(write(0.001), ["0", "0.0005", "0.001"]);
});

test("points that are clicked are told together, a moment after the last click", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const target = new EventTarget();
  Object.assign(globalThis, { window: target });
  /** @type {number[][][]} */
  const told = [];
  const setStateValue = (/** @type {string} */ _, /** @type {{points: number[][]}} */ value) => told.push(value.points);
  const place = /** @type {ShadowRoot} */ (/** @type {unknown} */ ({ isConnected: false }));
  const ends = tellPoints(/** @type {never} */ ({ parentElement: place, setStateValue }));
  const click = (/** @type {number} */ x) =>
    target.dispatchEvent(new CustomEvent("tensor-ops-lab-point", { detail: [x, 0] }));
  click(1);
  t.mock.timers.tick(60);
  click(2);
  t.mock.timers.tick(60);
  assert.deepEqual(told, [], "there may be another click");
  t.mock.timers.tick(140);
  assert.deepEqual(told, [[[1, 0], [2, 0]]], "nobody waits longer than 0.2 s"); // prettier-ignore
  ends();
  Reflect.deleteProperty(globalThis, "window");
});

test("a payload with a second text behind it for a moment waits for the next change", (t) => {
  const payload = { textContent: '{"tables": false}{"tables": true}' };
  const changes = /** @type {(() => void)[]} */ ([]);
  class Observer {
    /** @param {() => void} change */
    constructor(change) {
      changes.push(change);
    }
    observe() {}
  }
  const page = { document: { body: {}, querySelector: () => payload }, MutationObserver: Observer };
  Object.assign(globalThis, page);
  t.after(() => Object.keys(page).forEach((name) => Reflect.deleteProperty(globalThis, name)));
  const data = new TextEncoder().encode(JSON.stringify({ payload: "payload", keys: [] }));
  assert.doesNotThrow(() => show(/** @type {never} */ ({ data, parentElement: {} })));
  for (const text of ["The training has ended.", '{"tables": true}', ""]) {
    payload.textContent = text;
    assert.doesNotThrow(changes[0]);
  }
});
