/** Play, pause, step, scrub, speed. One number comes out: how many events have happened. */

import { h, s, setAttribute } from "./dom.js";

/** @import { Playback } from "./playback.js" */

const PACE = 1100; // milliseconds for an event at normal speed
const ICONS = {
  first: "M5 4h2v12H5zM16 4v12l-8-6z",
  back: "M14 4v12l-8-6z",
  play: "M6 3.5v13l11-6.5z",
  pause: "M5 4h3.5v12H5zM11.5 4H15v12h-3.5z",
  forward: "M6 4v12l8-6z",
  last: "M13 4h2v12h-2zM4 4v12l8-6z",
};

export class Controls {
  /** @param {{onMove: (k: number, moving: boolean) => void, onRelease: () => void}} options */
  constructor({ onMove, onRelease }) {
    this.onMove = onMove;
    this.onRelease = onRelease;
    this.k = 0;
    this.length = 0;
    this.playing = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @param {keyof typeof ICONS} name @param {string} label @param {() => void} onclick */
    const button = (name, label, onclick) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick }, icon(name));
    this.playButton = button("play", "Play (space)", () => this.toggle());
    this.playButton.className = "main";
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
    this.scrubber.onchange = () => this.onRelease();
    this.count = h("output", { class: "count" });
    this.speed = h(
      "select",
      { "aria-label": "Speed" },
      ...[0.5, 1, 2, 4].map((speed) => h("option", { value: speed, selected: speed === 1 }, `${speed}×`)),
    );
    this.backward = h("span", {}, "backward");
    const phases = h("div", { class: "phases", "aria-hidden": true }, h("span", {}, "forward"), this.backward);
    this.element = h(
      "div",
      { class: "controls", role: "group", "aria-label": "Playback" },
      h(
        "div",
        { class: "buttons" },
        button("first", "First (Home)", () => this.step(-Infinity)),
        button("back", "Step back (left arrow)", () => this.step(-1)),
        this.playButton,
        button("forward", "Step forward (right arrow)", () => this.step(1)),
        button("last", "Last (End)", () => this.step(Infinity)),
      ),
      h("div", { class: "track" }, this.scrubber, phases),
      this.count,
      this.speed,
    );
  }

  /** @param {Playback} playback @param {number} k */
  setTrace(playback, k) {
    this.length = playback.length;
    this.scrubber.max = String(playback.length);
    this.count.style.width = `${2 * String(playback.length).length + 3}ch`;
    const forward = playback.seedIndex < 0 ? playback.length : playback.seedIndex;
    this.element.style.setProperty("--seed", `${(100 * forward) / playback.length}%`);
    this.backward.hidden = playback.seedIndex < 0;
    this.k = k;
    this.show();
  }

  show() {
    this.scrubber.value = String(this.k);
    setAttribute(this.scrubber, "aria-valuetext", `event ${this.k} of ${this.length}`);
    this.scrubber.style.setProperty("--share", `${(100 * this.k) / Math.max(1, this.length)}%`);
    this.count.textContent = `${this.k} / ${this.length}`;
  }

  /** @param {number} k @param {boolean} moving whether a message may be seen travelling */
  go(k, moving) {
    const next = Math.max(0, Math.min(this.length, k));
    if (next === this.k) return;
    this.k = next;
    this.show();
    this.onMove(next, moving);
  }

  /** @param {number} by how many events, forwards or backwards; infinity for the end or the start */
  step(by) {
    this.pause();
    this.go(this.k + by, by === 1);
    this.onRelease();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.k === this.length) this.go(0, false);
    this.setPlaying(true);
    const tick = () => {
      this.go(this.k + 1, true);
      if (this.k === this.length) this.pause();
      else this.timer = setTimeout(tick, PACE / Number(this.speed.value));
    };
    this.timer = setTimeout(tick, 200);
  }

  pause() {
    clearTimeout(this.timer);
    if (!this.playing) return;
    this.setPlaying(false);
    this.onRelease();
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
    const inScroller = target.matches(".codes, .scroll");
    if (inField || (inScroller && event.key !== " ")) return;
    if (event.key === " " && target.matches("button")) return;
    const action = {
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      Home: () => this.step(-Infinity),
      End: () => this.step(Infinity),
      " ": () => this.toggle(),
    }[event.key];
    if (!action) return;
    action();
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
