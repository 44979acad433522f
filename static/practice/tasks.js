/** The tasks of a course in a row, marked as passed from the progress in this browser. */

import { h } from "../player/dom.js";
import { Places } from "../progress/places.js";
import { tasksDone } from "../progress/progress.js";

/** @import { Component, ShownTasks } from "../types.js" */

/** Show the row in the data. @param {Component<ShadowRoot>} component */
export function show(component) {
  return rows.show(component, { shown: JSON.parse(new TextDecoder().decode(component.data)) });
}

class Row {
  /** @param {ShadowRoot} root */
  constructor(root) {
    this.root = root;
    /** @type {ShownTasks} */
    this.shown = { course: "", label: "", now: "", tasks: [] };
    /** @type {(key: string) => void} */
    this.go = () => {};
    this.list = h("ol");
    root.append(this.list);
  }

  paint() {
    const { shown, list } = this;
    const done = tasksDone();
    const items = shown.tasks.map(({ key, title }, at) => {
      const day = done[`${shown.course}/${key}`];
      const name = h("span", { class: "name" }, title, ...(day ? [h("span", { class: "unseen" }, ", passed")] : []));
      const sign = h("span", { class: "sign", "aria-hidden": true }, day ? "✓" : String(at + 1));
      const button = h("button", { type: "button", title: day ? `${title}: passed on ${day}` : title }, sign, name);
      button.onclick = () => this.go(key);
      if (key === shown.now) button.setAttribute("aria-current", "step");
      return h("li", { class: day ? "passed" : "" }, button);
    });
    list.setAttribute("aria-label", shown.label);
    const focused = [...list.querySelectorAll("button")].findIndex((button) => button === this.root.activeElement);
    list.replaceChildren(...items);
    if (focused >= 0) list.querySelectorAll("button")[focused]?.focus();
  }
}

const rows = new Places((root) => new Row(root));
