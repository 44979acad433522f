/** A teacher's assignment, ticked from the progress in this browser. */

import { h, setText } from "../player/dom.js";
import { achievementLink, places } from "./places.js";
import { cardsDone, tasksDone } from "./progress.js";

/** @typedef {{key: string, title: string, href: string}} Item */

class List {
  /** @param {ShadowRoot} parent */
  constructor(parent) {
    /** @type {Item[]} */
    this.items = [];
    /** @type {(key: string) => void} */
    this.go = () => {};
    this.count = h("strong", { role: "status" });
    this.bar = h("progress", { "aria-label": "Done on this list" });
    this.list = h("ol");
    this.top = h("div", { class: "set-bar" }, this.count, this.bar);
    parent.append(this.top, this.list);
  }

  paint() {
    const done = { ...cardsDone(), ...tasksDone() };
    const count = this.items.filter(({ key }) => key in done).length;
    setText(this.count, `${count} of ${this.items.length} done`);
    this.bar.max = this.items.length;
    this.bar.value = count;
    this.list.replaceChildren(...this.items.map((item) => this.item(item, done[item.key])));
  }

  /** Return the line of an item. @param {Item} item @param {string | undefined} day */
  item({ key, title, href }, day) {
    const link = achievementLink(href, () => this.go(key), title);
    const state = day ? `done on ${day}` : "open";
    const mark = h(
      "span",
      { class: day ? "done" : "", role: "img", "aria-label": state, title: state },
      day ? "☑" : "☐",
    );
    return h("li", {}, mark, link);
  }
}

export const show = places((root) => new List(root));
