/** The arithmetic of one message in the backward pass, shared by the ledger, the derivation and forward mode. */

import { brief, broadcastCell, element, factor, flat, indexText, nested, operandCell, shapeOf } from "./format.js";
import { fullShape } from "./states.js";

/** @import { Message, SentTerm, Value } from "../types.js" */
/** @import { TraceStates } from "./states.js" */

const MAX_SUM_TERMS = 6; // terms written out; a longer sum is shortened with "…"

/** @typedef {{upstream: Value, local: Value}} Product */

/** @typedef {object} Sending a message with the numbers behind it
 * @property {SentTerm} term
 * @property {Value} upstream
 * @property {Value} contribution the closure's result, in the receiver's shape or that of its broadcast copies
 * @property {Value} arrived the message as it arrives, in the receiver's shape
 * @property {number[]} shape the receiver's shape
 * @property {boolean} sums true if broadcasting repeated the receiver, so the gradients of its copies are summed
 * @property {(position: number) => Product[] | null} products the products that add up to one cell of the contribution;
 * null if they are unknown or too many
 * @property {(cell: number) => number[]} copies the cells of the contribution that go to one cell of the receiver */

/** Collect the numbers behind a message. @param {TraceStates} states @param {Message} event @param {number} index of
 * the event @returns {Sending} */
export function sendingOf(states, event, index) {
  const { upstream, contribution } = event;
  const term = states.term(index, event);
  const { message: arrived } = states.arrivalAfter(index);
  const shape = shapeOf(arrived);
  const sent = shapeOf(contribution);
  const sums = countOf(sent) > countOf(shape);
  const paths = states.operation(event.node).paths?.[event.operand];
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
      (position) => operandCell(sent, shape, position) === cell,
    );
  };
  return { term, upstream, contribution: sums ? contribution : arrived, arrived, shape, sums, products, copies };
}

/** Return the number of cells in an array. @param {number[]} shape */
export function countOf(shape) {
  return shape.reduce((product, length) => product * length, 1);
}

/** Return the gradient of each broadcast copy of the receiver, in the receiver's shape. They add up to the message.
 * @param {Sending} sending @param {number | null} cell null for the whole array @returns {Value[]} */
export function copiesOf({ contribution, shape, copies }, cell) {
  const all = flat(contribution);
  if (cell !== null) return copies(cell).map((position) => all[position]);
  const each = Array.from({ length: countOf(shape) }, (_, i) => copies(i));
  return each[0].map((_, copy) =>
    nested(
      each.map((positions) => all[positions[copy]]),
      shape,
    ),
  );
}

/** Return the whole message as one product. If number times number fills an array, the second factor is repeated to
 * that array, so that both sides of the equation have the same shape.
 * @param {Sending} sending @param {Value} local @returns {Product} */
export function wholeProduct({ upstream, contribution }, local) {
  const fills = Array.isArray(contribution) && !Array.isArray(upstream) && !Array.isArray(local);
  return { upstream, local: fills ? repeatedLike(contribution, local) : local };
}

/** Repeat a number in the shape of another value. @param {Value} like @param {Value} number @returns {Value} */
function repeatedLike(like, number) {
  return Array.isArray(like) ? like.map((inner) => repeatedLike(inner, number)) : number;
}

/** Write a sum of products: "2 × 3 + 4 × 5", shortened if it is long. @param {Product[]} products */
export function productSumText(products) {
  return joinTerms(products.map(({ upstream, local }) => `${factorOf(upstream)} × ${factorOf(local)}`));
}

/** Write a sum: "1 + 2 + (−3)", shortened if it is long. @param {Value[]} values */
export function sumText(values) {
  return joinTerms(values.map((value, i) => (i ? factorOf(value) : brief(value))));
}

/** Join the terms of a sum with "+", and leave out the middle of a long one. @param {string[]} terms */
function joinTerms(terms) {
  return (terms.length > MAX_SUM_TERMS ? [...terms.slice(0, MAX_SUM_TERMS - 2), "…", terms.at(-1)] : terms).join(" + ");
}

/** Format a value like `brief`, with a negative number in brackets. @param {Value} value @param {number[]} [full] */
export function factorOf(value, full) {
  return Array.isArray(value) ? brief(value, full) : factor(value);
}

/** Write a message's rule with the upstream gradient in numbers. @param {TraceStates} states @param {Sending} sending
 * @param {(id: number) => string} text how to write an operand or the result */
export function ruleWith(states, { term, upstream }, text) {
  const sent = brief(upstream, fullShape(states.nodes[term.node]));
  return term.rule.replaceAll(/\{([gaby])\}/g, (_, key) => (key === "g" ? sent : text(term.used[key])));
}

/** Write a message as a matrix product in numbers. Return null for any other rule, and for products of vectors, where
 * the text could not tell rows from columns. @param {TraceStates} states @param {Sending} sending */
export function matrixProduct(states, sending) {
  const { node, operand } = sending.term;
  const { kind, children } = states.operation(node);
  const axes = children.map((child) => states.nodes[child].shape.length);
  if (kind !== "matrix product" || operand > 1 || axes[0] !== 2 || axes[1] > 2 || (axes[1] < 2 && operand === 0))
    return null;
  return ruleWith(states, sending, (id) => brief(states.nodes[id].value, fullShape(states.nodes[id])));
}

/** Return the cell to use as an example: the first one with a nonzero gradient, or cell 0. Return null if the receiver
 * is a single number or the products are unknown. @param {Sending} sending */
export function exampleCell({ shape, arrived, copies, products }) {
  if (countOf(shape) < 2) return null;
  const numbers = flat(arrived);
  const cell = numbers.findIndex((x) => x !== 0);
  const at = Math.max(cell, 0);
  return products(copies(at)[0])?.length ? at : null;
}

/** Name a cell: "row[0]", or the array's name alone if `cell` is null. @param {string} name @param {number[]} shape
 * @param {number | null} cell @param {number[]} full the array's shape in the program */
export function cellName(name, shape, cell, full) {
  return cell === null ? name : name + indexText(shape, cell, full);
}
