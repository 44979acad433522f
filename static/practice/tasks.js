/** The tasks of a course in a row, marked as passed from the progress in this browser. */

import { h } from "../player/dom.js";
import { places } from "../progress/places.js";
import { tasksDone } from "../progress/progress.js";

/** @import { ShownTasks } from "../types.js" */

class Row {
  /** @param {ShadowRoot} root */
  constructor(root) {
    this.root = root;
    this.course = this.label = this.now = "";
    /** @type {ShownTasks["tasks"]} */
    this.tasks = [];
    /** @type {(key: string) => void} */
    this.go = () => {};
    this.list = h("ol");
    root.append(this.list);
  }

  paint() {
    const { list } = this;
    const done = tasksDone();
    const items = this.tasks.map(({ key, title }, at) => {
      const day = done[`${this.course}/${key}`];
      const name = h("span", { class: "name" }, title, ...(day ? [h("span", { class: "unseen" }, ", passed")] : []));
      const sign = h("span", { class: "sign", "aria-hidden": true }, day ? "✓" : String(at + 1));
      const button = h("button", { title: day ? `${title}: passed on ${day}` : title }, sign, name);
      button.onclick = () => this.go(key);
      if (key === this.now) button.setAttribute("aria-current", "step");
      return h("li", { class: day ? "passed" : "" }, button);
    });
    list.setAttribute("aria-label", this.label);
    const focused = [...list.querySelectorAll("button")].findIndex((button) => button === this.root.activeElement);
    list.replaceChildren(...items);
    if (focused >= 0) list.querySelectorAll("button")[focused]?.focus();
  }
}

export const show = places((root) => new Row(root));
