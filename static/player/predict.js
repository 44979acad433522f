/** Predict: before a message is sent, the learner enters the gradient after it. Python sends the wrong numbers that
 * known mistakes give with the trace (lab/trace/mistakes.py); here they are only looked up. */

import { brief, flat, shapeOf, shapeText, toNumber } from "./format.js";
import { h, setText } from "./dom.js";

/** @import { Guessed, Value } from "../types.js" */
/** @import { TraceStates } from "./states.js" */

const RELATIVE_TOLERANCE = 0.01; // the player itself shows four digits
const ABSOLUTE_TOLERANCE = 1e-9;
const FRACTION = /([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(?:\s*\/\s*(\d+\.?\d*|\.\d+))?/gi;

/** Parse an answer like 6, −0.5, 1/2, [1, 2] or 1 2; null if invalid. A comma between digits is a decimal comma, and
 * ";" a separator, where only that gives the expected shape. @param {string} text @param {number[]} shape
 * @returns {Value | null} */
export function readAnswer(text, shape) {
  const read = [text, text.replace(/(\d),(?=\d)/g, "$1.").replaceAll(";", ",")].map(readNumbers);
  return read.find((value) => value !== null && String(shapeOf(value)) === String(shape)) ?? read[0];
}

/** Parse numbers with decimal points. @param {string} text @returns {Value | null} */
function readNumbers(text) {
  const plain = text.trim().replaceAll("−", "-").replaceAll("(", "[").replaceAll(")", "]");
  const numbers = plain.replace(FRACTION, (_, above, below = "1") => String(Number(above) / Number(below)));
  const listed = numbers.replace(/([\d\]])\s+(?=[-\d[])/g, "$1,");
  try {
    const value = JSON.parse(/^[^[].*,/.test(listed) ? `[${listed}]` : listed);
    const cells = flat(value);
    return cells.length && cells.every((cell) => typeof cell === "number") ? value : null;
  } catch {
    return null;
  }
}

/** Return whether two values are equal to the precision of working by hand. @param {Value} one @param {Value} other */
export function isClose(one, other) {
  const [a, b] = [one, other].map((value) => flat(value).map(toNumber));
  return (
    String(shapeOf(one)) === String(shapeOf(other)) &&
    a.every(
      (x, i) => Math.abs(x - b[i]) <= ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * Math.min(Math.abs(x), Math.abs(b[i])),
    )
  );
}

/** Return the feedback on an answer. @param {Value} answer @param {Value} right @param {Guessed[]} known */
export function verdictOn(answer, right, known) {
  if (isClose(answer, right)) return "✓ As you predicted.";
  const shape = String(shapeOf(answer)) === String(shapeOf(right));
  const signs = shape && flat(answer).every((x, i) => Math.sign(toNumber(x)) === Math.sign(toNumber(flat(right)[i])));
  const credit = !shape
    ? `, of shape ${shapeText(shapeOf(answer))}`
    : signs
      ? `, with the right sign${flat(right).length > 1 ? "s" : ""}`
      : "";
  const reasons = known.filter(({ wrong }) => isClose(answer, wrong)).map((mistake) => mistake.said);
  return [`✗ You predicted ${brief(answer)}${credit}.`, ...reasons].join(" ");
}

/** Return how far a step may go: up to the next message to predict, or past the open question. Until the answers are
 * known, that is every message.
 * @param {TraceStates} states @param {Record<string, Guessed[]> | null} known @param {number} asking
 * @param {number} from @param {number} to */
export function limitOf(states, known, asking, from, to) {
  const start = asking === from ? from + 2 : from;
  for (let i = start; i < to; i++) if (states.events[i].kind === "message" && (!known || known[i + 1])) return i;
  return Math.max(to, start);
}

export class Predict {
  /** @param {{onWish: () => void, onDone: (k: number) => void}} options onWish: `wanted` has changed;
   * onDone: the learner has answered or skipped the question, so go on to event k */
  constructor({ onWish, onDone }) {
    this.onWish = onWish;
    this.onDone = onDone;
    this.wanted = false;
    /** @type {TraceStates | null} */
    this.states = null;
    /** @type {Record<string, Guessed[]> | null} by the event index of an arrival */
    this.known = null;
    this.asking = -1; // the number of events before the open question, or -1
    this.verdict = { k: -1, text: "" };
    this.toggle = h("button", { class: "predict-button", "aria-pressed": false, hidden: true }, "Predict");
    this.toggle.title = "Ask me for each gradient before it is shown";
    this.toggle.onclick = () => {
      this.wanted = !this.wanted;
      this.toggle.setAttribute("aria-pressed", String(this.wanted));
      this.close();
      this.onWish();
    };
    this.question = h("label", { for: "prediction" });
    this.input = h("input", { id: "prediction", type: "text", autocomplete: "off", maxlength: 200 });
    this.wrong = h("p", { class: "unread", role: "status" });
    const show = h("button", { onclick: () => this.done("") }, "Show it");
    this.element = h(
      "form",
      { class: "predict", hidden: true },
      this.question,
      h("div", { class: "answer-row" }, this.input, h("button", { type: "submit", class: "main" }, "Check"), show),
      this.wrong,
    );
    this.element.onsubmit = (event) => {
      event.preventDefault();
      this.answer();
    };
  }

  /** Take a trace, and end the question about the last one, unless this brings its answer. @param {TraceStates} states
   * @param {boolean} possible whether a server can answer @param {Record<string, Guessed[]> | null} known */
  setTrace(states, possible, known) {
    const answered = !this.known && known?.[this.asking + 1];
    this.states = states;
    this.known = known;
    this.toggle.hidden = !possible;
    this.verdict = { k: -1, text: "" };
    if (!answered) this.close();
  }

  /** Return how far a step from one event to another may go. @param {number} from @param {number} to */
  limit(from, to) {
    const { states, known } = this;
    return states && this.wanted ? limitOf(states, known, this.asking, from, to) : to;
  }

  /** Show or close the question at an event. @param {number} k @param {boolean} stopped because of a question */
  paint(k, stopped) {
    if (k !== this.verdict.k) this.verdict = { k: -1, text: "" };
    if (!stopped || !this.states) {
      if (k !== this.asking) this.close();
      return;
    }
    const message = this.states.message(k);
    const [from, to] = [message.node, message.child].map((id) => this.states?.name(id));
    this.asking = k;
    setText(this.question, `Next, ${from} sends a message to ${to}. What is the gradient of ${to} after it?`);
    this.input.value = "";
    setText(this.wrong, "");
    this.element.hidden = false;
    this.input.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest" }); // on a phone it may be below the window
  }

  answer() {
    const { states, known, asking } = this;
    if (!states || asking < 0) return;
    if (!known) return setText(this.wrong, "The answers are being computed: press Check again in a moment.");
    const { after } = states.arrivalAfter(asking);
    const answer = readAnswer(this.input.value, shapeOf(after));
    if (answer === null) {
      setText(this.wrong, "Write a number such as 6, −0.5 or 1/2, or an array such as [1, 2].");
      return;
    }
    this.done(verdictOn(answer, after, known[asking + 1]));
  }

  /** Close the question, and show the feedback at the event that it was about.
   * @param {string} text the feedback on the answer */
  done(text) {
    const k = this.asking + 2; // the message, and its arrival
    this.close();
    this.verdict = { k, text };
    this.onDone(k);
  }

  close() {
    this.asking = -1;
    this.element.hidden = true;
  }
}
