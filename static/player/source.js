/** The Source panel: the line of code that made the event, in its function as it ran. */

import { h, section, setText } from "./dom.js";

/** @import { SourceCode } from "../types.js" */
/** @import { Frame, TraceStates } from "./states.js" */

/** A function on the page, its lines and the current one.
 * @typedef {{element: HTMLElement, lines: HTMLElement[], lit: HTMLElement | null}} Code */

export class Source {
  constructor() {
    this.panel = section("Source line", "source");
    this.element = this.panel.element;
    this.where = h("p", { class: "where" });
    this.codes = h("div", { class: "codes", tabindex: 0, role: "region", "aria-label": "Source code" });
    this.right = h("p", { class: "right-line", hidden: true });
    this.panel.body.append(this.where, this.right, this.codes);
    /** @type {Map<string, Code>} functions that were already built, because events repeat them */
    this.functions = new Map();
    /** @type {Code | null} */
    this.shown = null;
  }

  /** Show the line of the engine that made the last event. @param {TraceStates} states @param {Frame} frame */
  paint(states, frame) {
    const event = frame.event;
    const right = states.departs(frame) ? (states.departure?.line ?? "") : ""; // "" if the lines agree
    this.right.hidden = !right;
    setText(this.right, right && `✓ right engine: ${right}`);
    this.codes.classList.toggle("departs", right !== "");
    this.element.toggleAttribute("data-empty", !event);
    if (!event) {
      setText(this.where, "The line that makes an event appears here.");
      this.codes.replaceChildren();
      this.shown = null;
      return;
    }
    const source = states.sources[event.source];
    const key = [event.source, source.file, source.first, ...source.lines].join("\n"); // a visitor rewrites their own
    const code = this.functions.get(key) ?? build(source);
    this.functions.set(key, code);
    if (this.shown !== code) this.codes.replaceChildren(code.element);
    this.shown = code;
    setText(this.where, `${source.file}, line ${event.line}, in ${event.source}`);
    const lit = code.lines[event.line - source.first] ?? null; // none beyond the part of a long file that is there
    if (code.lit !== lit) {
      code.lit?.removeAttribute("aria-current");
      lit?.setAttribute("aria-current", "true");
      code.lit = lit;
    }
    if (lit) this.reveal(lit);
  }

  /** Scroll to a line that is out of sight, and no further than the panel. @param {HTMLElement} line */
  reveal(line) {
    const { codes } = this;
    const [seen, { top, bottom }] = [codes.getBoundingClientRect(), line.getBoundingClientRect()];
    if (top < seen.top || bottom > seen.bottom) codes.scrollTop += (top + bottom - seen.top - seen.bottom) / 2;
  }
}

/** Build the elements of a function. @param {SourceCode} source @returns {Code} */
function build(source) {
  const written = source.lines.filter((text) => text.trim());
  const margin = Math.min(...written.map((text) => text.search(/\S/)));
  const lines = source.lines.map((fullLine, index) => {
    const text = fullLine.slice(margin); // a closure is indented inside its function
    const indent = Math.max(0, text.search(/\S/));
    const [code, rest] = codeAndComment(text);
    return h(
      "span",
      { class: "line" },
      h("span", { class: "line-number" }, String(source.first + index)),
      h("span", { class: "code", style: `--indent: ${indent}` }, code, h("i", {}, rest), "\n"),
    );
  });
  return { element: h("pre", {}, ...lines), lines, lit: null };
}

/** Return a line's code and its comment. @param {string} text @returns {[string, string]} */
function codeAndComment(text) {
  const comment = text.search(/(^|\s)# /);
  return comment < 0 ? [text, ""] : [text.slice(0, comment), text.slice(comment)];
}

/** Return the code that made the last event, "" if there is none. @param {TraceStates} states @param {Frame} frame */
export function codeOf(states, { event }) {
  if (!event) return "";
  const { lines, first } = states.sources[event.source];
  return codeAndComment(lines[event.line - first] ?? "")[0].trim();
}
