/** The ledger: the event in one sentence and its arithmetic in large figures. */

import { bitmap, PALETTES } from "./arrays.js";
import {
  sumText,
  copiesOf,
  countOf,
  exampleCell,
  factorOf,
  matrixProduct,
  cellName,
  sendingOf,
  productSumText,
  wholeProduct,
} from "./arithmetic.js";
import {
  brief,
  broadcastCell,
  cellOrAll,
  element,
  factor,
  flat,
  indexText,
  numeral,
  shapeOf,
  shapeText,
  toNumber,
} from "./format.js";
import { h, setText } from "./dom.js";
import { operationSign, productSign, sumSign } from "./equation.js";
import { gridOf } from "./layout.js";
import { fullShape, isSame } from "./states.js";

const MAX_WRITTEN_COPIES = 4; // copies of a cell; more are shortened with "…"
const MAX_NAMED_INPUTS = 6; // inputs whose gradients the result names
const MAX_NAMES_LENGTH = 150; // characters of that list; the first input is always named
const [LONG_TEXT, VERY_LONG_TEXT] = [110, 220]; // characters, from which the type is smaller in a wide ledger
const WIDE = 1200; // pixels
const MAX_ROW_LENGTH = 44; // characters of figures in one row
const LONG_EQUATION = 22; // characters of figures, from which they are smaller
const ANNOUNCE_DELAY = 250; // milliseconds without a new event before a screen reader announces it

/** @import { Product, Sending } from "./arithmetic.js" */
/** @import { Accumulate, Forward, Message, Operation, Push, Seed, Tangent, Value } from "../types.js" */
/** @import { Frame, TraceStates } from "./states.js" */

/** @typedef {object} Figure a number or a sign in the equation
 * @property {string} text
 * @property {string} caption
 * @property {string} role "sign", "value", "gradient", "message" or ""
 * @property {Value} [value] an array, shown as a heat map */

/** @typedef {object} Story
 * @property {string} phase
 * @property {string} sentence
 * @property {Figure[]} equation
 * @property {string} note
 * @property {string} [copies] the part of the note that says why the copies of a broadcast value are summed
 * @property {Result} [result] of the whole pass once it has ended, shown instead of the event */

/** @typedef {object} Result
 * @property {string} sentence
 * @property {Figure[]} equation */

/** Describe the last event of a frame.
 * @param {TraceStates} states @param {Frame} frame @param {number | null} cell @returns {Story} */
export function tell(states, frame, cell) {
  const story = storyOf(states, frame, cell);
  if (frame.k < states.forwardEnd || (frame.k > states.forwardEnd && frame.k < states.length)) return story;
  const ended = frame.k === states.length;
  if (states.error && ended)
    story.note = `${story.note} Here the engine stopped: ${states.error.replaceAll("`", "")}`.trim();
  else if (states.seedIndex < 0 && ended) story.note = "The forward pass is done. The backward pass has not begun.";
  else if (ended) story.result = states.tangentOf ? tangentsOf(states, frame) : gradientsOf(states, frame);
  else if (frame.k > 0) {
    const { tangentOf, result } = states;
    const [next, out, of] = tangentOf ? ["tangents", "each node", tangentOf] : ["backward pass", result, "each input"];
    story.note = `The forward pass is done. Now the ${next}: how fast does ${out} change with ${of}?`;
  }
  return story;
}

/** Return the figures that fit in one row, then how many more there are; the sentence names them all.
 * @param {Figure[]} figures */
function fitting(figures) {
  let room = MAX_ROW_LENGTH;
  const shown = figures
    .slice(0, MAX_NAMED_INPUTS)
    .filter(({ text, caption }) => (room -= Math.max(text.length, caption.length / 2) + 1) >= 0);
  const left = figures.length - shown.length;
  return left ? [...shown, figure("…", `and ${left} more`)] : shown;
}

/** Describe the result of the backward pass: each input's gradient, and what the largest one means.
 * @param {TraceStates} states @param {Frame} frame @returns {Result} */
