/** A program of one's own: its editor, whose lines follow the player, and the engine's lines in a second tab.
 *
 * The browser stores the text at every change and writes it to the address; it goes to the server only to be run. */

import { isCurrentPage } from "../current_page.js";
import { mount } from "../mount.js";
import { ancestors, bringIntoWindow, Debounced, h, PHONE_WIDTH, setText, withCode } from "../player/dom.js";
import { LINE, POINTED, SHOWN } from "../player/pointing.js";
import { Source } from "../player/source.js";
import { Draft } from "../practice/draft.js";
import { editor } from "../practice/editor.js";
import { hashed } from "../progress/hash.js";
import { packed } from "./packed.js";

/** @import { Place } from "../mount.js" */
/** @import { ShownProgram } from "../types.js" */
/** @import { TraceStates } from "../player/states.js" */
/** @import { Pointed, Shown } from "../player/pointing.js" */

const MAX_CHARACTERS = 20_000; // of a program that is run
const MAX_LINKED = 4_000; // characters of a program that the address carries
const MIN_HEIGHT = 430; // pixels, of a player that is one part of a page
const OLDER = "You have changed the text: graph, output and findings are those of the program that ran last.";
const WRITE_MS = 400; // after the last change, until it is in the address

let taken = 0; // number of the text that the page gave last

class Program {
  /** @param {Place} place @param {ShownProgram} shown */
  constructor({ root, tell }, shown) {
    this.shown = shown;
    this.tell = tell;
    this.draft = new Draft("program");
    /** @type {Shown | null} what the player shows */
    this.at = null;
    this.asked = false; // for a run whose result has not come
    this.awaited = false; // the picture of a run, which has not come
    this.older = false; // the picture is of a text that has changed since
    this.writing = new Debounced(() => this.writeAddress(), WRITE_MS);
    this.runButton = h("button", { class: "check", onclick: () => this.run() }, "Run (Ctrl+Enter)");
    this.stopButton = h("button", { onclick: () => tell("stop", true) }, "Stop");
    this.note = h("p", { class: "said", role: "status" });
    const place = h("div", { class: "editor" });
    this.source = new Source();
    this.engine = h("div", { class: "engine" }, this.source.element);
    this.tabs = ["Your program", "Engine: model.py"].map((name, i) =>
      h("button", { role: "tab", onclick: () => this.open(i) }, name),
    );
    this.panels = [place, this.engine];
    const list = h("div", { class: "tab-list", role: "tablist", "aria-label": "Code" }, ...this.tabs);
    const bar = h("div", { class: "bar" }, list, h("span", { class: "gap" }), this.stopButton, this.runButton);
    this.problem = h("p", { class: "problem", role: "status" });
    this.element = h("div", { class: "program" }, bar, this.note, place, this.engine, this.problem);
    root.append(this.element);
    this.editor = editor(place, "Your program, in Python. To leave it: Escape, then Tab.", this.first(shown), {
      changed: () => this.changed(),
      check: () => this.run(),
      pointed: (line) => dispatchEvent(new CustomEvent(LINE, { detail: this.isCurrent() ? line : null })),
    });
    this.open(0);
    this.tabs[1].hidden = true; // until a pass of the engine is shown
    this.onShown = (/** @type {Event} */ event) => this.follow(/** @type {CustomEvent<Shown>} */ (event).detail);
    this.onPointed = (/** @type {Event} */ event) => this.light(/** @type {CustomEvent<Pointed>} */ (event).detail);
    this.sizes = new ResizeObserver(([{ target }]) => this.fit(target));
    addEventListener(SHOWN, this.onShown);
    addEventListener(POINTED, this.onPointed);
    this.writeAddress();
  }

  /** Return the text to begin with: one that the page gives, the stored one, or an example.
   * @param {ShownProgram} shown */
  first({ given, starter }) {
    if (!given || given.number === taken) return this.draft.text() ?? starter;
    taken = given.number;
    return given.text;
  }

  remove() {
    this.writing.cancel();
    this.sizes.disconnect();
    removeEventListener(SHOWN, this.onShown);
    removeEventListener(POINTED, this.onPointed);
    this.editor.destroy();
  }

  /** @param {ShownProgram} shown */
  show(shown) {
    const { given, working, result, refuses } = shown;
    if (this.asked && !working && shown !== this.shown) this.bringResult();
    this.shown = shown;
    if (given && given.number !== taken) {
      taken = given.number;
      this.editor.replace(given.text);
      this.open(0);
    }
    this.runButton.disabled = working || refuses !== "";
    this.stopButton.hidden = !working;
    this.element.dataset.working = String(working);
    if (working) this.light(null);
    const older = result && !this.isCurrent() ? OLDER : "";
    const sentence = working ? "Running…" : refuses || older || result?.problem || "";
    const where = result?.line && !working && !refuses && !older ? `Line ${result.line}: ` : "";
    const parts = withCode(where + sentence);
    const told = h("p", {}, ...parts).textContent;
    this.older = Boolean(older);
    if (told !== this.problem.textContent) this.problem.replaceChildren(...parts); // or it would be read out again
    this.problem.classList.toggle("failed", !working && sentence !== "" && sentence !== older);
    const line = this.isCurrent() ? result?.line : null;
    this.editor.mark(line ? [{ line, sentence }] : []);
    if (this.at) this.follow(this.at);
  }

