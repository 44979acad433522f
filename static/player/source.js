/** The lines of the engine that made the event, as they stood in the file when it ran. */

import { h, section, setText } from "./dom.js";

/** @import { SourceCode } from "../types.js" */
/** @import { Frame, Playback } from "./playback.js" */

/** @typedef {{element: HTMLElement, lines: HTMLElement[], lit: HTMLElement | null}} Code a function, as it is shown */

const LINE = 20; // pixels, as in the style
const MOST_ROWS = 3; // of the lit line, which is folded where it is too long

export class Source {
  constructor() {
    this.panel = section("Source line", "source");
    this.element = this.panel.element;
    this.where = h("p", { class: "where" });
    this.codes = h("div", { class: "codes", tabindex: 0, role: "region", "aria-label": "Source code" });
    this.panel.body.append(this.where, this.codes);
    /** @type {Map<string, Code>} each function that was shown: most events come back to one */
    this.functions = new Map();
    /** @type {Code | null} */
    this.shown = null;
    this.top = 0;
    this.height = 0;
    /** @type {number | null} */
    this.line = null;
    this.observer = new ResizeObserver(() => {
      this.height = this.codes.clientHeight;
      if (this.line !== null) this.reveal(this.line);
    });
    this.observer.observe(this.codes);
  }

  /** @param {Playback} playback @param {Frame} frame */
  paint(playback, frame) {
    const event = frame.event;
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
      const comment = text.search(/(^|\s)# /);
      const [code, rest] = comment < 0 ? [text, ""] : [text.slice(0, comment), text.slice(comment)];
      return h(
        "span",
        { class: "line" },
        h("span", { class: "line-number" }, String(source.first + index)),
        h("span", { class: "code" }, code, h("i", {}, rest)),
        "\n",
      );
    });
    const element = h("pre", {}, ...lines);
    this.codes.append(element);
    return { element, lines, lit: null };
  }

  /** Scroll only if the line may be out of sight: to scroll, or to ask the browser where things are, costs a layout.
   * Only the lit line may take more than one row. @param {number} line counted from 0 */
  reveal(line) {
    const inSight = line * LINE >= this.top && (line + MOST_ROWS) * LINE <= this.top + this.height;
    if (inSight) return;
    this.top = Math.max(0, (line + MOST_ROWS / 2) * LINE - this.height / 2);
    this.codes.scrollTop = this.top;
  }

  destroy() {
    this.observer.disconnect();
  }
}
