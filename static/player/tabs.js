/** Tabs with panels of the same size. Only the panel in front is painted. */

import { boxed, h, moveFocus } from "./dom.js";

/** @import { Frame, TraceStates } from "./states.js" */

/** @typedef {object} Page
 * @property {string} name
 * @property {string} title tooltip: the question that the panel answers
 * @property {HTMLElement[]} content
 * @property {(states: TraceStates, frame: Frame) => void} paint */

export class Tabs {
  /** @param {HTMLElement} head shown above every panel @param {Page[]} pages */
  constructor(head, pages) {
    this.pages = pages;
    this.front = pages[0];
    this.first = false; // the first page is open, whichever is in front
    /** @type {[TraceStates, Frame] | null} the state to paint */
    this.shown = null;
    const list = h("div", { class: "tab-list", role: "tablist", "aria-label": "What to look at" });
    this.buttons = pages.map((page) => {
      const onclick = () => this.show(page.name);
      const id = `tab-${page.name}`;
      return h("button", { role: "tab", id, title: page.title, onclick }, page.name);
    });
    list.append(...this.buttons);
    list.onkeydown = (event) => moveFocus(event, this.buttons, 0);
    this.panels = pages.map(({ name, content }) => {
      const role = { role: "tabpanel", "aria-labelledby": `tab-${name}`, tabindex: 0 }; // focusable, because it scrolls
      return h("div", { class: "tab-panel", ...role }, ...content);
    });
    const panels = h("div", { class: "tab-panels" }, ...this.panels);
    this.element = h("div", { class: "tabs" }, list, boxed(head, "tab-head"), panels);
    this.mark();
  }

  /** Open a tab. @param {string} name */
  show(name) {
    this.front = this.pages.find((page) => page.name === name) ?? this.front;
    this.mark();
    this.repaint();
  }

  get open() {
    return this.first ? this.pages[0] : this.front;
  }

  /** Open the first page, which alone has room in a presentation, or again the one in front. @param {boolean} on */
  alone(on) {
    this.first = on;
    this.mark();
    this.repaint();
  }

  mark() {
    this.pages.forEach((page, i) => {
      this.panels[i].hidden = page !== this.open;
      this.buttons[i].setAttribute("aria-selected", String(page === this.front));
    });
  }

  /** Hide a tab or show it again. @param {string} name @param {boolean} possible */
  allow(name, possible) {
    const i = this.pages.findIndex((page) => page.name === name);
    this.buttons[i].hidden = !possible;
    if (!possible && this.front === this.pages[i]) this.show(this.pages[0].name);
  }

  /** Paint the open tab. @param {TraceStates} states @param {Frame} frame */
  paint(states, frame) {
    this.shown = [states, frame];
    this.repaint();
  }

  repaint() {
    if (this.shown) this.open.paint(...this.shown);
  }
}