function gradientsOf(states, frame) {
  const hooked = states.events.some((e) => e.kind === "seed" && e.replaced !== undefined);
  const found = states.leaves().flatMap((leaf) => {
    const gradient = frame.gradients.get(leaf.id);
    const due = states.due(leaf.id, frame);
    if (gradient === undefined) return [];
    const sent = states.events.flatMap((e) => (e.kind === "accumulate" && e.node === leaf.id ? [e.message] : []));
    const terms = leaf.earlier === undefined || hooked || Array.isArray(gradient) ? [] : [leaf.earlier, ...sent];
    const added = terms.length > 1 ? `${sumText(terms)} ${sumSign(terms, gradient, leaf)} ` : "";
    return [{ name: states.name(leaf.id), gradient, due, added, full: states.gradientShape(leaf.id, gradient) }];
  });
  const out = states.result;
  const texts = found.map(({ name, gradient, due, added, full }) => {
    const right = due === undefined ? "" : ` (right: ${brief(due)})`;
    return `${name} ${added}${brief(gradient, full)}${range(gradient, full)}${right}`;
  });
  const named = texts.filter(
    (_, i) => i === 0 || (i < MAX_NAMED_INPUTS && texts.slice(0, i + 1).join(", ").length <= MAX_NAMES_LENGTH),
  );
  const rest = texts.length > named.length ? `, and ${texts.length - named.length} more` : "";
  const wrong =
    states.departure !== null ||
    found.some(({ due }) => due !== undefined) ||
    states.derived.some(({ terms }) => terms.some((term) => term.event !== null && term.agrees === false)) ||
    states.events.some((e) => e.kind === "accumulate" && arrivalSign(states, e) === "≠");
  const sum = states.leaves().some(({ id, earlier }) => earlier !== undefined && frame.arrived.has(id));
  let done = `The backward pass is done. Gradients of ${out}`;
  if (sum) done = "The backward pass is done. It was added to gradients of an earlier pass. The inputs hold";
  if (hooked) done = "The backward pass is done. A hook changed a gradient on the way. The inputs hold";
  if (wrong) done = "The backward pass is done, but something went wrong on the way. The inputs hold";
  const called = (/** @type {string} */ name) => (wrong || sum || hooked ? `${name}.grad` : `∂${out}/∂${name}`);
  return {
    sentence: `${done}: ${named.join(", ")}${rest}. ${meaningOf(states)}`.trim(),
    equation: fitting(
      found.map(({ name, gradient, due, full }) =>
        due === undefined
          ? amount(gradient, called(name), "gradient leaf", full)
          : amount(gradient, `${called(name)}, ✗ right: ${brief(due)}`, "wrong", full),
      ),
    ),
  };
}

/** Say what the gradients mean: name one that is not simply the slope, otherwise explain the largest. Return "" without
 * a numerical check. @param {TraceStates} states */
function meaningOf(states) {
  const [special, ...others] = states.slopes.filter(
    (one) => !one.hasDerivative || ["differs", "rounded", "lost"].includes(one.kind),
  );
  if (special) {
    const more = others.filter((one) => one.hasValue && !one.hasDerivative).map((one) => one.element);
    return special.sentence + (more.length ? ` There is none at ${more.join(", ")} either.` : "");
  }
  const [largest] = states.slopes.toSorted((a, b) => Math.abs(toNumber(b.used)) - Math.abs(toNumber(a.used)));
  if (!largest || largest.kind === "small") return largest?.sentence ?? "";
  const out = states.result;
  const change = `If ${largest.element} grows by a little, ${out}`;
  if (toNumber(largest.used) !== 0) return `${change} changes by ${factor(largest.used)} times as much.`;
  return `${change} does not change${largest.still ? "" : ", to first order"}.`;
}

/** Return the smallest and the largest number of an array that is too long to write out. @param {Value} value
 * @param {number[]} full its shape in the program */
