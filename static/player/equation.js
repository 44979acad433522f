/** The sign before the result of an equation: "=" if the digits shown hold, otherwise "≈". */

import { broadcastCell, flat, rounded, shapeOf, toNumber } from "./format.js";

/** @import { Product } from "./arithmetic.js" */
/** @import { TraceNode, Value } from "../types.js" */

const [DECIMAL_ROUNDING, ENGINE_ROUNDING] = [1e-12, 1e-6]; // relative: of numbers of a few digits, of float32
/** @type {Record<string, (a: number, b: number) => number[]>} */
const TERMS = { "+": (a, b) => [a, b], "-": (a, b) => [a, -b], "*": (a, b) => [a * b], "/": (a, b) => [a / b] };

/** Return the sign between values and their sum: "≠" if they do not add up to it, "→" if only sizes are known.
 * @param {Value[]} values single numbers are added to every cell @param {Value} sum
 * @param {Pick<TraceNode, "precision" | "sizes">} of the node whose gradients they are */
export function sumSign(values, sum, { precision = { eps: 0, most: Infinity }, sizes } = {}) {
  if (sizes) return "→";
  const [due, ...parts] = [sum, ...values].map((value) => flat(value).map(toNumber));
  const at = (/** @type {number} */ cell) => parts.map((part) => part[part.length === 1 ? 0 : cell]);
  const alike = parts.every(({ length }) => length === 1 || length === due.length);
  const relative = Math.max(ENGINE_ROUNDING, parts.length * precision.eps);
  if (!alike || !due.every((number, cell) => addsUp(at(cell), number, relative, precision.most))) return "≠";
  return equals(sum, (cell) => at(cell).map(rounded));
}

/** Return the sign between products and their sum. @param {Value} sum
 * @param {(cell: number) => Product[] | null} products of a cell, null if unknown */
export function productSign(sum, products) {
  return equals(sum, (cell) => products(cell)?.map(({ upstream, local }) => rounded(upstream) * rounded(local)));
}

/** Return the sign between an operation and its result. A function's is "=" if no number is rounded, or if it only
 * picks numbers. @param {string | null} symbol @param {Value[]} operands @param {Value} result */
export function operationSign(symbol, operands, result) {
  const terms = TERMS[symbol ?? ""];
  const at = (/** @type {number} */ cell) => operands.map((one) => rounded(broadcastCell(one, shapeOf(result), cell)));
  if (terms && operands.length === 2) return equals(result, (cell) => terms(at(cell)[0], at(cell)[1]));
  const [all, read] = [result, operands].map((value) => flat(value).map(toNumber));
  if (all.length > 4 || all.every((x) => [0, ...read.map(Math.abs)].includes(Math.abs(x)))) return "=";
  return [...all, ...read].every((x) => addsUp([rounded(x)], x, DECIMAL_ROUNDING)) ? "=" : "≈";
}

/** Return the sign before a result. @param {Value} result
 * @param {(cell: number) => number[] | undefined} terms what adds up to a cell, in the digits shown */
function equals(result, terms) {
  if (flat(result).length > 4) return "="; // without digits
  const due = flat(result).map(rounded);
  return due.every((sum, cell) => addsUp(terms(cell) ?? [sum], sum, DECIMAL_ROUNDING)) ? "=" : "≈";
}

/** Return whether terms add up to a sum. @param {number[]} terms @param {number} sum @param {number} relative error
 * @param {number} most the largest number */
function addsUp(terms, sum, relative, most = Infinity) {
  const [found, size] = terms.reduce(([total, all], x) => [total + x, all + Math.abs(x)], [0, 0]);
  const overflows = Math.abs(found) >= most * (1 - relative) && sum === found * Infinity;
  return Object.is(found, sum) || Math.abs(found - sum) <= relative * size || overflows;
}
