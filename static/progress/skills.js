/** The list of skills, ticked from the progress in this browser. */

import { h } from "../player/dom.js";
import { achievementLink, places } from "./places.js";
import { cardsDone, tasksDone } from "./progress.js";

/** @typedef {{group: string, text: string, needs: string[]}} Skill needs: keys of the achievements that show it */
/** @typedef {Record<string, {title: string, href: string}>} Achievements achievements by key */

class List {
  /** @param {ShadowRoot} parent */
  constructor(parent) {
    /** @type {Skill[]} */
    this.skills = [];
    /** @type {Achievements} */
    this.achievements = {};
    /** @type {(key: string) => void} */
    this.go = () => {};
    this.count = h("p", { role: "status" });
    this.groups = h("div", { class: "abilities" });
    parent.append(this.count, this.groups);
  }

  paint() {
    const done = { ...cardsDone(), ...tasksDone() };
    const missing = this.skills.map(({ needs }) => needs.filter((key) => !(key in done)));
    const ticked = missing.filter((keys) => !keys.length).length;
    this.count.replaceChildren(h("strong", {}, `${ticked} of ${this.skills.length}`), " ticked.");
    const groups = [...new Set(this.skills.map(({ group }) => group))];
    this.groups.replaceChildren(
      ...groups.map((group) => {
        const items = this.skills.flatMap((one, at) => (one.group === group ? [this.item(one, missing[at])] : []));
        return h("section", {}, h("h2", {}, group), h("ul", {}, ...items));
      }),
    );
  }

  /** Return the line of a skill. @param {Skill} skill @param {string[]} missing achievements not yet done */
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

  /** Return a link to an achievement. @param {string} key */
  link(key) {
    const { title, href } = this.achievements[key];
    return achievementLink(href, () => this.go(key), title);
  }
}

export const show = places((root) => new List(root));
