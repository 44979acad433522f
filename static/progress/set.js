/** A teacher's list of things to do: each is ticked by what this browser knows to be done. */

import { stays } from "../here.js";
import { h, setText } from "../player/dom.js";
import { CHANGED, cardsDone, tasksDone } from "./progress.js";

/** @import { Component } from "../types.js" */

/** @typedef {{key: string, title: string, href: string}} Item */

/** @type {Map<ShadowRoot, List>} */
const lists = new Map();
for (const change of [CHANGED, "storage"]) addEventListener(change, () => lists.forEach((one) => one.paint()));

/** @param {Component<ShadowRoot>} component */
export function show({ data, parentElement, setTriggerValue }) {
  const { items, begin } = JSON.parse(new TextDecoder().decode(data));
  const list = lists.get(parentElement) ?? new List(parentElement);
  lists.set(parentElement, list);
  Object.assign(list, { items, begin, go: (/** @type {string} */ key) => stays() && setTriggerValue("go", key) });
  list.paint();
}

/** Streamlit ends each call that a newer one has overtaken. A list ends only with its place on the page.
 * @param {ShadowRoot} parentElement */
export function remove(parentElement) {
  if (!parentElement.isConnected) lists.delete(parentElement);
}

class List {
  /** @param {ShadowRoot} parent */
  constructor(parent) {
    /** @type {Item[]} */
    this.items = [];
    /** the key of the page to begin with: it is nothing to tick */
    this.begin = "";
    /** @type {(key: string) => void} */
    this.go = () => {};
    this.count = h("strong", { role: "status" });
    this.bar = h("progress", { "aria-label": "Done of this list" });
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

  /** @param {Item} item @param {string | undefined} day */
  item({ key, title, href }, day) {
    const open = (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault(); // in this window the visit goes on
      this.go(key);
    };
    const link = h("a", { href: new URL(href || ".", document.baseURI).href, onclick: open }, title);
    const sign = key === this.begin ? "→" : day ? "☑" : "☐";
    const said = key === this.begin ? "first" : day ? `done on ${day}` : "open";
    const mark = h("span", { class: day ? "done" : "", role: "img", "aria-label": said, title: said }, sign);
    return h("li", {}, mark, link);
  }
}
