/** The lines of the engine that made the event, as they stood in the file when it ran. */

import { h, section, setText } from "./dom.js";

const [BEFORE, AROUND] = [2, 4]; // lines before the lit one, and in all, that are presented

/** @import { SourceCode } from "../types.js" */
/** @import { Frame, Playback } from "./playback.js" */

/** @typedef {object} Code a function, as it is shown
 * @property {HTMLElement} element
 * @property {HTMLElement[]} lines
 * @property {number[]} said the lines that do something: neither empty nor part of the docstring
 * @property {HTMLElement | null} lit
 * @property {[number, number][] | null} edges in pixels: the top and the bottom of each line */

export class Source {
  constructor() {
    this.panel = section("Source line", "source");
    this.element = this.panel.element;
    this.where = h("p", { class: "where" });
    this.codes = h("div", { class: "codes", tabindex: 0, role: "region", "aria-label": "Source code" });
    this.right = h("p", { class: "right-line", hidden: true });
    this.panel.body.append(this.where, this.right, this.codes);
    /** @type {Map<string, Code>} each function that was shown: most events come back to one */
    this.functions = new Map();
    /** @type {Code | null} */
    this.shown = null;
    this.top = 0;
    this.height = 0;
    /** @type {number | null} */
    this.line = null;
    this.alone = false; // only the lines around the lit one
    this.codes.addEventListener("scroll", () => (this.top = this.codes.scrollTop));
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(this.codes);
  }

  measure() {
    this.height = this.codes.clientHeight;
    this.top = this.codes.scrollTop;
    for (const code of this.functions.values()) code.edges = null;
    if (this.line !== null) this.reveal(this.line);
  }

  /** For those who sit far away: the line and what it belongs to, without docstring. @param {boolean} alone */
  present(alone) {
    this.alone = alone;
    if (this.shown && this.line !== null) this.leaveOut(this.shown, this.line);
    this.measure();
  }

  /** @param {Code} code @param {number} line counted from 0 */
  leaveOut({ lines, said }, line) {
    const around = linesAround(said, line);
    lines.forEach((element, i) => element.toggleAttribute("hidden", this.alone && !around.includes(i)));
  }

  /** @param {Playback} playback @param {Frame} frame */
  paint(playback, frame) {
    const event = frame.event;
    const right = playback.departs(frame) ? (playback.departure?.line ?? "") : ""; // where it is another line
    this.right.hidden = !right;
    setText(this.right, right && `✓ right engine: ${right}`);
    this.codes.classList.toggle("departs", right !== "");
    if (!event) {
      setText(this.where, "The line that makes an event appears here.");
      this.line = null;
      this.turnTo(null);
      return;
    }
    const source = playback.sources[event.source];
    const key = `${event.source} ${source.file} ${source.first}`;
    const code = this.functions.get(key) ?? this.write(source);
    this.functions.set(key, code);
    this.turnTo(code);
    setText(this.where, `${source.file}, line ${event.line}, in ${event.source}`);
    const current = event.line - source.first;
    if (code.lit !== code.lines[current]) {
      code.lit?.removeAttribute("aria-current");
      code.lit = code.lines[current];
      code.lit.setAttribute("aria-current", "true");
    }
    this.line = current;
    if (this.alone) {
      this.leaveOut(code, current);
      code.edges = null;
    }
    this.reveal(current);
  }

  /** All functions lie on top of each other and one is visible: to change which takes no layout.
   * @param {Code | null} code */
  turnTo(code) {
    if (this.shown === code) return;
    if (this.shown) this.shown.element.style.visibility = "hidden";
    if (code) code.element.style.visibility = "visible";
    this.shown = code;
  }

  /** @param {SourceCode} source @returns {Code} */
  write(source) {
    const written = source.lines.filter((text) => text.trim());
    const margin = Math.min(...written.map((text) => text.search(/\S/)));
    const lines = source.lines.map((whole, index) => {
      const text = whole.slice(margin); // a closure stands deep inside its function
      const indent = Math.max(0, text.search(/\S/));
      const comment = text.search(/(^|\s)# /);
      const [code, rest] = comment < 0 ? [text, ""] : [text.slice(0, comment), text.slice(comment)];
      return h(
        "span",
        { class: "line" },
        h("span", { class: "line-number" }, String(source.first + index)),
        h("span", { class: "code", style: `--indent: ${indent}` }, code, h("i", {}, rest), "\n"),
      );
    });
    const element = h("pre", {}, ...lines);
    this.codes.append(element);
    return { element, lines, said: linesThatDo(source.lines), lit: null, edges: null };
  }

  /** Scroll only if the line is out of sight, or to the top of what has room as a whole. To ask the browser where the
   * lines are, which are folded where they are too long, costs a layout: it is asked once for each function and width.
   * @param {number} line counted from 0 */
  reveal(line) {
    if (!this.shown) return;
    this.shown.edges ??= edgesOf(this.shown);
    const [top, bottom] = this.shown.edges[line];
    const whole = Math.max(...this.shown.edges.map(([, end]) => end)) <= this.height;
    if (top >= this.top && bottom <= this.top + this.height && !(whole && this.top)) return;
    this.top = whole ? 0 : Math.max(0, (top + bottom - this.height) / 2);
    this.codes.scrollTop = this.top;
  }

  destroy() {
    this.observer.disconnect();
  }
}

/** @param {Code} code */
function edgesOf({ element, lines }) {
  return lines.map((line) => {
    const top = line.offsetTop - element.offsetTop;
    return /** @type {[number, number]} */ ([top, top + line.offsetHeight]);
  });
}

/** The lines of a function that are neither empty nor part of its docstring. @param {string[]} lines */
function linesThatDo(lines) {
  const opens = lines.findIndex((text) => /^\s*[rR]?"""/.test(text));
  const oneLine = opens >= 0 && /""".*"""/.test(lines[opens]);
  const closes = oneLine ? opens : lines.findIndex((text, i) => i > opens && text.includes('"""'));
  return lines.flatMap((text, i) => (!text.trim() || (opens >= 0 && i >= opens && i <= closes) ? [] : [i]));
}

/** A few of these lines around one of them: more before it where fewer follow.
 * @param {number[]} lines @param {number} line */
function linesAround(lines, line) {
  const first = Math.min(lines.indexOf(line) - BEFORE, lines.length - AROUND);
  return lines.slice(Math.max(0, first), Math.max(0, first) + AROUND);
}
