/** Functions that write numbers and arrays as short texts. */

/** @import { Scalar, Value } from "../types.js" */

/** Convert a scalar of the trace to a JavaScript number. @param {Scalar} value */
export function toNumber(value) {
  return typeof value === "string" ? { nan: NaN, inf: Infinity, "-inf": -Infinity }[value] : Number(value);
}

/** Round a number as `numeral` does: to four significant digits, or all before the point. @param {Value} value */
export function rounded(value) {
  const x = numberOf(value);
  const whole = Math.abs(x) < 1e6 ? Math.floor(Math.log10(Math.abs(x))) + 1 : 0;
  return x === 0 || !Number.isFinite(x) ? x : Number(x.toPrecision(Math.max(4, whole)));
}

/** Write a number with four significant digits and a real minus sign; a boolean as in Python. @param {Scalar} value */
export function numeral(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  const x = toNumber(value);
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const size = Math.abs(x);
  let text = String(rounded(x));
  if (size >= 1e6 || (size < 1e-4 && size > 0)) {
    const [mantissa, exponent] = x.toExponential(3).split("e");
    text = `${Number(mantissa)}e${Number(exponent)}`;
  }
  return text.replaceAll("-", "−");
}

/** Write a number for a formula, in brackets if it is negative. @param {Scalar} value */
export function factor(value) {
  const text = numeral(value);
  return text.startsWith("−") ? `(${text})` : text;
}

/** Return a value's shape: [] for a single number. @param {Value} value */
export function shapeOf(value) {
  /** @type {number[]} */
  const shape = [];
  for (let inner = value; Array.isArray(inner); inner = inner[0]) shape.push(inner.length);
  return shape;
}

/** Write a shape as Python does. @param {number[]} shape */
export function shapeText(shape) {
  return shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
}

/** Return all elements in reading order. @param {Value} value @returns {Scalar[]} */
export function flat(value) {
  return Array.isArray(value) ? value.flatMap(flat) : [value];
}

/** Return the first element as a number. @param {Value} value */
export function numberOf(value) {
  return toNumber(flat(value)[0]);
}

/** Return the element at a position in reading order. A single number stands for every position.
 * @param {Value} value @param {number} position */
export function element(value, position) {
  return Array.isArray(value) ? flat(value)[position] : value;
}

/** Return the chosen cell of an array, or the whole array if no cell is chosen or it has no such cell.
 * @param {Value} value @param {number | null} cell */
export function cellOrAll(value, cell) {
  return cell === null ? value : (element(value, cell) ?? value);
}

/** Convert a position in reading order to an index. @param {number[]} shape @param {number} position */
export function indexOf(shape, position) {
  /** @type {number[]} */
  const index = [];
  for (const length of [...shape].reverse()) {
    index.unshift(position % length);
    position = Math.floor(position / length);
  }
  return index;
}

/** Return the operand's element that broadcasting pairs with a cell of an array of the given shape.
 * @param {Value} value the operand @param {number[]} shape @param {number | null} cell null for the whole operand */
export function broadcastCell(value, shape, cell) {
  if (cell === null || !Array.isArray(value)) return value;
  return element(value, operandCell(shape, shapeOf(value), cell));
}

/** Return the operand's cell that broadcasting copied to a cell of a larger array, both by position in reading order.
 * @param {number[]} shape of the larger array @param {number[]} own shape of the operand @param {number} cell */
export function operandCell(shape, own, cell) {
  const index = indexOf(shape, cell).slice(shape.length - own.length);
  return own.reduce((position, length, axis) => position * length + (length === 1 ? 0 : index[axis]), 0);
}

/** Write the index of a position: "[1, 0]" for position 2 of a (3, 2) array. @param {number[]} shape
 * @param {number} position @param {number[]} full the shape in the program, if the trace kept only every n-th cell */
export function indexText(shape, position, full = shape) {
  const index = indexOf(shape, position).map((at, axis) => at * Math.ceil(full[axis] / shape[axis]));
  return `[${index.join(", ")}]`;
}

/** Write a number, a short array in full, or the shape of a longer one. @param {Value} value
 * @param {number[]} full its shape in the program, if the trace kept only some cells */
export function brief(value, full = shapeOf(value)) {
  if (!Array.isArray(value)) return numeral(value);
  return flat(value).length > 4 ? shapeText(full) : listed(value);
}

/** Write a value with all its numbers, arrays in brackets. @param {Value} value @returns {string} */
function listed(value) {
  return Array.isArray(value) ? `[${value.map(listed).join(", ")}]` : numeral(value);
}

/** Cut a text to a length, with "…" at the end. @param {string} text @param {number} length */
export function shorten(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** Nest numbers in reading order into an array. @param {Scalar[]} numbers @param {number[]} shape @returns {Value} */
export function nested(numbers, shape) {
  if (!shape.length) return numbers[0];
  const size = numbers.length / shape[0];
  return Array.from({ length: shape[0] }, (_, i) => nested(numbers.slice(i * size, (i + 1) * size), shape.slice(1)));
}
