/** The event in one sentence, and its arithmetic in large figures. */

import { bitmap } from "./arrays.js";
import { brief, element, factor, flat, indexText, shapeOf, shapeText, toNumber } from "./format.js";
import { h } from "./dom.js";
import { gridOf } from "./layout.js";

const ELEMENTWISE = [
  "+",
  "-",
  "*",
  "/",
  "**",
  "neg",
  "exp",
  "log",
  "sqrt",
  "sin",
  "cos",
  "tanh",
  "sigmoid",
  "softplus",
  "relu",
  "leaky_relu",
  "abs",
  "clip",
  "maximum",
  "where",
];
const PATIENCE = 250; // milliseconds without a new event before a screen reader is told

/** @typedef {{text: string, caption: string, role: string, value?: import("./format.js").Value}} Figure
 * a number or a sign of the equation; with a value, an array that is shown as a heat map */

/** What happened at an event.
 * @param {import("./playback.js").Playback} playback @param {import("./playback.js").Frame} frame @param {number | null} cell
 * @returns {{phase: string, sentence: string, equation: Figure[], note: string}} */
export function tell(playback, frame, cell) {
  const event = frame.event;
  if (!event) {
    return {
      phase: "Start",
      sentence: "Nothing has run yet: only the inputs have values.",
      equation: [],
      note: "Step forward to run the first operation.",
    };
  }
  const told = { forward, seed, message, accumulate }[event.kind](playback, frame, event, cell);
  if (playback.error && frame.k === playback.length)
    told.note = `${told.note} Here the engine stopped: ${playback.error}`.trim();
  return told;
}

function forward(playback, frame, event, cell) {
  const node = playback.nodes[event.node];
  const chosen = ELEMENTWISE.includes(node.op) ? cellOf(node.value, cell) : null;
  const numbers = playback.written(node, (child) =>
    factorOf(pickBroadcast(playback.nodes[child].value, node.value, chosen)),
  );
  const result = brief(pick(node.value, chosen));
  const where = chosen === null ? "" : ` at ${indexText(node.shape, chosen)}`;
  return {
    phase: "Forward pass",
    sentence: `${playback.definition(event.node)}${where}: ${numbers} gives ${result}.`,
    equation: [
      figure(
        numbers,
        playback.written(node, (child) => playback.name(child)),
      ),
      sign("="),
      amount(pick(node.value, chosen), `${playback.name(event.node)}${where}`, "value"),
    ],
    note: "",
  };
}

function seed(playback, frame, event) {
  const name = playback.name(event.node);
  return {
    phase: "Backward pass",
    sentence: `The backward pass starts at ${name}: its gradient is ${brief(event.grad)}, the seed.`,
    equation: [
      figure(`∂${name}/∂${name}`, "how fast the result changes with itself"),
      sign("="),
      amount(event.grad, "seed", "gradient"),
    ],
    note: "",
  };
}

function message(playback, frame, event, cell) {
  const { sentence, figures, note } = sending(playback, event, frame.k - 1, cell);
  return { phase: "Backward pass", sentence: `${sentence}.`, equation: figures, note };
}

function accumulate(playback, frame, event, cell) {
  const sent = playback.events[frame.k - 2];
  const chosen = cellOf(event.after, cell);
  const [before, arrived, after] = [event.before, event.message, event.after].map((value) => pick(value, chosen));
  const { sentence } = sending(playback, sent, frame.k - 2, cell);
  const name = playback.name(event.node) + (chosen === null ? "" : indexText(shapeOf(event.after), chosen));
  const beforeText = event.first ? "nothing yet" : brief(before);
  const right = addsUp(event.first ? 0 : event.before, event.message, event.after);
  const wrong = "This is not what adding the message gives: something is broken here.";
  return {
    phase: "Backward pass",
    sentence: `${sentence}: before ${beforeText}, after ${brief(after)}.`,
    equation: event.first
      ? [
          figure("nothing yet", `${name} before`),
          sign(right ? "→" : "≠"),
          amount(after, `${name} after: the first message becomes its gradient`, "gradient"),
        ]
      : [
          amount(before, `${name} before`),
          sign("+"),
          amount(arrived, "message"),
          sign(right ? "=" : "≠"),
          amount(after, `${name} after`, "gradient"),
        ],
    note: !right
      ? wrong
      : event.first
        ? ""
        : `${playback.name(event.node)} is used more than once, so its messages add up.`,
  };
}

