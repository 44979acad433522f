/** Play, pause, step, scrub, speed. One number comes out: how many events have happened. */

import { h, mayMove, s, setAttribute } from "./dom.js";

/** @import { Playback } from "./playback.js" */

const PACE = 1100; // milliseconds for an event at normal speed
const SWEEP = 1600; // milliseconds for a whole pass, when one of the two buttons runs it
const LONGEST = 260; // milliseconds for an event in such a run
const ICONS = {
  first: "M5 4h2v12H5zM16 4v12l-8-6z",
  nodeBack: "M10 4v12l-7-6zM17 4v12l-7-6z",
  back: "M14 4v12l-8-6z",
  play: "M6 3.5v13l11-6.5z",
  pause: "M5 4h3.5v12H5zM11.5 4H15v12h-3.5z",
  forward: "M6 4v12l8-6z",
  nodeForward: "M3 4v12l7-6zM10 4v12l7-6z",
  last: "M13 4h2v12h-2zM4 4v12l8-6z",
  done: "M8 14.6 3.4 10l1.5-1.5L8 11.6l7.1-7.1L16.6 6z",
  present: "M3 3h6v2H5v4H3zM11 3h6v6h-2V5h-4zM3 11h2v4h4v2H3zM15 11h2v6h-6v-2h4z",
};

/** @typedef {object} Wishes
 * @property {(from: number, to: number) => number} limit how far a step, or a run, may go at once
 * @property {(k: number, moving: boolean, stopped: boolean) => void} onMove
 * @property {() => void} onRelease
 * @property {() => void} onPresent
 * @property {(by: 1 | -1) => void} onTurn to the next prepared state, or the one before */

