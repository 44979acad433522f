/** The Source panel: the line of code that made the event, in its function as it ran. */

import { h, section, setText } from "./dom.js";

const [LINES_BEFORE, LINES_SHOWN] = [1, 2]; // in a presentation: before the current line, and in all

/** @import { SourceCode } from "../types.js" */
/** @import { Frame, Playback } from "./playback.js" */

/** @typedef {object} Code a function on the page
 * @property {HTMLElement} element
 * @property {HTMLElement[]} lines
 * @property {number[]} codeLines indices of the lines that are neither empty nor part of the docstring
 * @property {HTMLElement | null} lit the current line
 * @property {[number, number][] | null} edges in pixels: the top and the bottom of each line */

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
    this.top = 0;
    this.height = 0;
    /** @type {number | null} */
    this.line = null;
    this.presented = false; // show only the lines around the current one
    this.codes.addEventListener("scroll", () => (this.top = this.codes.scrollTop));
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(this.codes);
  }

  /** Read the panel's size, and forget the positions of lines. */
  measure() {
    this.height = this.codes.clientHeight;
    this.top = this.codes.scrollTop;
    for (const code of this.functions.values()) code.edges = null;
    if (this.line !== null) this.reveal(this.line);
  }

  /** Show only the lines around the current one, or all. @param {boolean} presented */
  present(presented) {
    this.presented = presented;
    if (this.shown && this.line !== null) this.hideOthers(this.shown, this.line);
    this.measure();
  }

  /** Hide the lines far from the current one. @param {Code} code @param {number} line counted from 0 */
  hideOthers({ lines, codeLines }, line) {
    const around = linesAround(codeLines, line);
    lines.forEach((element, i) => element.toggleAttribute("hidden", this.presented && !around.includes(i)));
  }

  /** Show the line of the engine that made the last event. @param {Playback} playback @param {Frame} frame */
  paint(playback, frame) {
    const event = frame.event;
    const right = playback.departs(frame) ? (playback.departure?.line ?? "") : ""; // "" if the lines agree
    this.right.hidden = !right;
    setText(this.right, right && `✓ right engine: ${right}`);
    this.codes.classList.toggle("departs", right !== "");
    if (!event) {
      setText(this.where, "The line that makes an event appears here.");
      this.element.dataset.empty = "";
      this.line = null;
      this.showFunction(null);
      return;
    }
    delete this.element.dataset.empty;
    const source = playback.sources[event.source];
    const key = `${event.source} ${source.file} ${source.first}`;
    const code = this.functions.get(key) ?? this.build(source);
    this.functions.set(key, code);
    this.showFunction(code);
    setText(this.where, `${source.file}, line ${event.line}, in ${event.source}`);
    const current = event.line - source.first;
    const lit = code.lines[current] ?? null; // none beyond the part of a long file that is there
    if (code.lit !== lit) {
      code.lit?.removeAttribute("aria-current");
      lit?.setAttribute("aria-current", "true");
      code.lit = lit;
    }
    if (!lit) return;
    this.line = current;
    if (this.presented) {
      this.hideOthers(code, current);
      code.edges = null;
    }
    this.reveal(current);
  }

  /** Show another function. All are stacked and one is visible, so that a change needs no layout.
   * @param {Code | null} code */
  showFunction(code) {
    if (this.shown === code) return;
    if (this.shown) this.shown.element.style.visibility = "hidden";
    if (code) code.element.style.visibility = "visible";
    this.shown = code;
  }

  /** Build the elements of a function. @param {SourceCode} source @returns {Code} */
  build(source) {
    const written = source.lines.filter((text) => text.trim());
    const margin = Math.min(...written.map((text) => text.search(/\S/)));
    const lines = source.lines.map((fullLine, index) => {
      const text = fullLine.slice(margin); // a closure is indented inside its function
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
    return { element, lines, codeLines: codeLinesOf(source.lines), lit: null, edges: null };
  }

  /** Scroll to a line that is out of sight, or to the top if the whole function fits. Reading the positions of lines,
   * which may wrap, costs a layout, so they are read once for each function and width.
   * @param {number} line counted from 0 */
  reveal(line) {
    if (!this.shown) return;
    this.shown.edges ??= edgesOf(this.shown);
    const [top, bottom] = this.shown.edges[line];
    const fits = Math.max(...this.shown.edges.map(([, end]) => end)) <= this.height;
    if (top >= this.top && bottom <= this.top + this.height && !(fits && this.top)) return;
    this.top = fits ? 0 : Math.max(0, (top + bottom - this.height) / 2);
    this.codes.scrollTop = this.top;
  }

  destroy() {
    this.observer.disconnect();
  }
}

/** Return the top and bottom of each line. @param {Code} code */
function edgesOf({ element, lines }) {
  return lines.map((line) => {
    const top = line.offsetTop - element.offsetTop;
    return /** @type {[number, number]} */ ([top, top + line.offsetHeight]);
  });
}

/** Return the indices of the lines that are neither empty nor part of the docstring. @param {string[]} lines */
function codeLinesOf(lines) {
  const opens = lines.findIndex((text) => /^\s*[rR]?"""/.test(text));
  const oneLine = opens >= 0 && /""".*"""/.test(lines[opens]);
  const closes = oneLine ? opens : lines.findIndex((text, i) => i > opens && text.includes('"""'));
  return lines.flatMap((text, i) => (!text.trim() || (opens >= 0 && i >= opens && i <= closes) ? [] : [i]));
}

/** Return a few of these lines around one of them, with more before it if fewer follow.
 * @param {number[]} lines @param {number} line */
function linesAround(lines, line) {
  const first = Math.min(lines.indexOf(line) - LINES_BEFORE, lines.length - LINES_SHOWN);
  return lines.slice(Math.max(0, first), Math.max(0, first) + LINES_SHOWN);
}