function range(value, full) {
  const numbers = flat(value).map(toNumber);
  if (numbers.length <= 4) return "";
  const known = numbers.filter(Number.isFinite).toSorted((a, b) => a - b);
  if (!known.length) return "";
  const kept = numbers.length < countOf(full) ? " in the cells shown" : "";
  const others = kept + (known.length < numbers.length ? ", and some not finite" : "");
  const [least, most] = [known[0], known[known.length - 1]].map(numeral);
  return least === most ? ` all ${least}${others}` : ` from ${least} to ${most}${others}`;
}

/** Tell what the last event did. @param {TraceStates} states @param {Frame} frame @param {number | null} cell
 * @returns {Story} */
function storyOf(states, frame, cell) {
  const event = frame.event;
  if (states.length === 0) {
    return {
      phase: "No graph",
      sentence: "The values are computed. No operation is recorded: none of the inputs requires a gradient.",
      equation: [],
      note: "",
    };
  }
  if (!event) {
    return {
      phase: "Start",
      sentence: "This pass has not begun: only the inputs have values.",
      equation: fitting(states.leaves().map((leaf) => amount(leaf.value, states.name(leaf.id), "value"))),
      note: "The forward pass computes everything that depends on them, down to the result.",
    };
  }
  if (event.kind === "forward") return forward(states, event, cell);
  if (event.kind === "seed") return seed(states, event);
  if (event.kind === "message") {
    const { sentence, figures, note } = sending(states, event, frame.k - 1, cell);
    return { phase: "Backward pass", sentence: `${sentence}.`, equation: figures, note };
  }
  if (event.kind === "push") return push(states, event);
  if (event.kind === "tangent") return tangent(states, event);
  return accumulate(states, event, frame.k - 1, cell);
}

/** Tell the story of an operation. @param {TraceStates} states @param {Forward} event @param {number | null} cell
 * @returns {Story} */
function forward(states, event, cell) {
  const node = states.operation(event.node);
  const chosen = node.kind === "elementwise" ? cellOf(node.value, cell) : null;
  const numbers = states.written(node, (child) =>
    factorOf(broadcastCell(states.nodes[child].value, node.shape, chosen), fullShape(states.nodes[child])),
  );
  const result = brief(cellOrAll(node.value, chosen), fullShape(node));
  const where = chosen === null ? "" : ` at ${indexText(node.shape, chosen, fullShape(node))}`;
  const names = states.written(node, (child) => states.name(child));
  const given = amount(cellOrAll(node.value, chosen), `${states.name(event.node)}${where}`, "value", fullShape(node));
  const operands = node.children.map((child) => broadcastCell(states.nodes[child].value, node.shape, chosen));
  const equal = sign(operationSign(node.symbol, operands, cellOrAll(node.value, chosen)));
  const about = equal.text === "≈" ? "about " : "";
  return {
    phase: "Forward pass",
    sentence: `${states.definition(event.node)}${where}: ${numbers} gives ${about}${result}.`,
    // Operands that fill two rows appear only in the sentence; otherwise the result would not fit.
    equation: numbers.length > 2 * MAX_ROW_LENGTH ? [given] : [figure(numbers, names), equal, given],
    note: chosen === null ? firstCell(states, node) : "",
  };
}

/** Describe the first cell of an elementwise operation on arrays that are too large to write out.
 * @param {TraceStates} states @param {Operation} node */
function firstCell(states, node) {
  if (node.kind !== "elementwise" || flat(node.value).length <= 4) return "";
  const numbers = states.written(node, (child) => factorOf(broadcastCell(states.nodes[child].value, node.shape, 0)));
  return `At ${indexText(node.shape, 0, fullShape(node))}: ${numbers} gives ${brief(element(node.value, 0))}.`;
}

