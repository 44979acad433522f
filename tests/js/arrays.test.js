import assert from "node:assert/strict";
import { test } from "node:test";

import { bitmap, heat, isDark, largestOf, luminance, notFinite, PALETTES } from "../../static/player/arrays.js";
import { flat, toNumber } from "../../static/player/format.js";
import { gridOf } from "../../static/player/layout.js";

/** @import { Scalar } from "../../static/types.js" */

/** The pixels of a bitmap, row by row from the top, as [red, green, blue]. @param {string} address */
function pixels(address) {
  const [head, text] = address.split(",");
  assert.equal(head, "data:image/bmp;base64");
  const bytes = Buffer.from(text, "base64");
  assert.equal(bytes.toString("latin1", 0, 2), "BM");
  assert.equal(bytes.readUInt32LE(2), bytes.length);
  const [start, width, height] = [bytes.readUInt32LE(10), bytes.readInt32LE(18), -bytes.readInt32LE(22)];
  assert.ok(height > 0, "a positive height would turn the picture upside down");
  assert.equal(bytes.readUInt16LE(28), 24);
  const line = Math.ceil((width * 3) / 4) * 4; // rows begin at multiples of four bytes
  assert.equal(bytes.length, start + line * height);
  return Array.from({ length: height }, (_, row) =>
    Array.from({ length: width }, (_unused, column) => {
      const at = start + row * line + column * 3;
      return [bytes[at + 2], bytes[at + 1], bytes[at]];
    }),
  );
}

test("a bitmap has the colour of each number in its place", () => {
  for (const [rows, columns] of [
    [1, 1],
    [1, 3],
    [3, 1],
    [2, 5],
    [24, 24],
  ]) {
    /** @type {Scalar[][]} */
    const value = Array.from({ length: rows }, (_, i) =>
      Array.from({ length: columns }, (_unused, j) => (i * columns + j === 1 ? "nan" : Math.sin(i * 7 + j * 3) * 10)),
    );
    const largest = largestOf(flat(value).map(toNumber));
    const wanted = value.map((row) => row.map((x) => heat(toNumber(x), largest)));
    assert.deepEqual(pixels(bitmap(value, gridOf([rows, columns]))), wanted);
  }
});

test("of a large array a bitmap shows the first rows and columns", () => {
  const value = Array.from({ length: 30 }, (_, i) => Array.from({ length: 100 }, (_unused, j) => i * 100 + j));
  const found = pixels(bitmap(value, gridOf([30, 100])));
  assert.deepEqual([found.length, found[0].length], [24, 24]);
  assert.deepEqual(found[23][23], heat(2323, 2999));
});

test("colours go from blue over paper to orange, and tell what is no number", () => {
  const [blue, paper, orange, none] = [heat(-5, 5), heat(0, 5), heat(5, 5), heat(NaN, 5)];
  assert.ok(blue[2] > blue[0] && orange[0] > orange[2]);
  assert.ok(Math.min(...paper) > 230);
  assert.equal(new Set([blue, paper, orange, none].map(String)).size, 4);
  assert.deepEqual(heat(Infinity, 5), none);
  assert.deepEqual(heat(0, 0), paper); // all are 0
  assert.deepEqual(heat(3, Infinity), heat(0, 5)); // the share of infinity is 0
});

test("digits have enough contrast on every colour of a cell", () => {
  assert.equal(luminance([255, 255, 255]), 1);
  for (const palette of Object.values(PALETTES)) {
    for (const x of [NaN, ...Array.from({ length: 401 }, (_, at) => at / 200 - 1)]) {
      const colour = heat(x, 1, palette);
      const light = luminance(colour) + 0.05;
      assert.ok((isDark(colour) ? 1.05 / light : light / 0.05) >= 4.5, `rgb(${colour})`);
    }
  }
});

test("what is not finite is counted", () => {
  assert.equal(notFinite([1, "nan", ["inf", "-inf", "nan"]]), "2 NaN, 2 ∞");
  assert.equal(notFinite([1, 2]), "");
  assert.equal(notFinite("inf"), "1 ∞");
  assert.equal(largestOf([1, -3, Infinity, NaN]), 3);
});
