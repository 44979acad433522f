import assert from "node:assert/strict";
import { test } from "node:test";

import {
  brief,
  cellOrAll,
  element,
  factor,
  flat,
  indexOf,
  indexText,
  numeral,
  shapeOf,
  shapeText,
  shorten,
  toNumber,
} from "../../static/player/format.js";
import { numbersIn } from "./numbers.js";
import { traces } from "./traces.js";

test("numbers have four digits, a real minus sign and words for what is none", () => {
  const cases = /** @type {const} */ ([
    [0, "0"],
    [-0, "0"],
    [1, "1"],
    [-1.5, "−1.5"],
    [1 / 3, "0.3333"],
    [-2 / 3, "−0.6667"],
    [12345.678, "12346"], // whole digits are never left out
    [123456.7, "123457"],
    [999999.9, "1000000"],
    [1e6, "1e6"],
    [-1234567, "−1.235e6"],
    [1e-4, "0.0001"],
    [0.0000123456, "1.235e−5"],
    ["nan", "NaN"],
    ["inf", "∞"],
    ["-inf", "−∞"],
    [NaN, "NaN"],
    [-Infinity, "−∞"],
    [true, "True"],
    [false, "False"],
  ]);
  for (const [number, text] of cases) assert.equal(numeral(number), text);
});

test("numbers are written as on the pages", () => {
  for (const [number, text] of traces.numbers) assert.equal(numeral(number), text);
});

test("a number can be read back out of its text", () => {
  for (let exponent = -8; exponent <= 8; exponent += 1) {
    for (const mantissa of [1, -2.34567, 9.99995, -7.5]) {
      const x = mantissa * 10 ** exponent;
      const [found] = numbersIn(numeral(x));
      assert.ok(Math.abs(found - x) <= 5.1e-4 * Math.abs(x), `${x} became ${numeral(x)}`);
    }
  }
});

test("factors have brackets where a sign would stand before a sign", () => {
  assert.deepEqual([2, -2, "-inf", "inf", 0].map(/** @type {any} */ (factor)), ["2", "(−2)", "(−∞)", "∞", "0"]);
});

test("arrays are lists up to four elements, then shapes", () => {
  assert.equal(brief([1, -2]), "[1, −2]");
  assert.equal(
    brief([
      [1, "nan"],
      ["-inf", 4],
    ]),
    "[[1, NaN], [−∞, 4]]",
  );
  assert.equal(brief([1, 2, 3, 4, 5]), "(5,)");
  assert.equal(
    brief([
      [1, 2, 3],
      [4, 5, 6],
    ]),
    "(2, 3)",
  );
  assert.equal(brief([]), "[]");
});

test("shapes and positions are counted as in NumPy", () => {
  const value = [[[1, 2, 3]], [[4, 5, 6]]];
  assert.deepEqual(shapeOf(value), [2, 1, 3]);
  assert.deepEqual(shapeOf(7), []);
  assert.deepEqual([[], [3], [2, 3]].map(shapeText), ["()", "(3,)", "(2, 3)"]);
  assert.deepEqual(flat(value), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(indexOf([2, 1, 3], 4), [1, 0, 1]);
  assert.equal(indexText([2, 1, 3], 4), "[1, 0, 1]");
  assert.equal(indexText([2, 1, 3], 4, [2, 1, 8]), "[1, 0, 3]"); // of the last axis every third was kept
  assert.equal(element(value, 4), 5);
  assert.equal(element(8, 4), 8);
});

test("a cell that an array does not have is the whole array", () => {
  assert.equal(cellOrAll([1, 2], 1), 2);
  assert.equal(cellOrAll(3, 5), 3);
  assert.deepEqual(cellOrAll([1, 2], null), [1, 2]);
  assert.deepEqual(cellOrAll([1, 2], 2), [1, 2]);
});

test("words for numbers are numbers again", () => {
  assert.deepEqual([2, "nan", "inf", "-inf"].map(/** @type {any} */ (toNumber)), [2, NaN, Infinity, -Infinity]);
});

test("long names are cut to the length", () => {
  assert.equal(shorten("abcdef", 6), "abcdef");
  assert.equal(shorten("abcdefg", 6), "abcde…");
});