/** Tell the story of the seed, or of a hook. @param {TraceStates} states @param {Seed} event @returns {Story} */
function seed(states, event) {
  const name = states.name(event.node);
  const { grad, replaced } = event;
  if (replaced !== undefined)
    return {
      phase: "Backward pass",
      sentence: `A hook of the program changes the gradient of ${name} from ${brief(replaced)} to ${brief(grad)}.`,
      equation: [amount(replaced, "sum of the messages"), sign("→"), amount(grad, "after the hook", "gradient")],
      note: "",
    };
  return {
    phase: "Backward pass",
    sentence: `The backward pass starts at ${name} with the starting gradient ${brief(grad)}.`,
    equation: [
      figure(`∂${name}/∂${name}`, "how fast the result changes with itself"),
      sign("="),
      amount(grad, "starting gradient", "gradient"),
    ],
    note: "",
  };
}

/** Describe a push of forward mode: an operand's tangent times the local derivative goes to an operation.
 * @param {TraceStates} states @param {Push} event @returns {Story} */
function push(states, event) {
  const [from, to] = [event.child, event.node].map((id) => states.name(id));
  const arriving = amount(event.contribution, `message to ${to}`, "message");
  const phase = "Forward mode";
  if (event.local === null) {
    const sentence = `${from} sends its tangent to ${to}, times the local derivative: ${brief(event.contribution)}.`;
    return { phase, sentence, equation: [arriving], note: "" };
  }
  const slope = event.text === numeral(event.local) ? factor(event.local) : `${event.text} = ${numeral(event.local)}`;
  const { tangent: upstream, local } = event;
  return {
    phase,
    sentence: `${from} sends ${factorOf(event.tangent)} times ${slope} to ${to}: ${brief(event.contribution)}.`,
    equation: [
      amount(event.tangent, `tangent of ${from}`),
      sign("×"),
      amount(event.local, `local derivative: ${event.text}`),
      sign(productSign(event.contribution, () => [{ upstream, local }])),
      arriving,
    ],
    note: "",
  };
}

/** Describe a node's tangent. @param {TraceStates} states @param {Tangent} event @returns {Story} */
function tangent(states, event) {
  const [name, of] = [states.name(event.node), states.tangentOf];
  const phase = "Forward mode";
  const shown = amount(event.value, `∂${name}/∂${of}`, "gradient");
  if (event.leaves.length) {
    const sentence = `Forward mode starts at ${of}: its tangent is 1, and that of every other input is 0.`;
    return { phase, sentence, equation: [shown], note: "" };
  }
  const sent = states.events.filter((one) => one.kind === "push" && one.node === event.node);
  const sum = sent.flatMap((one) =>
    one.kind === "push" && !Array.isArray(one.contribution) ? [one.contribution] : [],
  );
  const several = sum.length > 1 && sum.length === sent.length;
  const arrived = sum.map((value) => factorOf(value)).join(" + ");
  const equal = sumSign(sum, event.value);
  return {
    phase,
    sentence: (several ? `${arrived} ${equal} ${brief(event.value)}. ` : "") + changes(name, of, event.value),
    equation: several ? [figure(arrived, "what has arrived"), sign(equal), shown] : [shown],
    note: "",
  };
}

/** Say how fast a node changes with the input of a forward-mode pass. @param {string} name @param {string} of
 * @param {Value} value */
function changes(name, of, value) {
  const opening = `The tangent of ${name} is ${brief(value)}:`;
  if (Array.isArray(value)) return `${opening} how fast each element changes with ${of}.`;
  if (toNumber(value) === 0) return `${opening} it does not change with ${of}.`;
  return `${opening} if ${of} grows by a little, ${name} changes by ${factor(value)} times as much.`;
}

/** Describe the result of forward mode. @param {TraceStates} states @param {Frame} frame @returns {Result} */
function tangentsOf(states, frame) {
  const [out, of] = [states.name(states.output), states.tangentOf];
  const value = frame.gradients.get(states.output);
  if (value === undefined) return { sentence: `Forward mode did not reach ${out}.`, equation: [] };
  const count = states.leaves().reduce((sum, { shape }) => sum + countOf(shape), 0);
  const all = count > 1 ? ` For all ${count} inputs it takes ${count} such passes; backward takes one.` : "";
  return { sentence: `${changes(out, of, value)}${all}`, equation: [amount(value, `∂${out}/∂${of}`, "gradient")] };
}

