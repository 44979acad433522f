/** What shows the learner's progress on a page or asks for it: the path, an assignment, the tasks of a course, the note
 * of what has been done, and the question for finished engines. The lists are painted again when the progress changes,
 * in this window or another. */

import { mount } from "../mount.js";
import { h, setText } from "../player/dom.js";
import { Draft } from "../practice/draft.js";
import { Path } from "./path.js";
import { CHANGED, cardsDone, note, tasksDone } from "./progress.js";

/** @import { Place } from "../mount.js" */
/** @import { ShownAssignment, ShownEngines, ShownTasks } from "../types.js" */

/** A teacher's assignment. */
class Assignment {
  /** @param {Place} place */
  constructor(place) {
    this.place = place;
    /** @type {ShownAssignment["items"]} */
    this.items = [];
    this.count = new Count("Done on this list");
    this.list = h("ol");
    this.element = h("div", { class: "assignment" }, this.count.element, this.list);
  }

  /** @param {ShownAssignment} shown */
  show({ items }) {
    this.items = items;
  }

  draw() {
    const done = { ...cardsDone(), ...tasksDone() };
    this.count.show(this.items, done);
    this.list.replaceChildren(...this.items.map((item) => this.item(item, done[item.key])));
  }

  /** Return the line of an item. @param {ShownAssignment["items"][number]} item @param {string | undefined} day */
  item({ title, href }, day) {
    const state = day ? `done on ${day}` : "open";
    const look = { class: day ? "done" : "", role: "img", "aria-label": state, title: state };
    return h("li", {}, h("span", look, day ? "☑" : "☐"), achievementLink(href, title));
  }
}

/** The tasks of a course in a row. */
class Tasks {
  /** @param {Place} place */
  constructor(place) {
    this.place = place;
    /** @type {ShownTasks | null} */
    this.shown = null;
    this.element = h("ol", { class: "tasks" });
  }

  /** @param {ShownTasks} shown */
  show(shown) {
    this.shown = shown;
    this.element.setAttribute("aria-label", shown.label);
  }

  draw() {
    const { shown, element: list } = this;
    if (!shown) return;
    const done = tasksDone();
    const items = shown.tasks.map(({ key, title }, at) => {
      const day = done[`${shown.course}/${key}`];
      const name = h("span", { class: "name" }, title, ...(day ? [h("span", { class: "unseen" }, ", passed")] : []));
      const sign = h("span", { class: "sign", "aria-hidden": true }, day ? "✓" : String(at + 1));
      const attributes = {
        title: day ? `${title}: passed on ${day}` : title,
        onclick: () => go(this.place, key),
        "aria-current": key === shown.now ? "step" : null,
      };
      return h("li", { class: day ? "passed" : "" }, h("button", attributes, sign, name));
    });
    const focused = [...list.querySelectorAll("button")].findIndex((button) => button.matches(":focus"));
    list.replaceChildren(...items);
    if (focused >= 0) list.querySelectorAll("button")[focused]?.focus();
  }
}

/** The number of things done, as a text and a bar. */
export class Count {
  /** @param {string} label of the bar */
  constructor(label) {
    this.text = h("strong", { role: "status" });
    this.bar = h("progress", { "aria-label": label });
    this.element = h("div", { class: "count" }, this.text, this.bar);
  }

  /** @param {{key: string}[]} items @param {Record<string, string>} done */
  show(items, done) {
    const count = items.filter(({ key }) => key in done).length;
    setText(this.text, `${count} of ${items.length} done`);
    this.bar.max = items.length;
    this.bar.value = count;
  }
}

/** Return a link to the page of an achievement. @param {string} href address from the lab's root
 * @param {...(Node | string)} content */
export function achievementLink(href, ...content) {
  return h("a", { href: new URL(href || ".", document.baseURI).href }, ...content);
}

/** Tell the page which achievement the learner has chosen. @param {Place} place @param {string} key */
const go = ({ tell }, key) => tell("go", { key });

/** Return what sends the server the engines that were finished on earlier days; the server checks them again.
 * @param {Place} place */
function engines({ tell }) {
  return {
    /** @param {ShownEngines} shown */
    show({ courses, wanted }) {
      const days = tasksDone();
      const texts = courses.flatMap(({ key, last, tasks }) => {
        const text = days[`${key}/${last}`] ? new Draft(key).finished(tasks) : null;
        return text === null ? [] : [[key, text]];
      });
      // The server asks for each engine once. If a link needs one, an empty answer says that there is none.
      if (texts.length || wanted) tell("back", Object.fromEntries(texts));
    },
  };
}

/** @type {Record<string, (place: Place) => import("../mount.js").App>} */
const KINDS = {
  assignment: (place) => new Assignment(place),
  engines,
  note: () => ({ show: note }),
  path: (place) => new Path(place),
  tasks: (place) => new Tasks(place),
};

const EVENTS = [CHANGED, "storage"]; // after which a list is drawn again
export const show = mount((place, { kind }) => KINDS[kind](place), new URL("lists.css", import.meta.url), EVENTS);
