/** The states controls: play, pause, step, scrub, speed. They set one number: how many events have happened. */

import { boxed, h, mayMove, s, setAttribute } from "./dom.js";

/** @import { TraceStates } from "./states.js" */

const EVENT_MS = 1100; // time for one event at normal speed
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

/** @typedef {object} Callbacks
 * @property {(from: number, to: number) => number} limit returns the event at which a step or a run has to stop
 * @property {(pass: "forward" | "backward") => boolean} mayRun tells whether a run may begin
 * @property {(k: number, moving: boolean, stopped: boolean) => void} onMove
 * @property {() => void} onRelease
 * @property {() => void} onPresent
 * @property {() => void} onFit
 * @property {(steps: number) => void} onZoom
 * @property {() => void} onCode shows all lines of the code, or again the current one
 * @property {(by: 1 | -1) => void} onTurn goes to the next or the previous prepared state */

export class Controls {
  /** @param {Callbacks} callbacks @param {boolean} [alone] no surrounding page uses the F key */
  constructor(callbacks, alone = false) {
    this.callbacks = callbacks;
    this.alone = alone;
    this.k = 0;
    this.length = 0;
    /** @type {TraceStates | null} */
    this.states = null;
    this.playing = false;
    this.running = 0; // the event at which the current run ends, or 0
    this.presenting = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @param {keyof typeof ICONS} name @param {string} label @param {() => void} onclick */
    const button = (name, label, onclick) => h("button", { "aria-label": label, title: label, onclick }, icon(name));
    this.playButton = button("play", "Play (space)", () => this.toggle());
    this.runs = {
      forward: h("button", { class: "run", onclick: () => this.run("forward") }),
      backward: h("button", { class: "run", onclick: () => this.run("backward") }),
    };
    const range = { type: "range", min: 0, max: 0, step: 1, value: 0 };
    this.scrubber = h("input", { ...range, "aria-label": "Event", class: "scrubber" });
    this.scrubber.oninput = () => {
      this.pause();
      this.go(Number(this.scrubber.value), false);
    };
    this.scrubber.onchange = () => this.callbacks.onRelease();
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
    const named = { class: "present-button", "aria-label": "Present (F)", title: "Present (F)" };
    const onPresent = () => this.callbacks.onPresent();
    const present = h("button", { ...named, onclick: onPresent }, icon("present"), h("span", {}, "Present"));
    this.element = h(
      "div",
      { class: "controls", role: "group", "aria-label": "TraceStates" },
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
      boxed(this.count, "count-box"),
      this.speed,
      present,
    );
  }

  /** Show the length and the marks of a trace on the scrubber. @param {TraceStates} states @param {number} k */
  setTrace(states, k) {
    if (k !== this.k || states.length !== this.length) this.pause();
    this.states = states;
    this.length = states.length;
    this.scrubber.max = String(states.length);
    this.count.style.width = `${2 * String(states.length).length + 3}ch`;
    this.element.style.setProperty("--seed", `${(100 * states.forwardEnd) / states.length}%`);
    this.backward.hidden = states.seedIndex < 0;
    this.backward.textContent = states.tangentOf ? "tangents" : "backward";
    const { departure, length } = states;
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

  /** Update the buttons of the two passes: a tick for one that is done, a highlight for the next one. */
  showRuns() {
    if (!this.states) return;
    const { forwardEnd, seedIndex, length } = this.states;
    const done = { forward: this.k >= forwardEnd, backward: seedIndex >= 0 && this.k === length };
    for (const pass of /** @type {const} */ (["forward", "backward"])) {
      const lit = !done[pass] && (pass === "forward" || done.forward);
      const look = `run${lit ? " main" : ""}${done[pass] ? " done" : ""}`;
      const button = this.runs[pass];
      const halted = lit && !this.running && this.k > (pass === "forward" ? 0 : forwardEnd);
      const full = pass === "backward" && this.states.tangentOf ? "Send tangents" : `Run ${pass} pass`;
      const text = halted ? "Continue" : full;
      if (button.className === look && button.textContent === text) continue;
      button.className = look;
      if (!button.firstChild) button.append(h("span", {}, h("span")), h("span", {}, h("span")));
      const [mark, word] = button.children;
      setAttribute(word, "data-full", full);
      mark.children[0].replaceChildren(icon(done[pass] ? "done" : "play"));
      word.children[0].textContent = text;
    }
    const stopped = seedIndex < 0;
    this.runs.backward.disabled = stopped;
    this.runs.backward.title = stopped ? "This backward pass did not begin." : "It stops where messages add up.";
  }

  /** Go to an event. @param {number} k @param {boolean} moving whether to animate a message along its edge
   * @param {boolean} stopped true if a question has ended the move early */
  go(k, moving, stopped = false) {
    const next = Math.max(0, Math.min(this.length, k));
    if (next === this.k && !stopped) return;
    this.k = next;
    this.show();
    this.callbacks.onMove(next, moving, stopped);
  }

  /** Go on to event k, or to the first question before it. @param {number} k @param {boolean} moving */
  advance(k, moving) {
    const wanted = Math.min(this.length, k);
    const next = wanted > this.k ? this.callbacks.limit(this.k, wanted) : k;
    if (next < wanted) this.pause();
    this.go(next, moving, next < wanted);
  }

  /** Move by some events. @param {number} by negative for backwards; ±Infinity goes to the end or the start */
  step(by) {
    this.pause();
    if (by === 1) this.advance(this.k + 1, true);
    else this.go(this.k + by, false);
    this.callbacks.onRelease();
  }

  /** Go to the next or the previous node. @param {1 | -1} by */
  stepNode(by) {
    if (!this.states) return;
    this.pause();
    this.advance(this.states.nextStop(this.k, by), false);
    this.callbacks.onRelease();
  }

  /** Run a pass from here, or again from its start. Pressed while it runs, it goes on to the next halt at once.
   * @param {"forward" | "backward"} pass */
  run(pass) {
    const { states } = this;
    if (!states || !this.callbacks.mayRun(pass)) return;
    const end = pass === "forward" ? states.forwardEnd : states.length;
    const immediate = this.running === end || !mayMove();
    if (this.k >= end) this.go(pass === "forward" ? 0 : states.forwardEnd, false);
    if (immediate) this.playTo(states.nextHalt(this.k, end), 0);
    else this.playTo(end, EVENT_MS / Number(this.speed.value));
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.k === this.length) this.go(0, false);
    this.playTo(this.length, EVENT_MS / Number(this.speed.value));
  }