/** Tell the story of a message that is added to a gradient. @param {TraceStates} states @param {Accumulate} event
 * @param {number} index @param {number | null} cell @returns {Story} */
function accumulate(states, event, index, cell) {
  const chosen = cellOf(event.after, cell);
  const [before, arrived, after] = [event.before, event.message, event.after].map((value) => cellOrAll(value, chosen));
  const sent = sendingOf(states, states.message(index - 1), index - 1);
  const full = fullShape(states.nodes[event.node]);
  const name = cellName(states.name(event.node), shapeOf(event.after), chosen, full);
  const right = arrivalSign(states, event) !== "≠";
  const wrong = "This is not what adding the message gives: something is broken here.";
  const parts = sent.sums ? copiesOf(sent, chosen) : [arrived];
  const node = states.nodes[event.node];
  const together = `${sumText(parts)} ${sumSign(parts, arrived, node)} ${brief(arrived, full)} together`;
  const message = states.message(index - 1);
  const { sentence } = sending(states, message, index - 1, cell);
  const arrival = sent.sums ? `The copies of ${name} receive ${together}` : sentence;
  const all = event.first ? parts : [before, ...parts];
  const total = event.first && !sent.sums ? "→" : sumSign(all, after, node);
  const added = `${event.first ? "" : `${name} before, and `}what the copies of ${name} receive`;
  let start = event.first ? [figure("nothing yet", `${name} before`)] : [];
  if (sent.sums) start = [figure(sumText(all), added, "message")];
  else if (!event.first)
    start = [amount(before, `${name} before`, "", full), sign("+"), amount(arrived, "message", "", full)];
  const own = states.name(event.node);
  const repeated = copiesText(states, message, sent);
  const kept = isSame(event.before, states.nodes[event.node].earlier ?? []);
  const why = kept ? `${own}.grad kept what an earlier pass gave it` : `${own} is used more than once`;
  const again = event.first ? "" : `${why}, so ${kept ? "the message is added to it" : "its messages add up"}.`;
  return {
    phase: "Backward pass",
    sentence: event.first
      ? `${arrival}: the first message. The gradient is ${brief(after, full)}.`
      : `${arrival}: before ${brief(before, full)}, after ${brief(after, full)}.`,
    equation: [
      ...start,
      sign(right ? total : "≠"),
      amount(after, `${name} after${event.first ? ": the first message becomes its gradient" : ""}`, "gradient", full),
    ],
    note: right ? [shareOf(states, sent, index), repeated, again].filter(Boolean).join(" ") : wrong,
    copies: repeated,
  };
}

/** Return the sign between a gradient before a message and after it. @param {TraceStates} states
 * @param {Accumulate} event */
function arrivalSign(states, { node, first, before, message, after }) {
  return sumSign([first ? 0 : before, message], after, states.nodes[node]);
}

/** Say that the message to a broadcast value is a sum, and over what; "" if broadcasting did not repeat it.
 * @param {TraceStates} states @param {Message} message @param {Sending} sent */
function copiesText(states, { node, child }, { sums, contribution, shape: arrived }) {
  const [from, to] = [states.operation(node), states.nodes[child]];
  const summed = from.kind === "elementwise" && String(arrived) === String(to.shape); // by PyTorch, or never repeated
  const [large, shape] = [sums ? shapeOf(contribution) : fullShape(summed ? from : to), fullShape(to)];
  if (countOf(large) <= countOf(shape)) return "";
  const axes = large.flatMap((length, axis) => (length === (shape.at(axis - large.length) ?? 1) ? [] : [axis]));
  const along = `${axes.length > 1 ? "axes" : "axis"} ${axes.join(" and ")}`;
  const made = `Broadcasting made ${countOf(large) / countOf(shape)} copies of ${states.name(child)} along ${along}`;
  return `${made}, so the gradients of the copies are summed.`;
}