export class Controls {
  /** @param {Wishes} wishes @param {boolean} [alone] there is no page around that has the F key */
  constructor(wishes, alone = false) {
    this.wishes = wishes;
    this.alone = alone;
    this.k = 0;
    this.length = 0;
    /** @type {Playback | null} */
    this.playback = null;
    this.playing = false;
    this.running = 0; // the event that a run goes to, or 0
    this.presenting = false;
    this.stopping = false; // the backward pass stops at each message
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @param {keyof typeof ICONS} name @param {string} label @param {() => void} onclick */
    const button = (name, label, onclick) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick }, icon(name));
    this.playButton = button("play", "Play (space)", () => this.toggle());
    this.runs = {
      forward: h("button", { type: "button", class: "run", onclick: () => this.run("forward") }),
      backward: h("button", { type: "button", class: "run", onclick: () => this.run("backward") }),
    };
    this.scrubber = h("input", {
      type: "range",
      min: 0,
      max: 0,
      step: 1,
      value: 0,
      "aria-label": "Event",
      class: "scrubber",
    });
    this.scrubber.oninput = () => {
      this.pause();
      this.go(Number(this.scrubber.value), false);
    };
    this.scrubber.onchange = () => this.wishes.onRelease();
    this.count = h("output", { class: "count" });
    this.speed = h(
      "select",
      { "aria-label": "Speed" },
      ...[0.5, 1, 2, 4].map((speed) => h("option", { value: speed, selected: speed === 1 }, `${speed}×`)),
    );
    this.backward = h("span", {}, "backward");
    const names = [h("span", {}, "forward"), this.backward];
    this.departs = h("div", { class: "departs", title: "The first event that differs", hidden: true }, "✗");
    const border = h("div", { class: "border" });
    const phases = h("div", { class: "phases", "aria-hidden": true }, border, this.departs, ...names);
    const present = h(
      "button",
      {
        type: "button",
        class: "present-button",
        "aria-label": "Present (F)",
        title: "Present (F)",
        onclick: () => this.wishes.onPresent(),
      },
      icon("present"),
      h("span", {}, "Present"),
    );
    this.element = h(
      "div",
      { class: "controls", role: "group", "aria-label": "Playback" },
      h("div", { class: "runs" }, this.runs.forward, this.runs.backward),
      h(
        "div",
        { class: "buttons" },
        button("first", "First (Home)", () => this.step(-Infinity)),
        button("nodeBack", "Node before (shift and left arrow)", () => this.stepNode(-1)),
        button("back", "Step back (left arrow)", () => this.step(-1)),
        this.playButton,
        button("forward", "Step forward (right arrow)", () => this.step(1)),
        button("nodeForward", "Next node (shift and right arrow)", () => this.stepNode(1)),
        button("last", "Last (End)", () => this.step(Infinity)),
      ),
      h("div", { class: "track" }, this.scrubber, phases),
      this.count,
      this.speed,
      present,
    );
  }

  /** @param {Playback} playback @param {number} k */
  setTrace(playback, k) {
    if (k !== this.k || playback.length !== this.length) this.pause();
    this.playback = playback;
    this.length = playback.length;
    this.scrubber.max = String(playback.length);
    this.count.style.width = `${2 * String(playback.length).length + 3}ch`;
    this.element.style.setProperty("--seed", `${(100 * playback.forwardEnd) / playback.length}%`);
    this.backward.hidden = playback.seedIndex < 0;
    this.backward.textContent = playback.tangentOf ? "tangents" : "backward";
    const { departure, length } = playback;
    this.departs.hidden = departure === null;
    if (departure) this.departs.style.left = `${(100 * (departure.event + 1)) / length}%`;
    this.k = k;
    this.show();
  }

  show() {
    this.scrubber.value = String(this.k);
    setAttribute(this.scrubber, "aria-valuetext", `event ${this.k} of ${this.length}`);
    this.scrubber.style.setProperty("--share", `${(100 * this.k) / Math.max(1, this.length)}%`);
    this.count.textContent = `${this.k} / ${this.length}`;
    this.showRuns();
  }

  /** The two passes: a tick for what is done, and the one that is next is lit. */
  showRuns() {
    if (!this.playback) return;
    const { forwardEnd, seedIndex, length } = this.playback;
    const done = { forward: this.k >= forwardEnd, backward: seedIndex >= 0 && this.k === length };
    for (const pass of /** @type {const} */ (["forward", "backward"])) {
      const lit = !done[pass] && (pass === "forward" || done.forward);
      const look = `run${lit ? " main" : ""}${done[pass] ? " done" : ""}`;
      const button = this.runs[pass];
      const begun = this.stopping && pass === "backward" && this.k > forwardEnd && !done.backward;
      const text = begun
        ? `Next message (${this.messages(this.k) + 1} of ${this.messages(length)})`
        : pass === "backward" && this.playback.tangentOf
          ? "Send tangents"
          : `Run ${pass} pass`;
      if (button.className === look && button.textContent === text) continue;
      button.className = look;
      button.replaceChildren(icon(done[pass] ? "done" : "play"), text);
    }
    const stopped = seedIndex < 0;
    this.runs.backward.disabled = stopped;
    this.runs.backward.title = stopped ? "This backward pass did not begin." : "";
  }

  /** How many messages have arrived after k events. @param {number} k */
  messages(k) {
    return this.playback?.events.slice(0, k).filter(({ kind }) => kind === "accumulate").length ?? 0;
  }

  /** To where the next message has arrived. */
  nextMessage() {
    if (!this.playback) return;
    const { events, forwardEnd, length } = this.playback;
    this.pause();
    const from = this.k === length ? forwardEnd : Math.max(this.k, forwardEnd);
    const next = events.findIndex(({ kind }, i) => i >= from && kind === "accumulate");
    this.go(from, false);
    this.advance(next < 0 ? length : next + 1, true);
    this.wishes.onRelease();
  }

  /** @param {number} k @param {boolean} moving whether a message may be seen travelling
   * @param {boolean} stopped it was to go further, but there is a question first */
  go(k, moving, stopped = false) {
    const next = Math.max(0, Math.min(this.length, k));
    if (next === this.k && !stopped) return;
    this.k = next;
    this.show();
    this.wishes.onMove(next, moving, stopped);
  }

  /** Go on by a step or in a run, as far as nothing is to be asked first. @param {number} k @param {boolean} moving */
  advance(k, moving) {
    const wanted = Math.min(this.length, k);
    const next = wanted > this.k ? this.wishes.limit(this.k, wanted) : k;
    if (next < wanted) this.pause();
    this.go(next, moving, next < wanted);
  }

  /** @param {number} by how many events, forwards or backwards; infinity for the end or the start */
  step(by) {
    this.pause();
    if (by === 1) this.advance(this.k + 1, true);
    else this.go(this.k + by, false);
    this.wishes.onRelease();
  }

  /** @param {1 | -1} by */
  stepNode(by) {
    if (!this.playback) return;
    this.pause();
    this.advance(this.playback.nextStop(this.k, by), false);
    this.wishes.onRelease();
  }

  /** Run a pass to its end from here; from its end or later, once more from its beginning. The button of a pass that
   * runs leads to its end at once. @param {"forward" | "backward"} pass */
  run(pass) {
    const { playback } = this;
    if (!playback) return;
    if (this.stopping && pass === "backward") {
      this.nextMessage();
      return;
    }
    const end = pass === "forward" ? playback.forwardEnd : playback.length;
    const hurry = this.running === end || !mayMove();
    clearTimeout(this.timer);
    if (this.k >= end && !hurry) this.go(pass === "forward" ? 0 : playback.forwardEnd, false);
    const from = this.k;
    const pace = Math.min(LONGEST, SWEEP / Math.max(1, end - from)) / Number(this.speed.value);
    const start = performance.now();
    const tick = () => {
      const reached = hurry ? end : from + 1 + Math.floor((performance.now() - start) / pace);
      this.advance(Math.min(end, reached), false);
      if (this.k === end) this.pause();
      else if (this.playing) this.timer = setTimeout(tick, pace);
    };
    this.running = end;
    this.setPlaying(true);
    tick();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.k === this.length) this.go(0, false);
    this.setPlaying(true);
    const tick = () => {
      this.advance(this.k + 1, true);
      if (this.k === this.length) this.pause();
      else if (this.playing) this.timer = setTimeout(tick, PACE / Number(this.speed.value));
    };
    this.timer = setTimeout(tick, 200);
  }

  pause() {
    clearTimeout(this.timer);
    this.running = 0;
    if (!this.playing) return;
    this.setPlaying(false);
    this.wishes.onRelease();
  }

  /** @param {boolean} playing */
  setPlaying(playing) {
    this.playing = playing;
    const label = playing ? "Pause (space)" : "Play (space)";
    this.playButton.replaceChildren(icon(playing ? "pause" : "play"));
    this.playButton.setAttribute("aria-label", label);
    this.playButton.title = label;
  }

  /** Keys that work anywhere in the player, except where they already mean something. @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {Element} */ (event.composedPath()[0]);
    const inField = target.matches("input, select, textarea") && target !== this.scrubber;
    const inScroller = target.matches(".codes, .scroll, [role=tabpanel]");
    const present = this.alone && { f: () => this.wishes.onPresent() };
    if (inField || (!this.presenting && inScroller && event.key !== " " && !/^f$/i.test(event.key))) return;
    if (event.key === " " && target.matches("button")) return;
    const always = {
      ArrowRight: () => (event.shiftKey ? this.stepNode(1) : this.step(1)),
      ArrowLeft: () => (event.shiftKey ? this.stepNode(-1) : this.step(-1)),
      Home: () => this.step(-Infinity),
      End: () => this.step(Infinity),
      " ": () => this.toggle(),
      ...present,
    };
    const presenting = {
      Escape: () => this.wishes.onPresent(),
      PageDown: () => (event.shiftKey ? this.wishes.onTurn(1) : this.step(1)), // without shift: a presenter's clicker
      PageUp: () => (event.shiftKey ? this.wishes.onTurn(-1) : this.step(-1)),
      n: () => this.wishes.onTurn(1),
      p: () => this.wishes.onTurn(-1),
    };
    /** @type {Record<string, () => void>} */
    const actions = this.presenting ? { ...always, ...presenting } : always;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!Object.hasOwn(actions, key)) return;
    actions[key]();
    event.preventDefault();
  }

  destroy() {
    clearTimeout(this.timer);
  }
}

/** @param {keyof typeof ICONS} name */
function icon(name) {
  return s("svg", { viewBox: "0 0 20 20", "aria-hidden": true, class: "icon" }, s("path", { d: ICONS[name] }));
}
