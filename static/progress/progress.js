/** Which cards of the path are done, and which tasks are passed. Only this browser knows, and the file that the visitor
 * saves. */

import { stays } from "../here.js";
import { h, setText } from "../player/dom.js";
import { checked, opened, packed } from "./file.js";

/** @import { Component } from "../types.js" */

/** @typedef {{key: string, title: string, deed: string, page: string, href: string}} Card */
/** @import { Done } from "./file.js" */

const NAME = "tensor-ops-lab progress";
const TASKS = "tensor-ops-lab tasks";
const LARGEST = 100_000; // bytes of a file of progress
/** A card has been done, or a task passed. */
export const CHANGED = "tensor-ops-lab-progress";
/** The player has been moved to the end of a backward pass. */
export const END = "tensor-ops-lab-end";

/** @type {string[]} cards that the end of the pass on this page completes */
let waiting = [];
addEventListener(END, () => complete(waiting));

/** The page has been computed: these cards are done, and these will be at the end of the player's pass.
 * @param {Component<HTMLElement>} component */
export function note({ data }) {
  const { done, tasks, atEnd } = JSON.parse(new TextDecoder().decode(data));
  waiting = atEnd;
  complete(done);
  complete(tasks, TASKS);
}

/** The cards that are done, and when. @returns {Done} */
export function cardsDone() {
  return read();
}

/** The tasks that are passed, and when. @returns {Done} */
export function tasksDone() {
  return read(TASKS);
}

/** @param {string[]} keys */
function complete(keys, name = NAME) {
  const done = read(name);
  const fresh = keys.filter((key) => !(key in done));
  if (!fresh.length) return;
  const today = new Date().toISOString().slice(0, 10);
  write({ ...done, ...Object.fromEntries(fresh.map((key) => [key, today])) }, name);
}

/** @returns {Done} */
function read(name = NAME) {
  try {
    return checked(JSON.parse(localStorage.getItem(name) ?? "{}"));
  } catch {
    return {};
  }
}

/** @param {Done} done */
function write(done, name = NAME) {
  try {
    localStorage.setItem(name, JSON.stringify(done));
  } catch {
    // the browser keeps nothing for this site: the cards are done until the page is closed
  }
  dispatchEvent(new CustomEvent(CHANGED));
}

/** @type {Map<ShadowRoot, Path>} */
const paths = new Map();
for (const change of [CHANGED, "storage"]) addEventListener(change, () => paths.forEach((one) => one.paint()));

/** @param {Component<ShadowRoot>} component */
export function path({ data, parentElement, setTriggerValue }) {
  const { cards } = JSON.parse(new TextDecoder().decode(data));
  const known = paths.get(parentElement) ?? new Path(parentElement);
  paths.set(parentElement, known);
  known.go = (key) => stays() && setTriggerValue("go", key);
  known.show(cards);
}

/** Streamlit ends each call that a newer one has overtaken. A path ends only with its place on the page.
 * @param {ShadowRoot} parentElement */
export function remove(parentElement) {
  if (!parentElement.isConnected) paths.delete(parentElement);
}

class Path {
  /** @param {ShadowRoot} parent */
  constructor(parent) {
    /** @type {Card[]} */
    this.cards = [];
    /** @type {(key: string) => void} */
    this.go = () => {};
    this.count = h("strong");
    this.bar = h("progress", { "aria-label": "Cards done" });
    this.said = h("p", { class: "path-said", role: "status" });
    this.list = h("ol", { class: "path" });
    const file = h("input", { type: "file", accept: ".json", hidden: true, onchange: () => this.load(file) });
    const buttons = [
      h("button", { type: "button", onclick: () => this.save() }, "Save to a file"),
      h("button", { type: "button", onclick: () => file.click() }, "Load a file"),
      h("button", { type: "button", onclick: () => this.beginAgain() }, "Begin again"),
    ];
    parent.append(h("div", { class: "path-bar" }, this.count, this.bar, ...buttons, file, this.said), this.list);
  }

  /** @param {Card[]} cards */
  show(cards) {
    this.cards = cards;
    this.paint();
  }

  paint() {
    const done = read();
    const count = this.cards.filter((card) => card.key in done).length;
    setText(this.count, `${count} of ${this.cards.length} done`);
    this.bar.max = this.cards.length;
    this.bar.value = count;
    const next = this.cards.find((card) => !(card.key in done))?.key;
    this.list.replaceChildren(...this.cards.map((card, at) => this.item(card, at, done[card.key], card.key === next)));
  }

  /** @param {Card} card @param {number} at @param {string | undefined} day @param {boolean} next */
  item(card, at, day, next) {
    const state = day ? "✓ done" : next ? "next" : "";
    const open = (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault(); // in this window the visit goes on
      this.go(card.key);
    };
    const link = h(
      "a",
      { href: new URL(card.href || ".", document.baseURI).href, title: day && `Done on ${day}`, onclick: open },
      h("strong", {}, `${at + 1}. ${card.title}`, h("small", {}, state)),
      h("span", {}, card.deed),
      h("span", {}, h("small", {}, card.page)),
    );
    return h("li", { class: day ? "done" : next ? "next" : "" }, link);
  }

  save() {
    const url = URL.createObjectURL(new Blob([packed(read(), tasksDone())], { type: "application/json" }));
    const link = h("a", { href: url, download: "tensor-ops-lab-progress.json" });
    link.click();
    URL.revokeObjectURL(url);
    setText(
      this.said,
      "Saved. The file holds the cards and tasks you have done, the days, and a checksum, which is no proof.",
    );
  }

  /** @param {HTMLInputElement} input */
  async load(input) {
    const file = input.files?.[0];
    input.value = "";
    if (!file) return;
    const text = file.size > LARGEST ? "" : await file.text();
    const { done, tasks, said } = opened(
      text,
      this.cards.map((card) => card.key),
    );
    write({ ...tasks, ...tasksDone() }, TASKS);
    write({ ...done, ...read() });
    setText(this.said, said);
  }

  beginAgain() {
    const before = read();
    if (!Object.keys(before).length) return setText(this.said, "No card is done yet.");
    write({});
    const back = () => {
      write({ ...before, ...read() });
      setText(this.said, "Everything is back.");
    };
    const undo = h("button", { type: "button", onclick: back }, "Undo");
    this.said.replaceChildren("All cards are open again. ", undo);
  }
}