/** Mark where a broken engine first differs from the right one; say so if a node sends too early.
 * @param {TraceStates} states @param {Frame} frame */
export function departureText(states, frame) {
  if (!states.departs(frame)) return "";
  const first = "✗ The first event that differs.";
  if (frame.event?.kind !== "message") return first;
  const { node } = frame.event;
  const [arrived, all] = [frame.arrived.get(node) ?? 0, states.derived[node].terms.length];
  if (arrived >= all) return first;
  return `${first} ${states.name(node)} sends too early: ${arrived} of its ${all} messages have arrived.`;
}

/** Return the same event of the right engine as a sum or a product in numbers, if it gives another number; otherwise
 * null. @param {TraceStates} states @param {Frame} frame @returns {Figure | null} */
export function rightOf(states, frame) {
  const { right, events } = states;
  const index = frame.k - 1;
  const there = right && frame.event ? states.counterpart(index) : null;
  if (!right || there === null) return null;
  const [here, due] = [events[index], right.events[there]];
  if (here.kind === "message" && due.kind === "message") {
    if (isSame(here.contribution, due.contribution)) return null;
    const { local } = right.term(there, due);
    const known = local !== null && flat(due.contribution).length === 1;
    const equal = productSign(due.contribution, sendingOf(right, due, there).products);
    const factors = known ? `${factorOf(due.upstream)} × ${factorOf(local)} ${equal} ` : "";
    return figure(`${factors}${brief(due.contribution)}`, "✓ right", "right");
  }
  if (here.kind !== "accumulate" || due.kind !== "accumulate" || isSame(here.after, due.after)) return null;
  const sent = sendingOf(right, right.message(there - 1), there - 1);
  const parts = sent.sums ? copiesOf(sent, null) : [due.message];
  const sum = due.first ? parts : [due.before, ...parts];
  const added = sum.length > 1 ? `${sumText(sum)} ${sumSign(sum, due.after)} ` : "";
  return figure(`${added}${brief(due.after)}`, "✓ right", "right");
}

/** Say why a message has its value: "v1's gradient 1 times the local derivative b = −3." Return "" if the rule is not
 * such a product.
 * @param {TraceStates} states @param {Sending} sent @param {number} index of the arrival */
function shareOf(states, { term, arrived, upstream }, index) {
  const { local } = term;
  if (local === null || Array.isArray(local) || Array.isArray(arrived) || Array.isArray(upstream)) return "";
  const { node } = states.message(index - 1);
  const slope = term.text === numeral(local) ? factor(local) : `${term.text} = ${numeral(local)}`;
  return `${states.name(node)}'s gradient ${factor(upstream)} times the local derivative ${slope}.`;
}

/** Describe a message from an operation to an operand, with the numbers that it is computed from if they are known.
 * @param {TraceStates} states @param {Message} event @param {number} index @param {number | null} cell
 * @returns {{sentence: string, figures: Figure[], note: string}} */
