/** Reading numbers back out of what the player writes. */

import assert from "node:assert/strict";

import { flat, toNumber } from "../../static/player/format.js";

/** @import { Value } from "../../static/types.js" */

const NUMBER = /(?<![\w.])−?(?:∞|NaN|\d+(?:\.\d+)?(?:e−?\d+)?)/gu;

/** @param {string} text */
export function numbersIn(text) {
  return (text.match(NUMBER) ?? []).map((found) => Number(found.replaceAll("−", "-").replace("∞", "Infinity")));
}

/** A shape instead of the numbers: "(2, 3)", "(60,)". @param {string} text */
export function isShape(text) {
  return /^\((\d+,|\d+(, \d+)+)\)$/.test(text);
}

/** Whether a text says this value, to four digits; of a long array its shape. @param {string} text @param {Value} value
 * @param {string} where */
export function says(text, value, where) {
  const wanted = flat(value).map(toNumber);
  if (wanted.length > 4) {
    assert.ok(isShape(text), `${where}: "${text}" is not the shape of ${JSON.stringify(value)}`);
    assert.equal(
      numbersIn(text).reduce((product, length) => product * length, 1),
      wanted.length,
      where,
    );
    return;
  }
  const found = numbersIn(text);
  assert.equal(found.length, wanted.length, `${where}: "${text}" for ${JSON.stringify(value)}`);
  found.forEach((x, i) => assert.ok(near(x, wanted[i]), `${where}: "${text}" for ${JSON.stringify(value)}`));
}

/** Equal to four digits, or as the engine rounds. @param {number} x @param {number} y */
export function near(x, y, relative = 6e-4) {
  return Object.is(x, y) || x === y || Math.abs(x - y) <= relative * Math.max(Math.abs(x), Math.abs(y));
}

/** The cell of an array that belongs to a cell of a result of this shape, as NumPy broadcasts; written without the
 * player's own functions. @param {Value} value @param {number[]} shape @param {number[]} index of the result's cell */
export function broadcastCell(value, shape, index) {
  let depth = 0;
  for (let inner = value; Array.isArray(inner); inner = inner[0]) depth += 1;
  let inner = value;
  for (const at of index.slice(shape.length - depth)) {
    if (!Array.isArray(inner)) throw new Error("The operand has too few axes.");
    inner = inner[Math.min(at, inner.length - 1)];
  }
  return inner;
}

/** No choice, then each cell of an array of this shape: its position in reading order, and its index.
 * @param {number[]} shape @returns {{cell: number | null, index: number[] | null}[]} */
export function choices(shape) {
  /** @type {number[][]} */
  let indices = [[]];
  for (const length of shape) indices = indices.flatMap((index) => Array.from({ length }, (_, i) => [...index, i]));
  return [{ cell: null, index: null }, ...indices.map((index, cell) => ({ cell, index }))];
}

/** What a text of numbers, products and sums comes to: "2 × (−3) + 4 · 0.5". @param {string} text */
export function worth(text) {
  return text.split(" + ").reduce((sum, part) => {
    const numbers = part.split(/ [×·] /).map((factor) => {
      const found = numbersIn(factor);
      assert.equal(found.length, 1, `"${factor}" in "${text}" is not one number`);
      return found[0];
    });
    return sum + numbers.reduce((product, x) => product * x, 1);
  }, 0);
}

/** Whether a text of products comes to this number, as far as four digits of each of its numbers can tell.
 * @param {string} text @param {number} number @param {string} where @param {string} [sign] written between the two:
 * "=" only where the digits hold */
export function comesTo(text, number, where, sign) {
  const found = worth(text);
  const size = text.split(" + ").reduce((sum, part) => sum + Math.abs(worth(part)), 0);
  const alike = near(found, number) || !Number.isFinite(size) || Math.abs(found - number) <= 2e-3 * size;
  assert.ok(alike, `${where}: "${text}" comes to ${found}, not to ${number}`);
  const holds = found.toPrecision(9) === number.toPrecision(9) || Math.abs(found - number) <= 1e-12 * size;
  if (sign) assert.equal(sign, holds ? "=" : "≈", where);
}

/** An array of this shape with one number in every cell. @param {Value} like @param {Value} number @returns {Value} */
export function filled(like, number) {
  return Array.isArray(like) ? like.map((inner) => filled(inner, number)) : number;
}
