/** How a message comes about, in numbers: what the ledger, the derivation and the pill on the edge all tell. */

import { brief, broadcastCell, element, factor, flat, indexOf, indexText, shapeOf } from "./format.js";
import { fullShape } from "./playback.js";

/** @import { Message, SentTerm, Value, Scalar } from "../types.js" */
/** @import { Playback } from "./playback.js" */

const LONGEST_SUM = 6; // numbers of a sum that are written out

/** @typedef {{upstream: Value, local: Value}} Product */

/** @typedef {object} Sending
 * @property {SentTerm} term
 * @property {Value} upstream
 * @property {Value} contribution what the closure sends, in the shape of the receiver unless that was repeated
 * @property {Value} arrived what that is in the shape of the receiver
 * @property {number[]} shape of the receiver
 * @property {boolean} sums broadcasting repeated the receiver: what its copies receive is summed
 * @property {(position: number) => Product[] | null} products whose sum a cell of the contribution is; null where
 * that is too much, or not known
 * @property {(cell: number) => number[]} copies the cells of the contribution that go to a cell of the receiver */

/** @param {Playback} playback @param {Message} event @param {number} index of that event @returns {Sending} */
export function sendingOf(playback, event, index) {
  const { upstream, contribution } = event;
  const term = playback.term(index, event);
  const { message: arrived } = playback.arrivalAfter(index);
  const shape = shapeOf(arrived);
  const sent = shapeOf(contribution);
  const sums = countOf(sent) > countOf(shape);
  const paths = playback.operation(event.node).paths?.[event.operand];
  /** @param {number} position @returns {Product[] | null} */
  const products = (position) => {
    const { local } = term;
    if (local !== null)
      return [{ upstream: broadcastCell(upstream, sent, position), local: broadcastCell(local, sent, position) }];
    return paths?.[position]?.map(([from, slope]) => ({ upstream: element(upstream, from), local: slope })) ?? null;
  };
  /** @param {number} cell */
  const copies = (cell) => {
    if (!sums) return [cell];
    return Array.from({ length: countOf(sent) }, (_, position) => position).filter(
      (position) => receiverOf(sent, shape, position) === cell,
    );
  };
  return { term, upstream, contribution: sums ? contribution : arrived, arrived, shape, sums, products, copies };
}

/** The cell of an operand that broadcasting repeated to a cell of a larger shape.
 * @param {number[]} sent @param {number[]} shape @param {number} position */
function receiverOf(sent, shape, position) {
  const index = indexOf(sent, position).slice(sent.length - shape.length);
  return shape.reduce((at, length, axis) => at * length + (length === 1 ? 0 : index[axis]), 0);
}

/** How many cells an array has. @param {number[]} shape */
export function countOf(shape) {
  return shape.reduce((product, length) => product * length, 1);
}

/** What the copies of a receiver receive, each in its shape: they add up to what arrives.
 * @param {Sending} sending @param {number | null} cell null for all of them @returns {Value[]} */
export function copiesOf({ contribution, shape, copies }, cell) {
  const all = flat(contribution);
  if (cell !== null) return copies(cell).map((position) => all[position]);
  const each = Array.from({ length: countOf(shape) }, (_, i) => copies(i));
  return each[0].map((_, copy) =>
    arrayFrom(
      each.map((positions) => all[positions[copy]]),
      shape,
    ),
  );
}

/** @param {Scalar[]} numbers in reading order @param {number[]} shape @returns {Value} */
function arrayFrom(numbers, shape) {
  if (shape.length === 0) return numbers[0];
  const [length, ...rest] = shape;
  const size = numbers.length / length;
  return Array.from({ length }, (_, i) => arrayFrom(numbers.slice(i * size, (i + 1) * size), rest));
}

/** The whole message as one product. Where a single number times a single number fills an array, the second stands as
 * that array: written out, both sides of the equation have one shape.
 * @param {Sending} sending @param {Value} local @returns {Product} */
export function wholeProduct({ upstream, contribution }, local) {
  const fills = Array.isArray(contribution) && !Array.isArray(upstream) && !Array.isArray(local);
  return { upstream, local: fills ? everywhere(contribution, local) : local };
}

/** @param {Value} like @param {Value} number @returns {Value} */
function everywhere(like, number) {
  return Array.isArray(like) ? like.map((inner) => everywhere(inner, number)) : number;
}

/** "2 × 3 + 4 × 5", the first and the last of many. @param {Product[]} products */
export function sumOf(products) {
  return joined(products.map(({ upstream, local }) => `${factorOf(upstream)} × ${factorOf(local)}`));
}

/** "1 + 2 + (−3)", the first and the last of many. @param {Value[]} values */
export function added(values) {
  return joined(values.map((value, i) => (i ? factorOf(value) : brief(value))));
}

/** @param {string[]} terms */
function joined(terms) {
  return (terms.length > LONGEST_SUM ? [...terms.slice(0, LONGEST_SUM - 2), "…", terms.at(-1)] : terms).join(" + ");
}

/** As `brief`, with a negative number in brackets. @param {Value} value @param {number[]} [full] */
export function factorOf(value, full) {
  return Array.isArray(value) ? brief(value, full) : factor(value);
}

/** The rule of a message with the upstream gradient as numbers. @param {Playback} playback @param {Sending} sending
 * @param {(id: number) => string} text of an operand or the result */
export function ruleWith(playback, { term, upstream }, text) {
  const sent = brief(upstream, fullShape(playback.nodes[term.node]));
  return term.rule.replaceAll(/\{([gaby])\}/g, (_, key) => (key === "g" ? sent : text(term.used[key])));
}

/** The product of matrices that a message is, in numbers. null: it is another rule, or one for vectors, of which a
 * text does not show which is a row and which a column. @param {Playback} playback @param {Sending} sending */
export function matrixProduct(playback, sending) {
  const { node, operand } = sending.term;
  const { kind, children } = playback.operation(node);
  const axes = children.map((child) => playback.nodes[child].shape.length);
  if (kind !== "matrix product" || operand > 1 || axes[0] !== 2 || axes[1] > 2 || (axes[1] < 2 && operand === 0))
    return null;
  return ruleWith(playback, sending, (id) => brief(playback.nodes[id].value, fullShape(playback.nodes[id])));
}

/** A cell to show where none was chosen: the first that is sent something. null: one is no help, or none is known.
 * @param {Sending} sending */
export function exampleOf({ shape, arrived, copies, products }) {
  if (countOf(shape) < 2) return null;
  const numbers = flat(arrived);
  const cell = numbers.findIndex((x) => x !== 0);
  const at = Math.max(cell, 0);
  return products(copies(at)[0])?.length ? at : null;
}

/** "row[0]"; the name alone where no cell is chosen. @param {string} name @param {number[]} shape
 * @param {number | null} cell @param {number[]} full its shape in the program */
export function placeOf(name, shape, cell, full) {
  return cell === null ? name : name + indexText(shape, cell, full);
}