function sending(states, event, index, cell) {
  const sent = sendingOf(states, event, index);
  const { term, arrived, contribution, shape } = sent;
  const receiver = states.name(event.child);
  const chosen = cellOf(arrived, cell);
  const full = fullShape(states.nodes[event.child]);
  const sentShape = states.shapeIn(contribution, [event.child, event.node]);
  const where = cellName(receiver, shape, chosen, full);
  const wrong =
    term.agrees === false ? "The rule gives another number than the engine sent: something is broken here." : "";
  const repeated = copiesText(states, event, sent);
  const rule = term.local === null ? `Rule: ${term.text}.` : "";
  const notes = (/** @type {string[]} */ ...more) => wrong || [...more, repeated, rule].filter(Boolean).join(" ");

  const told = (/** @type {Figure[]} */ figures, /** @type {string[]} */ ...more) => ({
    sentence: `${term.sends} ${written(figures)} to ${where}`,
    figures,
    note: notes(...more),
  });
  const cellFigures = (/** @type {number} */ position) => {
    const products = sent.products(position) ?? [];
    const number = element(contribution, position);
    const arriving = amount(number, `message to ${where}`, "message");
    const equal = sign(wrong ? "≠" : productSign(number, () => products));
    if (products.length === 1) return product(states, event, sent, products[0], equal, arriving);
    const sum = figure(productSumText(products), "upstream gradient × local derivative, summed");
    return products.length ? [sum, equal, arriving] : [arriving];
  };

  if (chosen !== null) {
    const positions = sent.copies(chosen);
    const parts = positions.slice(0, MAX_WRITTEN_COPIES).map(cellFigures);
    const rest = positions.length - parts.length;
    const copies = parts.map(written).join(", ") + (rest ? ` and ${rest} more` : "");
    return told(parts.length > 1 ? [figure(copies, `messages to the copies of ${where}`, "message")] : parts[0]);
  }

  const example = exampleCell(sent);
  const [position, ...others] = example === null ? [] : sent.copies(example);
  const place = `${others.length ? "A copy of " : ""}${cellName(receiver, shape, example, full)}`;
  const shown = example === null ? "" : `${place} is sent ${written(cellFigures(position))}.`;
  const arriving = amount(contribution, `message to ${where}`, "message", sentShape);
  const equal = sign(wrong ? "≠" : productSign(contribution, sent.products));
  if (term.local !== null)
    return told(product(states, event, sent, wholeProduct(sent, term.local), equal, arriving), shown);
  const numbers = matrixProduct(states, sent);
  return told(numbers === null ? [arriving] : [figure(numbers, term.text), equal, arriving], shown);
}

/** Return the figures of a message: upstream gradient times local derivative. @param {TraceStates} states
 * @param {Message} event @param {Sending} sent @param {Product} numbers @param {Figure} equal
 * @param {Figure} arriving */
function product(states, event, { term }, { upstream, local }, equal, arriving) {
  const slope = term.local === null ? "local derivative" : `local derivative: ${term.text}`;
  const ends = [event.child, event.node];
  return [
    amount(upstream, `upstream gradient of ${states.name(event.node)}`, "", states.shapeIn(upstream, ends)),
    sign("×"),
    amount(local, slope, "", states.shapeIn(local, ends)),
    equal,
    arriving,
  ];
}

/** Return the chosen cell if the array has it. @param {Value} value @param {number | null} cell */
function cellOf(value, cell) {
  return cell !== null && Array.isArray(value) && element(value, cell) !== undefined ? cell : null;
}

/** Return a part of an equation, with a caption below it. @param {string} text @param {string} caption
 * @returns {Figure} */
export function figure(text, caption, role = "") {
  return { text, caption, role };
}

/** Return a value as a part of an equation; a large array is shown as a heat map. @param {Value} value
 * @param {string} caption @param {number[]} full its shape in the program @returns {Figure} */
function amount(value, caption, role = "", full = shapeOf(value)) {
  if (flat(value).length > 4) return { text: shapeText(full), caption, role, value };
  return figure(role ? brief(value) : factorOf(value), caption, role);
}

/** Return a sign between two parts of an equation. @param {string} text @returns {Figure} */
export function sign(text) {
  return figure(text, "", "sign");
}

/** Write an equation in a sentence. @param {Figure[]} figures */
function written(figures) {
  return figures.map(({ text }) => text).join(" ");
}

/** Return a heat map of an array with its shape. @param {Value} value @param {string} shape @param {string} role */
function heatMap(value, shape, role) {
  const grid = gridOf(shapeOf(value));
  const cell = Math.max(3, Math.floor(36 / Math.max(grid.rows, grid.columns / 2)));
  const picture = h("img", {
    src: bitmap(value, grid, PALETTES[role === "value" ? "value" : "gradient"]),
    width: grid.columns * cell,
    height: grid.rows * cell,
    alt: "",
  });
  return h("span", { class: "heat-map" }, picture, h("span", {}, shape));
}

