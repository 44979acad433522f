/** Numbers and arrays as short texts. */

/** @import { Scalar, Value } from "../types.js" */

/** @param {Scalar} value */
export function toNumber(value) {
  return typeof value === "string" ? { nan: NaN, inf: Infinity, "-inf": -Infinity }[value] : Number(value);
}

/** Four significant digits, with a real minus sign; truth as Python writes it. @param {Scalar} value */
export function numeral(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  const x = toNumber(value);
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  let text;
  if (size >= 1e6 || size < 1e-4) {
    const [mantissa, exponent] = x.toExponential(3).split("e");
    text = `${Number(mantissa)}e${Number(exponent)}`;
  } else {
    text = String(Number(x.toPrecision(Math.max(4, Math.floor(Math.log10(size)) + 1))));
  }
  return text.replaceAll("-", "−");
}

/** A number inside a formula: negative ones in brackets. @param {Scalar} value */
export function factor(value) {
  const text = numeral(value);
  return text.startsWith("−") ? `(${text})` : text;
}

/** @param {Value} value */
export function shapeOf(value) {
  /** @type {number[]} */
  const shape = [];
  for (let inner = value; Array.isArray(inner); inner = inner[0]) shape.push(inner.length);
  return shape;
}

/** As Python writes a shape. @param {number[]} shape */
export function shapeText(shape) {
  return shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
}

/** All elements in reading order. @param {Value} value @returns {Scalar[]} */
export function flat(value) {
  return Array.isArray(value) ? value.flatMap(flat) : [value];
}

/** The element at a position, counted in reading order; a single number stands for every position.
 * @param {Value} value @param {number} position */
export function element(value, position) {
  return Array.isArray(value) ? flat(value)[position] : value;
}

/** The chosen cell of an array; all of it where none is chosen, or where it has no such cell.
 * @param {Value} value @param {number | null} cell */
export function cellOrAll(value, cell) {
  return cell === null ? value : (element(value, cell) ?? value);
}

/** The index of a position, counted in reading order. @param {number[]} shape @param {number} position */
export function indexOf(shape, position) {
  /** @type {number[]} */
  const index = [];
  for (const length of [...shape].reverse()) {
    index.unshift(position % length);
    position = Math.floor(position / length);
  }
  return index;
}

/** What an operand has for a cell of an array of this shape: it may have fewer axes, or axes of length 1.
 * @param {Value} value @param {number[]} shape @param {number | null} cell null for all of it */
export function broadcastCell(value, shape, cell) {
  if (cell === null || !Array.isArray(value)) return value;
  const own = shapeOf(value);
  const index = indexOf(shape, cell).slice(shape.length - own.length);
  return element(
    value,
    own.reduce((position, length, axis) => position * length + (length === 1 ? 0 : index[axis]), 0),
  );
}

/** "[1, 0]" for position 2 of a (3, 2) array. @param {number[]} shape @param {number} position
 * @param {number[]} full the shape in the program, of which every second, third, ... cell along an axis was kept */
export function indexText(shape, position, full = shape) {
  const index = indexOf(shape, position).map((at, axis) => at * Math.ceil(full[axis] / shape[axis]));
  return `[${index.join(", ")}]`;
}

/** A number, a short array in full, or the shape of a longer one. @param {Value} value
 * @param {number[]} full its shape in the program, of which some cells were kept */
export function brief(value, full = shapeOf(value)) {
  if (!Array.isArray(value)) return numeral(value);
  return flat(value).length > 4 ? shapeText(full) : listed(value);
}

/** @param {Value} value @returns {string} */
function listed(value) {
  return Array.isArray(value) ? `[${value.map(listed).join(", ")}]` : numeral(value);
}

/** Long names would not fit on a card. @param {string} text @param {number} length */
export function shorten(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** @param {number[]} numbers in reading order @param {number[]} shape @returns {Value} */
export function nested(numbers, shape) {
  if (!shape.length) return numbers[0];
  const size = numbers.length / shape[0];
  return Array.from({ length: shape[0] }, (_, i) => nested(numbers.slice(i * size, (i + 1) * size), shape.slice(1)));
}