  /** Return whether the text is the one that ran last. */
  isCurrent() {
    return this.shown.result?.hash === hashed(this.editor.text());
  }

  /** Store the text, and write it to the address when it has not changed for a moment. */
  changed() {
    const stored = this.draft.write(this.editor.text());
    setText(this.note, stored ? "" : "This browser has no room to keep your text: copy it before you leave.");
    this.show(this.shown);
    this.writing.postpone();
  }

  async writeAddress() {
    const text = this.editor.text();
    const code = text.length <= MAX_LINKED ? await packed(text) : "";
    if (!this.element.isConnected || !isCurrentPage() || text !== this.editor.text()) return;
    const address = new URL(location.href);
    if (code) address.searchParams.set("graph-code", code);
    else address.searchParams.delete("graph-code");
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  }

  run() {
    const text = this.editor.text();
    if (this.runButton.disabled) return;
    if (text.length > MAX_CHARACTERS) {
      setText(this.note, `A program may have ${MAX_CHARACTERS / 1000} thousand characters; yours has more.`);
      return;
    }
    this.draft.write(text);
    this.asked = true;
    this.awaited = true;
    this.tell("run", { text });
  }

  /** On a phone, move the window to what the run said, which is above the picture. */
  bringResult() {
    this.asked = false;
    const columns = ancestors(this.element).find((one) => one.matches(".st-key-program-columns"));
    if (columns && innerWidth <= PHONE_WIDTH) bringIntoWindow(columns, "start");
  }

  /** Open a tab. @param {number} at */
  open(at) {
    this.panels.forEach((panel, i) => (panel.hidden = i !== at));
    this.tabs.forEach((tab, i) => tab.setAttribute("aria-selected", String(i === at)));
  }

  /** Light the lines of the event that the player shows. @param {Shown} shown */
  follow(shown) {
    const player = /** @type {HTMLElement | null} */ (shown.element.closest(".player"));
    if (this.awaited && this.isCurrent() && !this.shown.working && !this.shown.result?.problem) {
      this.awaited = false;
      if (this.panels[0].matches(":focus-within")) player?.focus({ preventScroll: true }); // it is there to be played
    }
    if (player && shown.states !== this.at?.states) {
      this.sizes.disconnect();
      this.sizes.observe(player);
    }
    this.at = shown;
    player?.classList.toggle("outdated", this.older);
    const { states, frame } = shown;
    const engine = states.events.some((event) => event.engine);
    this.tabs[1].hidden = !engine;
    if (!engine) this.open(0);
    const event = frame.event;
    if (event?.engine) this.source.paint(states, /** @type {any} */ ({ ...frame, event: event.engine }));
    this.light(null);
  }

  /** Make the editor as high as the player, in windows that show both side by side. @param {Element} player */
  fit(player) {
    const { height } = player.getBoundingClientRect();
    this.element.style.setProperty("--program-height", `${Math.max(MIN_HEIGHT, Math.round(height))}px`);
  }

  /** Light the lines of the shown event, and those of a card that is pointed at. @param {Pointed | null} pointed */
  light(pointed) {
    const lines = this.at && this.isCurrent() ? linesOf(this.at) : new Map();
    if (pointed && pointed.node !== null && this.isCurrent())
      for (const line of linesOfNode(pointed.states, pointed.node)) lines.set(line, "cm-pointed");
    this.editor.light(lines);
  }
}

/** Return the lines of an event: of the operation that computes, or of `backward()` and of the operation that sends.
 * @param {Shown} shown @returns {Map<number, string>} */
function linesOf({ states, frame: { event } }) {
  const seed = states.events[states.seedIndex];
  const lines = new Map();
  if (!event) return lines;
  lines.set(event.line, event.kind === "forward" || event.kind === "seed" ? "cm-now" : "cm-sender");
  if (seed && event.kind !== "forward") lines.set(seed.line, "cm-now");
  return lines;
}

/** Return the line that computed a node, or for an input the lines that use it. @param {TraceStates} states
 * @param {number} node */
function linesOfNode(states, node) {
  const users = states.nodes[node].op
    ? [node]
    : states.nodes.flatMap((one) => (one.children.includes(node) ? [one.id] : []));
  return states.events.flatMap((event) => (event.kind === "forward" && users.includes(event.node) ? [event.line] : []));
}

export const show = mount((place, shown) => new Program(place, shown), new URL("program.css", import.meta.url));