/** An operation sends a message to an operand: in words, and as upstream × local derivative where it is that. */
function sending(playback, event, index, cell) {
  const receiver = playback.name(event.child);
  const term = playback.derived[event.child].terms.find((one) => one.event === index);
  const arrived = playback.events[index + 1].message;
  const chosen = cellOf(arrived, cell);
  const where = chosen === null ? receiver : `${receiver}${indexText(shapeOf(arrived), chosen)}`;
  const from = `${playback.name(event.node)} (${playback.nodes[event.node].op})`;
  const wrong =
    term.agrees === false ? "The rule gives another number than the engine sent: something is broken here." : "";
  const repeated = String(shapeOf(event.contribution)) !== String(shapeOf(arrived));
  const contribution = pick(repeated ? arrived : event.contribution, chosen);
  if (repeated) {
    return {
      sentence: `${from} sends ${brief(contribution)} to ${where}`,
      figures: [amount(contribution, `message to ${where}`, "message")],
      note: wrong || `Broadcasting repeated ${receiver}, so what its copies receive is summed.`,
    };
  }
  if (term.local === null) {
    return {
      sentence: `${from} sends ${brief(contribution)} to ${where}`,
      figures: [amount(contribution, `message to ${where}`, "message")],
      note: wrong || `Rule: ${term.text}.`,
    };
  }
  const [upstream, local] = [
    pickBroadcast(event.upstream, event.contribution, chosen),
    pickBroadcast(term.local, event.contribution, chosen),
  ];
  const equals = wrong ? "≠" : "=";
  return {
    sentence: `${from} sends ${factorOf(upstream)} × ${factorOf(local)} ${equals} ${brief(contribution)} to ${where}`,
    figures: [
      amount(upstream, `upstream gradient of ${playback.name(event.node)}`),
      sign("×"),
      amount(local, `local derivative: ${term.text}`),
      sign(equals),
      amount(contribution, `message to ${where}`, "message"),
    ],
    note: wrong,
  };
}

/** Whether a gradient grew by a message, apart from what rounding makes of it. A single number is added to every cell. */
function addsUp(before, message, after) {
  const [starts, steps, ends] = [before, message, after].map((value) => flat(value).map(toNumber));
  return (
    steps.length === ends.length &&
    ends.every((end, i) => {
      const start = starts[starts.length === 1 ? 0 : i];
      return (
        Object.is(start + steps[i], end) ||
        Math.abs(start + steps[i] - end) <= 1e-6 * (Math.abs(start) + Math.abs(steps[i]))
      );
    })
  );
}

/** The chosen cell, if the array has it. */
function cellOf(value, cell) {
  return cell !== null && Array.isArray(value) && element(value, cell) !== undefined ? cell : null;
}

function pick(value, cell) {
  return cell === null ? value : element(value, cell);
}

/** The same cell of an array that may have fewer axes, or axes of length 1. */
function pickBroadcast(value, like, cell) {
  if (cell === null || !Array.isArray(value)) return value;
  const wanted = shapeOf(like);
  const shape = shapeOf(value);
  const index = [];
  for (const length of [...wanted].reverse()) {
    index.unshift(cell % length);
    cell = Math.floor(cell / length);
  }
  let inner = value;
  shape.forEach((length, axis) => {
    inner = inner[length === 1 ? 0 : index[wanted.length - shape.length + axis]];
  });
  return inner;
}

function factorOf(value) {
  return Array.isArray(value) ? brief(value) : factor(value);
}

const figure = (text, caption, role = "") => ({ text, caption, role });
const amount = (value, caption, role = "") =>
  Array.isArray(value) && flat(value).length > 4
    ? { text: shapeText(shapeOf(value)), caption, role, value }
    : figure(role ? brief(value) : factorOf(value), caption, role);
const sign = (text) => ({ text, caption: "", role: "sign" });

function heatMap(value, shape) {
  const grid = gridOf(shapeOf(value));
  const cell = Math.max(3, Math.floor(36 / Math.max(grid.rows, grid.columns / 2)));
  const picture = h("img", { src: bitmap(value, grid), width: grid.columns * cell, height: grid.rows * cell, alt: "" });
  return h("span", { class: "heat-map" }, picture, h("span", {}, shape));
}

export class Ledger {
  constructor() {
    this.phase = h("span", { class: "phase" });
    this.sentence = h("p", { class: "sentence" });
    this.equation = h("div", { class: "equation", "aria-hidden": true });
    this.note = h("p", { class: "note" });
    this.live = h("p", { class: "for-readers", "aria-live": "polite" });
    this.element = h(
      "section",
      { class: "ledger", "aria-label": "What happens" },
      this.phase,
      this.equation,
      this.sentence,
      this.note,
      this.live,
    );
  }

  /** @param {import("./playback.js").Playback} playback @param {import("./playback.js").Frame} frame @param {number | null} cell */
  paint(playback, frame, cell) {
    const { phase, sentence, equation, note } = tell(playback, frame, cell);
    const text = `${phase}, event ${frame.k} of ${playback.length}`;
    if (text === this.phase.textContent && sentence === this.sentence.textContent) return;
    this.phase.textContent = text;
    this.sentence.textContent = sentence;
    this.note.textContent = note;
    this.equation.replaceChildren();
    let pair; // a sign stays on the line of the number after it
    for (const part of equation) {
      if (!pair) this.equation.append((pair = h("span", { class: "pair" })));
      if (part.role === "sign") {
        pair.append(h("span", { class: "sign" }, part.text));
      } else {
        const shown = part.value === undefined ? h("b", {}, part.text) : heatMap(part.value, part.text);
        pair.append(h("span", { class: `figure ${part.role}` }, shown, h("small", {}, part.caption)));
        pair = null;
      }
    }
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => (this.live.textContent = `Event ${frame.k}. ${sentence} ${note}`), PATIENCE);
  }

  destroy() {
    clearTimeout(this.waiting);
  }
}
