/** The cards of the path with the progress in this browser, and buttons that save and load a progress file. */

import { h, save, setText } from "../player/dom.js";
import { bringTexts, textsToSave } from "../practice/transfer.js";
import { fileText, MAX_BYTES, MAX_NAME_CHARACTERS, openFile } from "./file.js";
import { achievementLink, Count } from "./lists.js";
import { add, cardsDone, learner, setLearner, stumblesDone, tasksDone } from "./progress.js";

/** @import { Place } from "../mount.js" */
/** @import { ShownPath } from "../types.js" */

export class Path {
  /** @param {Place} place */
  constructor(place) {
    this.place = place;
    /** @type {ShownPath["cards"]} */
    this.cards = [];
    /** @type {ShownPath["courses"]} */
    this.courses = [];
    this.count = new Count("Cards done");
    this.note = h("p", { class: "said", role: "status" });
    this.list = h("ol");
    const file = h("input", { type: "file", accept: ".json", hidden: true, onchange: () => this.load(file) });
    const keepName = () => setLearner(this.name.value.trim());
    const attributes = { type: "text", maxlength: MAX_NAME_CHARACTERS, placeholder: "your name", autocomplete: "name" };
    this.name = h("input", { ...attributes, onchange: keepName });
    const buttons = [
      h("label", {}, "Name in the file ", this.name),
      h("button", { onclick: () => this.save() }, "Save to a file"),
      h("button", { onclick: () => file.click() }, "Load a file"),
    ];
    const bar = h("div", { class: "bar" }, this.count.element, ...buttons, file, this.note);
    this.element = h("div", { class: "path" }, bar, this.list);
  }

  /** @param {ShownPath} shown */
  show({ cards, courses }) {
    this.cards = cards;
    this.courses = courses;
  }

  draw() {
    if (!this.name.matches(":focus")) this.name.value = learner();
    const done = cardsDone();
    this.count.show(this.cards, done);
    const next = this.cards.find((card) => !(card.key in done))?.key;
    this.list.replaceChildren(...this.cards.map((card, at) => this.item(card, at, done[card.key], card.key === next)));
  }

  /** Return a card. @param {ShownPath["cards"][number]} card @param {number} at @param {string | undefined} day
   * @param {boolean} next */
  item(card, at, day, next) {
    const state = day ? "✓ done" : next ? "next" : "";
    const link = achievementLink(
      card.href,
      h("strong", {}, `${at + 1}. ${card.title}`, h("small", {}, state)),
      h("span", {}, card.action),
      h("span", {}, h("small", {}, card.page)),
    );
    if (day) link.title = `Done on ${day}`;
    return h("li", { class: day ? "done" : next ? "next" : "" }, link);
  }

  save() {
    setLearner(this.name.value.trim());
    const texts = textsToSave(this.courses.map(({ key }) => key));
    const progress = { name: learner(), cards: cardsDone(), tasks: tasksDone(), texts, stumbles: stumblesDone() };
    save(new Blob([fileText(progress)], { type: "application/json" }), fileName(learner()));
    const code = this.courses.filter(({ key }) => key in texts).map(({ title }) => title);
    const also = code.length ? ` and your code of ${code.join(", ")}` : "";
    setText(this.note, `Saved: what you have done and when${also}. Load the file in another browser to go on there.`);
  }

  /** Load the chosen progress file. @param {HTMLInputElement} input */
  async load(input) {
    const file = input.files?.[0];
    input.value = "";
    if (!file) return;
    const text = file.size > MAX_BYTES ? "" : await file.text();
    const { progress, message } = openFile(
      text,
      this.cards.map((card) => card.key),
    );
    if (!progress) return setText(this.note, message);
    add(progress);
    const { brought, copied } = bringTexts(progress.texts, this.courses);
    const code = brought.length ? ` Your code of ${brought.join(", ")} is here.` : "";
    const other = copied.length
      ? ` Your text of ${copied.join(", ")} here is different and stays; the file's is under Earlier copies.`
      : "";
    setText(this.note, message + code + other);
  }
}

/** Return the name of a learner's progress file. @param {string} name the learner's name */
function fileName(name) {
  const plain = name.replace(/[^\p{L}\p{M}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${plain || "tensor-ops-lab"}-progress.json`;
}
