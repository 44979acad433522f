/** The lines of the engine that made the event, as they stood in the file when it ran. */

import { h, section, setAttribute, setText } from "./dom.js";

const LINE = 20; // pixels, as in the style
const SEEN = 12; // lines

export class Source {
  constructor() {
    this.top = 0;
    this.panel = section("Source line", "source");
    this.element = this.panel.element;
    this.where = h("p", { class: "where" });
    this.code = h("pre", { tabindex: 0, "aria-label": "Source code" });
    this.panel.body.append(this.where, this.code);
    this.lines = [];
  }

  /** @param {import("./playback.js").Playback} playback @param {import("./playback.js").Frame} frame */
  paint(playback, frame) {
    const event = frame.event;
    this.code.hidden = !event;
    if (!event) {
      setText(this.where, "The line that makes an event appears here.");
      return;
    }
    const source = playback.sources[event.source];
    const key = `${event.source} ${source.file} ${source.first}`;
    if (this.shown !== key) this.show(source);
    this.shown = key;
    setText(this.where, `${source.file}, line ${event.line}, in ${event.source}`);
    const current = event.line - source.first;
    this.lines.forEach((line, index) => {
      setAttribute(line, "class", index === current ? "line lit" : "line");
      if (index === current) line.setAttribute("aria-current", "true");
      else line.removeAttribute("aria-current");
    });
    this.reveal(current);
  }

  /** Scroll only if the line is out of sight; asking the browser where things are would cost a layout per event. */
  reveal(line) {
    const top = Math.max(0, (line - SEEN / 2) * LINE);
    const inSight = line * LINE >= this.top && (line + 1) * LINE <= this.top + SEEN * LINE;
    if (inSight) return;
    this.top = top;
    this.code.scrollTop = top;
  }

  show(source) {
    this.lines = source.lines.map((text, index) => {
      const comment = text.search(/(^|\s)# /);
      const [code, rest] = comment < 0 ? [text, ""] : [text.slice(0, comment), text.slice(comment)];
      return h("span", { class: "line" }, h("span", { class: "line-number" }, String(source.first + index)), code, h("i", {}, rest), "\n");
    });
    this.code.replaceChildren(...this.lines);
    this.code.scrollTop = this.top = 0;
  }
}
