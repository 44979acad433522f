/** The cards of the path, each with what this browser knows of it, and the visitor's progress to save and to load. */

import { h, setText } from "../player/dom.js";
import { opened, packed } from "./file.js";
import { deedLink, Places } from "./places.js";
import { add, cardsDone, forgetCards, tasksDone } from "./progress.js";

/** @import { Component } from "../types.js" */

/** @typedef {{key: string, title: string, deed: string, page: string, href: string}} Card */

const LARGEST = 100_000; // bytes of a file of progress

/** @param {Component<ShadowRoot>} component */
export function show(component) {
  const { cards } = JSON.parse(new TextDecoder().decode(component.data));
  return paths.show(component, { cards });
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

  paint() {
    const done = cardsDone();
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
    const link = deedLink(
      card.href,
      () => this.go(card.key),
      h("strong", {}, `${at + 1}. ${card.title}`, h("small", {}, state)),
      h("span", {}, card.deed),
      h("span", {}, h("small", {}, card.page)),
    );
    if (day) link.title = `Done on ${day}`;
    return h("li", { class: day ? "done" : next ? "next" : "" }, link);
  }

  save() {
    const url = URL.createObjectURL(new Blob([packed(cardsDone(), tasksDone())], { type: "application/json" }));
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
    add(done, tasks);
    setText(this.said, said);
  }

  beginAgain() {
    const before = cardsDone();
    if (!Object.keys(before).length) return setText(this.said, "No card is done yet.");
    forgetCards();
    const back = () => {
      add(before);
      setText(this.said, "Everything is back.");
    };
    const undo = h("button", { type: "button", onclick: back }, "Undo");
    this.said.replaceChildren("All cards are open again. ", undo);
  }
}

const paths = new Places((root) => new Path(root));
