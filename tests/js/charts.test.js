import assert from "node:assert/strict";
import { test } from "node:test";

import { announce, teller as tellerAt } from "../../static/charts/channel.js";
import { Feed, formatter, numbers, short } from "../../static/charts/charts.js";
import { nameOf } from "../../static/charts/data_table.js";

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

test("a table says how many of its rows it shows, if not all", () => {
  const rows = [["1"], ["3"]];
  assert.equal(nameOf({ headers: ["x"], rows, of: 3 }), "As a table: 2 of 3 rows");
  for (const of of [undefined, 0, 2]) assert.equal(nameOf({ headers: ["x"], rows, of }), "As a table");
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

test("the line of 0 on one logarithmic axis is a number on the other", () => {
  const axes = /** @type {any[]} */ (numbers({ yAxis: [{ type: "log" }, { type: "log" }] }, 0.001).yAxis);
  const texts = axes.map((axis) => axis.axisLabel.formatter(0.001));
  assert.deepEqual(texts, ["0", "0.001"]);
});

test("all numbers beside a linear axis have one form, which its end decides", () => {
  const write = (/** @type {number} */ end) => [0, end / 2, end].map((number) => short(number, end));
  assert.deepEqual(write(1e5), ["0", "5e4", "1e5"]);
  assert.deepEqual(write(5e4), ["0", "25000", "50000"]);
  assert.deepEqual(write(0.001), ["0", "0.0005", "0.001"]);
});

/** @param {string} tells @returns {{told: unknown[], kept: unknown[], end: () => void}} */
function teller(tells) {
  const [told, kept] = [/** @type {unknown[]} */ ([]), /** @type {unknown[]} */ ([])];
  const root = /** @type {ShadowRoot} */ (/** @type {unknown} */ ({}));
  const place = {
    root,
    tell: (/** @type {unknown[]} */ ...parts) => told.push(parts),
    keep: (/** @type {unknown[]} */ ...parts) => kept.push(parts),
  };
  return { told, kept, end: tellerAt(/** @type {never} */ (place), tells).remove };
}

test("points that are clicked are told together, a moment after the last click", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { kept, end } = teller("points");
  announce("point", [1, 0]);
  t.mock.timers.tick(60);
  announce("point", [2, 0]);
  t.mock.timers.tick(60);
  assert.deepEqual(kept, [], "there may be another click");
  t.mock.timers.tick(140);
  const [[, { points }]] = /** @type {[string, {points: number[][]}][]} */ (kept);
  assert.deepEqual(points, [[1, 0], [2, 0]], "nobody waits longer than 0.2 s"); // prettier-ignore
  end();
  announce("point", [3, 0]);
  t.mock.timers.tick(500);
  assert.equal(kept.length, 1, "it has left the page");
});

test("each teller tells of its own charts", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const all = ["epoch", "points", "network"].map(teller);
  announce("epoch", 7);
  announce("change", { hidden: "4 4" });
  announce("open", [1, 2]);
  announce("unit", "1.2");
  announce("unit", null);
  announce("unit", "1.3");
  t.mock.timers.tick(500);
  assert.deepEqual(
    all.map(({ told }) => told),
    [
      [["epoch", 7]],
      [],
      [
        ["change", { hidden: "4 4" }],
        ["open", [1, 2]],
      ],
    ],
  );
  assert.deepEqual(
    all.map(({ kept }) => kept),
    [[], [], [["unit", "1.3"]]],
    "a unit only once the pointer rests",
  );
  all.forEach(({ end }) => end());
});

test("a feed with a second text behind it for a moment waits for the next change", (t) => {
  const box = { textContent: '{"tables": false}{"tables": true}' };
  const changes = /** @type {(() => void)[]} */ ([]);
  class Observer {
    /** @param {() => void} change */
    constructor(change) {
      changes.push(change);
    }
    observe() {}
    disconnect() {}
  }
  Object.assign(globalThis, { MutationObserver: Observer });
  t.after(() => Reflect.deleteProperty(globalThis, "MutationObserver"));
  const root = { closest: (/** @type {string} */ selector) => selector === ".st-key-feed-one" && box };
  const feed = new Feed(/** @type {never} */ ({ root }), "feed-one");
  feed.show();
  const payloads = ["The training has ended.", '{"tables": true}', ""].map((text) => {
    box.textContent = text;
    changes[0]();
    return feed.payload;
  });
  assert.deepEqual(payloads, [{}, { tables: true }, { tables: true }]);
  feed.remove();
});
