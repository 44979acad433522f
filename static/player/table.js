/** A table of all nodes, with the same information as the graph. */

import { brief, shapeText } from "./format.js";
import { h, link, section, setAttribute, setText } from "./dom.js";
import { fullShape, WAITING } from "./playback.js";

/** @import { Frame, Playback } from "./playback.js" */

/** @typedef {{row: HTMLElement, value: HTMLElement, gradient: HTMLElement, state: HTMLElement, last: unknown[],
 * words: string}} Row a table row, its cells, the state it last showed, and the words that a search matches */

const HEADINGS = ["Node", "Role", "Value", "Gradient", "State"];
const MIN_NODES_FOR_SEARCH = 20;
const MAX_NAME_LENGTH = 28; // characters: a longer name is cut and shown in full in a tooltip

export class Table {
  /** @param {string} title @param {string} name @param {(id: number) => void} onSelect */
  constructor(title, name, onSelect) {
    this.onSelect = onSelect;
    this.panel = section(title, name);
    this.element = this.panel.element;
    /** @type {Playback | null} */
    this.playback = null;
    this.structure = "";
    /** @type {Row[]} */
    this.rows = [];
    this.columns = HEADINGS.map(() => h("col"));
    this.body = h("tbody");
    this.heads = HEADINGS.map((text, i) => h("th", { scope: "col", class: i === 2 || i === 3 ? "number" : "" }, text));
    const head = h("thead", {}, h("tr", {}, ...this.heads));
    this.table = h("table", {}, h("colgroup", {}, ...this.columns), head, this.body);
    this.search = h("input", { type: "search", placeholder: "Find a node", "aria-label": "Find a node" });
    this.search.oninput = () => this.rows.forEach((row) => this.filter(row));
    this.panel.body.append(
      this.search,
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, this.table),
    );
  }

  /** Show the state of each node after an event. @param {Playback} playback @param {Frame} frame
   * @param {number | null} selected */
  paint(playback, frame, selected) {
    if (this.playback !== playback) {
      this.playback = playback;
      this.measure(playback);
      if (this.structure !== playback.structure) this.build(playback);
    }
    this.rows.forEach((row, id) => paintRow(row, playback, id, frame, selected));
  }

  /** Build a row for each node. @param {Playback} playback */
  build(playback) {
    this.structure = playback.structure;
    setText(this.heads[3], playback.tangentOf ? "Tangent" : HEADINGS[3]);
    this.search.hidden = playback.nodes.length < MIN_NODES_FOR_SEARCH;
    if (this.search.hidden) this.search.value = "";
    this.rows = playback.nodes.map(({ id }) => this.makeRow(playback, id));
    this.rows.forEach((row) => this.filter(row));
    this.body.replaceChildren(...this.rows.map(({ row }) => row));
  }

  /** Hide a row that does not contain every word of the search. @param {Row} row */
  filter({ row, words }) {
    row.hidden = !this.search.value
      .toLowerCase()
      .split(/\s+/)
      .every((word) => words.includes(word));
  }

  /** Return the row of a node. @param {Playback} playback @param {number} id @returns {Row} */
  makeRow(playback, id) {
    const value = h("td", { class: "number" });
    const gradient = h("td", { class: "number gradient" });
    const state = h("td");
    const definition = playback.definition(id);
    const name = h(
      "th",
      { scope: "row", title: definition },
      link(definition, () => this.onSelect(id)),
    );
    return {
      row: h("tr", {}, name, h("td", {}, roleOf(playback, id)), value, gradient, state),
      value,
      gradient,
      state,
      last: [],
      words: [definition, ...(playback.nodes[id].calls ?? [])].join(" ").toLowerCase(),
    };
  }

  /** Give each column the width of the longest text that any event will write into it, so that no event makes the
   * browser lay out the table again. @param {Playback} playback */
  measure(playback) {
    const longest = HEADINGS.map((text) => text.length);
    /** @param {number} column @param {string} text */
    const fit = (column, text) => (longest[column] = Math.max(longest[column], text.length));
    const ends = [0, playback.length].map((k) => playback.frame(k));
    playback.nodes.forEach((_, id) => {
      fit(0, playback.definition(id));
      fit(1, roleOf(playback, id));
      for (const end of ends) {
        fit(2, playback.valueText(id, end));
        fit(3, playback.gradientText(id, end));
        fit(4, playback.stateText(id, end));
      }
    });
    fit(2, "not run yet");
    fit(3, WAITING);
    for (const event of playback.events) {
      if (event.kind === "accumulate") fit(3, brief(event.after));
      if (event.kind === "seed") fit(3, brief(event.grad));
      if (event.kind === "tangent") fit(3, brief(event.value));
    }
    fit(4, "10 of 10 messages");
    longest[0] = Math.min(longest[0], MAX_NAME_LENGTH);
    longest.forEach((length, i) => (this.columns[i].style.width = `calc(${length}ch + 1.4rem)`));
    const all = longest.reduce((sum, length) => sum + length, 0);
    this.table.style.minWidth = `calc(${all}ch + ${HEADINGS.length * 1.4}rem)`;
  }
}

/** Return a node's kind and shape. @param {Playback} playback @param {number} id */
function roleOf(playback, id) {
  const shape = fullShape(playback.nodes[id]);
  return playback.derived[id].kind + (shape.length ? ` ${shapeText(shape)}` : "");
}

/** Update a row's cells. @param {Row} parts @param {Playback} playback @param {number} id
 * @param {Frame} frame @param {number | null} selected */
function paintRow(parts, playback, id, frame, selected) {
  const { row, value, gradient, state, last } = parts;
  const known = playback.isKnown(id, frame);
  const over = playback.nodes[id].now !== undefined && playback.isForwardOver(frame);
  const lit = id === playback.focus(frame).to;
  const chosen = id === selected;
  const now = [frame.gradients.get(id), known, over, playback.nodes[id].value, lit, chosen, frame.arrived.get(id)];
  if (now.every((part, i) => part === last[i])) return;
  parts.last = now;
  setAttribute(row, "class", `${lit ? "lit" : ""} ${chosen ? "selected" : ""} ${playback.derived[id].kind}`);
  setText(value, playback.valueText(id, frame));
  setText(gradient, playback.gradientText(id, frame));
  const wrong = playback.due(id, frame) !== undefined;
  const kind = wrong ? "wrong" : playback.gradientState(id, frame).replace(" ", "-");
  setAttribute(gradient, "class", `number gradient ${kind}`);
  setText(state, playback.stateText(id, frame));
}
