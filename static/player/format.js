/** Numbers and arrays as short texts. A value is a number, "nan", "inf", "-inf", or nested lists of these. */

/** @typedef {number | string | Value[]} Value */

/** @param {Value} value @returns {number} */
export function toNumber(value) {
  if (typeof value === "number") return value;
  return { nan: NaN, inf: Infinity, "-inf": -Infinity }[value] ?? NaN;
}

/** Four significant digits, with a real minus sign. @param {Value} value */
export function numeral(value) {
  const x = toNumber(value);
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  let text;
  if (size >= 1e6 || size < 1e-4) {
    const [mantissa, exponent] = x.toExponential(2).split("e");
    text = `${Number(mantissa)}e${Number(exponent)}`;
  } else {
    text = String(Number(x.toPrecision(Math.max(4, Math.floor(Math.log10(size)) + 1))));
  }
  return text.replaceAll("-", "−");
}

/** A number inside a formula: negative ones in brackets. @param {Value} value */
export function factor(value) {
  const text = numeral(value);
  return text.startsWith("−") ? `(${text})` : text;
}

/** @param {Value} value @returns {number[]} */
export function shapeOf(value) {
  const shape = [];
  for (let inner = value; Array.isArray(inner); inner = inner[0]) shape.push(inner.length);
  return shape;
}

/** As Python writes a shape. @param {number[]} shape */
export function shapeText(shape) {
  return shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
}

/** All elements in reading order. @param {Value} value @returns {Value[]} */
export function flat(value) {
  return Array.isArray(value) ? value.flat(Infinity) : [value];
}

/** The element at a position, counted in reading order; a single number stands for every position.
 * @param {Value} value @param {number} position */
export function element(value, position) {
  return Array.isArray(value) ? flat(value)[position] : value;
}

/** "[1, 0]" for position 2 of a (3, 2) array. @param {number[]} shape @param {number} position */
export function indexText(shape, position) {
  const index = [];
  for (const length of [...shape].reverse()) {
    index.unshift(position % length);
    position = Math.floor(position / length);
  }
  return `[${index.join(", ")}]`;
}

/** A number, a short array in full, or the shape of a longer one. @param {Value} value */
export function brief(value) {
  if (!Array.isArray(value)) return numeral(value);
  const all = flat(value);
  if (all.length > 4) return shapeText(shapeOf(value));
  const nested = (inner) => (Array.isArray(inner) ? `[${inner.map(nested).join(", ")}]` : numeral(inner));
  return nested(value);
}

/** Long names would not fit on a card. @param {string} text @param {number} length */
export function shorten(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
