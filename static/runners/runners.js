/** A race of N runners against two: finite differences need two passes per parameter, reverse mode two in all. */

import { DataTable } from "../charts/data_table.js";
import { Debounced, h, mayMove, s, setAttribute, setText } from "../player/dom.js";
import { passesOfLane, passesAt, placeOf } from "./pace.js";

/** @import { Component, RunnerCount, ShownRunners } from "../types.js" */

const SEND_DELAY_MS = 300; // without a change, before the page is told N
const MAX_LANES = 40; // more runners than this share lanes
const HEIGHT = 165; // pixels of a track
const EDGE = 16; // pixels between a runner and the end of its lane

/** @type {WeakMap<ShadowRoot, Race>} root of each component -> its race */
const races = new WeakMap();

/** Show the race in the data. @param {Component<ShadowRoot>} component */
export function show({ data, parentElement, setStateValue }) {
  let race = races.get(parentElement);
  if (!race) {
    race = new Race();
    races.set(parentElement, race);
    parentElement.append(race.element);
  }
  race.tell = (count) => setStateValue("count", count);
  race.take(JSON.parse(new TextDecoder().decode(data)));
}

class Race {
  constructor() {
    /** @type {ShownRunners | null} */
    this.shown = null;
    this.at = 0; // index of N among the counts
    this.acknowledged = -1; // the index that the page has
    this.running = 0; // the request for the next frame, or 0
    /** @type {(count: number) => void} */
    this.tell = () => {};
    this.telling = new Debounced(() => this.tell(this.now.n), SEND_DELAY_MS);
    const oninput = () => this.choose(Number(this.slider.value));
    this.slider = h("input", { type: "range", min: 0, "aria-label": "Number of parameters, N", oninput });
    this.count = h("output");
    this.button = h("button", { class: "go", onclick: () => this.run() }, "Run");
    this.note = h("p", { class: "said", role: "status" });
    this.many = new Track("Finite differences: each parameter runs forward twice, at +h and −h");
    this.two = new Track("Reverse mode: one runs forward, one backward");
    this.table = new DataTable();
    this.element = h(
      "div",
      { class: "race" },
      h("div", { class: "bar" }, this.count, this.slider, this.button),
      this.note,
      h("div", { class: "tracks" }, this.many.element, this.two.element),
      this.table.element,
    );
    new ResizeObserver(() => this.running || this.paint(0)).observe(this.element);
  }

  /** Show new data; keep a choice that the page does not know yet, and a race that the data do not change.
   * @param {ShownRunners} shown */
  take(shown) {
    const before = this.shown && { ...this.shown, n: this.now.n };
    this.shown = shown;
    if (shown.chosen !== this.acknowledged && !this.telling.waiting) this.at = shown.chosen;
    this.acknowledged = shown.chosen;
    this.slider.max = String(shown.counts.length - 1);
    this.slider.value = String(this.at);
    if (before?.n !== this.now.n || before.guessed !== shown.guessed) this.stop();
    else if (before.measured !== shown.measured && !this.running) setText(this.note, shown.measured);
  }

  /** Choose N, and tell the page after a pause. @param {number} at */
  choose(at) {
    this.at = at;
    this.stop();
    this.telling.postpone();
  }

  /** The data for the chosen N. @returns {RunnerCount} */
  get now() {
    const { counts } = /** @type {ShownRunners} */ (this.shown);
    return counts[Math.min(this.at, counts.length - 1)];
  }

  stop() {
    cancelAnimationFrame(this.running);
    this.running = 0;
    if (!this.shown) return;
    const { now } = this;
    this.slider.value = String(this.at);
    setAttribute(this.slider, "aria-valuetext", `${now.label} parameters`);
    setText(this.count, `N = ${now.label}`);
    this.button.disabled = !this.shown.guessed;
    setText(this.note, this.shown.guessed ? this.shown.measured || "Run: which side finishes first?" : this.shown.ask);
    this.table.show(this.shown.headers, now.rows);
    this.paint(0);
  }

  run() {
    this.stop();
    const { n } = this.now;
    const start = performance.now();
    const tick = (/** @type {number} */ time) => {
      const seconds = mayMove() ? Math.max(0, time - start) / 1000 : Infinity;
      const passes = passesAt(seconds, 2 * n);
      this.paint(passes);
      this.running = passes < 2 * n ? requestAnimationFrame(tick) : 0;
      if (!this.running) setText(this.note, this.now.result);
    };
    tick(start);
  }

  /** Draw both tracks. @param {number} passes passes done so far, with a fraction */
  paint(passes) {
    if (!this.shown) return;
    const { n, label } = this.now;
    const { guessed } = this.shown;
    this.many.paint(n, Math.min(passes, 2 * n), 2, `${label} runners`, guessed);
    this.two.paint(2, Math.min(passes, 2), 1, "2 runners", guessed);
  }
}

/** A track with a lane for each runner or each bundle of runners. */
class Track {
  /** @param {string} title */
  constructor(title) {
    this.picture = s("svg", { role: "img", height: HEIGHT });
    this.count = h("p", { class: "count" });
    this.element = h("figure", {}, h("figcaption", {}, title), this.picture, this.count);
    /** @type {SVGCircleElement[]} */
    this.runners = [];
  }

  /** Draw the runners where they are after this many passes. @param {number} runners
   * @param {number} passes passes done so far @param {number} each passes of one runner @param {string} name
   * @param {boolean} counted whether to show the number of passes, which answers the question */
  paint(runners, passes, each, name, counted) {
    const lanes = Math.min(runners, MAX_LANES);
    if (this.runners.length !== lanes) {
      this.runners = Array.from({ length: lanes }, () => s("circle", { class: "runner" }));
      this.picture.replaceChildren(...this.runners);
    }
    const width = this.picture.clientWidth || 400;
    const radius = Math.max(2, Math.min(9, HEIGHT / lanes / 2.6));
    const share = lanes / runners; // lanes per runner
    this.runners.forEach((runner, lane) => {
      const legs = passesOfLane(passes * share, lane, each);
      const back = each === 1 && lane === 1; // the second of two runners runs backward, from the result to the inputs
      const place = back ? 1 - placeOf(legs) : placeOf(legs);
      setAttribute(runner, "cx", (EDGE + place * (width - 2 * EDGE)).toFixed(1));
      setAttribute(runner, "cy", (((lane + 0.5) * HEIGHT) / lanes).toFixed(1));
      setAttribute(runner, "r", String(radius));
      setAttribute(runner, "class", `runner${legs >= each ? " done" : legs > 0 ? " now" : ""}`);
    });
    const total = runners * each;
    const made = Math.min(total, Math.floor(passes + 1e-9));
    const done = made === total ? "✓ " : "";
    const bundle = runners > lanes ? `; each dot is ${Math.round(runners / lanes).toLocaleString("en")} runners` : "";
    const count = `${done}${made.toLocaleString("en")} of ${total.toLocaleString("en")} passes`;
    setText(this.count, (counted ? count : name) + bundle);
    setAttribute(this.picture, "aria-label", `${name}: ${this.count.textContent}`);
  }
}