  /** Play to an event, and halt where messages add up. @param {number} end
   * @param {number} pace milliseconds for an event; 0 goes to the next halt at once */
  playTo(end, pace) {
    clearTimeout(this.timer);
    this.running = end;
    this.setPlaying(true);
    const tick = () => {
      const halt = this.states?.nextHalt(this.k, end) ?? end;
      this.advance(pace ? this.k + 1 : halt, pace > 0);
      if (this.k >= halt) this.pause();
      else if (this.playing) this.timer = setTimeout(tick, pace);
    };
    tick();
  }

  pause() {
    clearTimeout(this.timer);
    if (!this.playing) return;
    this.running = 0;
    this.setPlaying(false);
    this.callbacks.onRelease();
  }

  /** Show whether the player runs. @param {boolean} playing */
  setPlaying(playing) {
    this.playing = playing;
    const label = playing ? "Pause (space)" : "Play (space)";
    this.playButton.replaceChildren(icon(playing ? "pause" : "play"));
    this.playButton.setAttribute("aria-label", label);
    this.playButton.title = label;
    this.showRuns();
  }

  /** Handle a key unless the focused element needs it itself. @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {Element} */ (event.composedPath()[0]);
    const inField = target.matches("input, select, textarea") && target !== this.scrubber;
    const inScroller = target.matches(".codes, .scroll, [role=tabpanel]");
    const present = this.alone && { f: () => this.callbacks.onPresent() };
    if (inField || (!this.presenting && inScroller && event.key !== " " && !/^f$/i.test(event.key))) return;
    if (event.key === " " && target.matches("button")) return;
    const always = {
      ArrowRight: () => (event.shiftKey ? this.stepNode(1) : this.step(1)),
      ArrowLeft: () => (event.shiftKey ? this.stepNode(-1) : this.step(-1)),
      Home: () => this.step(-Infinity),
      End: () => this.step(Infinity),
      " ": () => this.toggle(),
      0: () => this.callbacks.onFit(),
      "+": () => this.callbacks.onZoom(1),
      "-": () => this.callbacks.onZoom(-1),
      ...present,
    };
    const presenting = {
      Escape: () => this.callbacks.onPresent(),
      PageDown: () => (event.shiftKey ? this.callbacks.onTurn(1) : this.step(1)), // without shift, the key of a clicker
      PageUp: () => (event.shiftKey ? this.callbacks.onTurn(-1) : this.step(-1)),
      c: () => this.callbacks.onCode(),
      n: () => this.callbacks.onTurn(1),
      p: () => this.callbacks.onTurn(-1),
    };
    /** @type {Record<string, () => void>} */
    const actions = this.presenting ? { ...always, ...presenting } : always;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!Object.hasOwn(actions, key)) return;
    actions[key]();
    event.preventDefault();
    event.stopPropagation(); // the page may have a shortcut of its own on this key
  }

  destroy() {
    clearTimeout(this.timer);
  }
}

/** Return an icon. @param {keyof typeof ICONS} name */
function icon(name) {
  return s("svg", { viewBox: "0 0 20 20", "aria-hidden": true, class: "icon" }, s("path", { d: ICONS[name] }));
}
