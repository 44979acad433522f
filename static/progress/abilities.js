/** What the visitor can do: each line is ticked by what this browser knows to be done, and by nothing else. */

import { stays } from "../here.js";
import { h } from "../player/dom.js";
import { CHANGED, cardsDone, tasksDone } from "./progress.js";

/** @import { Component } from "../types.js" */

/** @typedef {{group: string, text: string, needs: string[]}} Ability needs: the keys of the deeds that show it */
/** @typedef {Record<string, {title: string, href: string}>} Deeds */

/** @type {Map<ShadowRoot, List>} */
const lists = new Map();
for (const change of [CHANGED, "storage"]) addEventListener(change, () => lists.forEach((one) => one.paint()));

/** @param {Component<ShadowRoot>} component */
export function show({ data, parentElement, setTriggerValue }) {
  const { abilities, deeds } = JSON.parse(new TextDecoder().decode(data));
  const list = lists.get(parentElement) ?? new List(parentElement);
  lists.set(parentElement, list);
  Object.assign(list, { abilities, deeds, go: (/** @type {string} */ key) => stays() && setTriggerValue("go", key) });
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
    /** @type {Ability[]} */
    this.abilities = [];
    /** @type {Deeds} */
    this.deeds = {};
    /** @type {(key: string) => void} */
    this.go = () => {};
    this.count = h("p", { role: "status" });
    this.groups = h("div", { class: "abilities" });
    parent.append(this.count, this.groups);
  }

  paint() {
    const done = { ...cardsDone(), ...tasksDone() };
    const missing = this.abilities.map(({ needs }) => needs.filter((key) => !(key in done)));
    const ticked = missing.filter((keys) => !keys.length).length;
    this.count.replaceChildren(h("strong", {}, `${ticked} of ${this.abilities.length}`), " ticked.");
    const groups = [...new Set(this.abilities.map(({ group }) => group))];
    this.groups.replaceChildren(
      ...groups.map((group) => {
        const items = this.abilities.flatMap((one, at) => (one.group === group ? [this.item(one, missing[at])] : []));
        return h("section", {}, h("h2", {}, group), h("ul", {}, ...items));
      }),
    );
  }

  /** @param {Ability} ability @param {string[]} missing */
  item({ text, needs }, missing) {
    const can = !missing.length;
    const left = h("ul", {}, ...missing.map((key) => h("li", {}, this.link(key))));
    return h(
      "li",
      {},
      h(
        "span",
        { class: can ? "can" : "" },
        h("span", { role: "img", "aria-label": can ? "ticked" : "open" }, can ? "☑" : "☐"),
      ),
      h(
        "div",
        {},
        `I can ${text} `,
        h("small", {}, can ? "Done." : `${needs.length - missing.length} of ${needs.length} done. Still to do:`),
        left,
      ),
    );
  }

  /** @param {string} key */
  link(key) {
    const { title, href } = this.deeds[key];
    const open = (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault(); // in this window the visit goes on
      this.go(key);
    };
    return h("a", { href: new URL(href || ".", document.baseURI).href, onclick: open }, title);
  }
}
