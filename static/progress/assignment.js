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
    /** key of the page to begin with, which is not ticked */
    this.begin = "";
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
    const counted = this.items.filter(({ key }) => key !== this.begin);
    const count = counted.filter(({ key }) => key in done).length;
    this.top.hidden = !counted.length;
    setText(this.count, `${count} of ${counted.length} done`);
    this.bar.max = counted.length || 1;
    this.bar.value = count;
    this.list.replaceChildren(...this.items.map((item) => this.item(item, done[item.key])));
  }

  /** Return the line of an item. @param {Item} item @param {string | undefined} day */
  item({ key, title, href }, day) {
    const link = achievementLink(href, () => this.go(key), title);
    const sign = key === this.begin ? "→" : day ? "☑" : "☐";
    const state = key === this.begin ? "first" : day ? `done on ${day}` : "open";
    const mark = h("span", { class: day ? "done" : "", role: "img", "aria-label": state, title: state }, sign);
    return h("li", {}, mark, link);
  }
}

export const show = places((root) => new List(root));
