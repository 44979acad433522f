/** The event in one sentence, and its arithmetic in large figures. */

import { bitmap } from "./arrays.js";
import { brief, broadcastCell, element, factor, flat, indexText, shapeOf, shapeText, toNumber } from "./format.js";
import { h } from "./dom.js";
import { gridOf } from "./layout.js";

const PATIENCE = 250; // milliseconds without a new event before a screen reader is told

/** @import { Accumulate, Forward, Message, Seed, Value } from "../types.js" */
/** @import { Frame, Playback } from "./playback.js" */

/** @typedef {object} Figure a number or a sign of the equation
 * @property {string} text
 * @property {string} caption
 * @property {string} role "sign", "value", "gradient", "message" or ""
 * @property {Value} [value] an array that is shown as a heat map */

/** @typedef {object} Story
 * @property {string} phase
 * @property {string} sentence
 * @property {Figure[]} equation
 * @property {string} note */

/** What happened at the last event of a frame.
 * @param {Playback} playback @param {Frame} frame @param {number | null} cell @returns {Story} */
export function tell(playback, frame, cell) {
  const story = storyOf(playback, frame, cell);
  if (playback.error && frame.k === playback.length)
    story.note = `${story.note} Here the engine stopped: ${playback.error}`.trim();
  return story;
}

/** @param {Playback} playback @param {Frame} frame @param {number | null} cell @returns {Story} */
function storyOf(playback, frame, cell) {
  const event = frame.event;
  if (!event) {
    return {
      phase: "Start",
      sentence: "Nothing has run yet: only the inputs have values.",
      equation: [],
      note: "Step forward to run the first operation.",
    };
  }
  if (event.kind === "forward") return forward(playback, event, cell);
  if (event.kind === "seed") return seed(playback, event);
  if (event.kind === "message") return message(playback, event, frame.k - 1, cell);
  return accumulate(playback, event, frame.k - 1, cell);
}

/** @param {Playback} playback @param {Forward} event @param {number | null} cell @returns {Story} */
function forward(playback, event, cell) {
  const node = playback.operation(event.node);
  const chosen = node.kind === "elementwise" ? cellOf(node.value, cell) : null;
  const numbers = playback.written(node, (child) =>
    factorOf(broadcastCell(playback.nodes[child].value, node.shape, chosen)),
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

/** @param {Playback} playback @param {Seed} event @returns {Story} */
function seed(playback, event) {
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

/** @param {Playback} playback @param {Message} event @param {number} index @param {number | null} cell
 * @returns {Story} */
function message(playback, event, index, cell) {
  const { sentence, figures, note } = sending(playback, event, index, cell);
  return { phase: "Backward pass", sentence: `${sentence}.`, equation: figures, note };
}

/** @param {Playback} playback @param {Accumulate} event @param {number} index @param {number | null} cell
 * @returns {Story} */
function accumulate(playback, event, index, cell) {
  const chosen = cellOf(event.after, cell);
  const [before, arrived, after] = [event.before, event.message, event.after].map((value) => pick(value, chosen));
  const { sentence } = sending(playback, playback.messageBefore(index), index - 1, cell);
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

/** An operation sends a message to an operand: in words, and as upstream × local derivative where it is that.
 * @param {Playback} playback @param {Message} event @param {number} index @param {number | null} cell
 * @returns {{sentence: string, figures: Figure[], note: string}} */
function sending(playback, event, index, cell) {
  const receiver = playback.name(event.child);
  const term = playback.term(index, event);
  const arrived = playback.arrivalAfter(index).message;
  const chosen = cellOf(arrived, cell);
  const where = chosen === null ? receiver : `${receiver}${indexText(shapeOf(arrived), chosen)}`;
  const from = `${playback.name(event.node)} (${playback.nodes[event.node].op})`;
  const wrong =
    term.agrees === false ? "The rule gives another number than the engine sent: something is broken here." : "";
  const repeated = String(shapeOf(event.contribution)) !== String(shapeOf(arrived));
  const contribution = pick(repeated ? arrived : event.contribution, chosen);
  const sent = amount(contribution, `message to ${where}`, "message");
  if (repeated || term.local === null) {
    const note = repeated
      ? `Broadcasting repeated ${receiver}, so what its copies receive is summed.`
      : `Rule: ${term.text}.`;
    return { sentence: `${from} sends ${brief(contribution)} to ${where}`, figures: [sent], note: wrong || note };
  }
  const upstream = broadcastCell(event.upstream, shapeOf(arrived), chosen);
  const local = broadcastCell(term.local, shapeOf(arrived), chosen);
  const equals = wrong ? "≠" : "=";
  return {
    sentence: `${from} sends ${factorOf(upstream)} × ${factorOf(local)} ${equals} ${brief(contribution)} to ${where}`,
    figures: [
      amount(upstream, `upstream gradient of ${playback.name(event.node)}`),
      sign("×"),
      amount(local, `local derivative: ${term.text}`),
      sign(equals),
      sent,
    ],
    note: wrong,
  };
}

/** Whether a gradient grew by a message, apart from what rounding makes of it. A single number is added to every cell.
 * @param {Value} before @param {Value} step @param {Value} after */
function addsUp(before, step, after) {
  const [starts, steps, ends] = [before, step, after].map((value) => flat(value).map(toNumber));
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

/** The chosen cell, if the array has it. @param {Value} value @param {number | null} cell */
function cellOf(value, cell) {
  return cell !== null && Array.isArray(value) && element(value, cell) !== undefined ? cell : null;
}

/** @param {Value} value @param {number | null} cell */
function pick(value, cell) {
  return cell === null ? value : element(value, cell);
}

/** @param {Value} value */
function factorOf(value) {
  return Array.isArray(value) ? brief(value) : factor(value);
}

/** @param {string} text @param {string} caption @returns {Figure} */
function figure(text, caption, role = "") {
  return { text, caption, role };
}

/** @param {Value} value @param {string} caption @returns {Figure} */
function amount(value, caption, role = "") {
  if (flat(value).length > 4) return { text: shapeText(shapeOf(value)), caption, role, value };
  return figure(role ? brief(value) : factorOf(value), caption, role);
}

/** @param {string} text @returns {Figure} */
function sign(text) {
  return figure(text, "", "sign");
}

/** @param {Value} value @param {string} shape */
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

  /** @param {Playback} playback @param {Frame} frame @param {number | null} cell */
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