export class Ledger {
  constructor() {
    this.phase = h("span", { class: "phase" });
    this.sentence = h("p", { class: "sentence" });
    this.equation = h("div", { class: "equation", "aria-hidden": true });
    this.note = h("p", { class: "note" });
    this.live = h("p", { class: "for-readers", "aria-live": "polite" });
    /** @type {TraceStates | null} */
    this.states = null;
    this.share = 1; // of the text of a wide ledger that this one has room for
    const parts = [this.phase, this.equation, this.sentence, this.note, this.live];
    this.element = h("section", { class: "ledger", "aria-label": "What happens" }, ...parts);
  }

  /** Make texts small by another width. @param {number} width in pixels */
  resize(width) {
    this.share = Math.min(1, width / WIDE);
    this.size();
  }

  /** Make long texts small. Counted in characters: to ask the browser what fits would cost a layout at each event. */
  size() {
    const length = (this.sentence.textContent.length + this.note.textContent.length) / this.share;
    this.element.dataset.length = length > VERY_LONG_TEXT ? "very long" : length > LONG_TEXT ? "long" : "";
  }

  /** Show the last event in words and as an equation. @param {TraceStates} states @param {Frame} frame
   * @param {number | null} cell @param {string} verdict on the learner's prediction
   * @param {Story | null} other shown instead of the event */
  paint(states, frame, cell, verdict = "", other = null) {
    const told = other ?? tell(states, frame, cell);
    const { phase, ...event } = told;
    const result = states.departs(frame) ? undefined : told.result; // an event that differs is worth more
    const { sentence } = result ?? event;
    const right = other || result ? null : rightOf(states, frame);
    const equation = right ? [...event.equation.slice(-1), right] : (result ?? event).equation;
    if (right) equation[0] = { ...equation[0], caption: `✗ ${states.engine}`, role: "wrong" };
    const departs = other ? "" : departureText(states, frame);
    const remark = result && !states.tangentOf ? `Last: ${event.sentence} ${event.note}` : event.note;
    // The picture shows the last message as well, so a long list of gradients may take its place here.
    const fits = !result || sentence.length + remark.length <= VERY_LONG_TEXT;
    const note = [verdict, departs, fits ? remark.trim() : event.copies].filter(Boolean).join(" ");
    const text = other ? phase : `${phase}, event ${frame.k} of ${states.length}`;
    const before = [this.phase, this.sentence, this.note].map((part) => part.textContent);
    // New inputs can change the figures without changing a word.
    if (this.states === states && text === before[0] && sentence === before[1] && note === before[2]) return;
    this.states = states;
    this.phase.textContent = text;
    this.sentence.textContent = sentence;
    this.note.textContent = note;
    this.element.classList.toggle("judged", Boolean(verdict || departs));
    this.size();
    const figures = equation.reduce((sum, part) => sum + part.text.length, 0);
    this.equation.dataset.length = figures > MAX_ROW_LENGTH ? "very long" : figures > LONG_EQUATION ? "long" : "";
    this.equation.replaceChildren();
    let pair; // keeps a sign on the same line as the number after it
    for (const part of equation) {
      if (!pair) this.equation.append((pair = h("span", { class: "pair" })));
      if (part.role === "sign") {
        pair.append(h("span", { class: "sign" }, part.text));
      } else {
        const shown = part.value === undefined ? h("b", {}, part.text) : heatMap(part.value, part.text, part.role);
        pair.append(h("span", { class: `figure ${part.role}` }, shown, h("small", {}, part.caption)));
        pair = null;
      }
    }
    const said = `${other ? phase : `Event ${frame.k}`}. ${sentence} ${note}`;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => setText(this.live, said), ANNOUNCE_DELAY);
  }

  destroy() {
    clearTimeout(this.waiting);
  }
}
