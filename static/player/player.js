/** The player: one number, how many events have happened, drives everything that is shown. */

import { Arrays } from "./arrays.js";
import { Closure } from "./closure.js";
import { Controls } from "./controls.js";
import { Derivation } from "./derivation.js";
import { h } from "./dom.js";
import { Graph } from "./graph.js";
import { Inputs, Sender } from "./inputs.js";
import { Ledger } from "./ledger.js";
import { Playback } from "./playback.js";
import { Probe } from "./probe.js";
import { Source } from "./source.js";
import { Table } from "./table.js";
import { save, Takeaway } from "./takeaway.js";

const NARROW = 760; // pixels of width, below which everything stands in one column
const REST = 100; // milliseconds without a new event

/** @import { PlayerData, PlayerState, Wish } from "../types.js" */
/** @import { Frame } from "./playback.js" */

/** @typedef {object} Place where a player was
 * @property {string} structure of its trace
 * @property {number | null} event at which the server had opened it
 * @property {number} k the event it had come to */

/** @typedef {object} Host
 * @property {import("./arranger.js").Engine} graphviz
 * @property {(state: PlayerState) => void} [send] to the server, if there is one
 * @property {(wish: Wish) => void} [ask]
 * @property {Map<string, Place>} [places] where the players were that have left the page */

/** Build a player inside an element. Call `update` with what lab/ui/player.py or lab/trace/export.py sends.
 * @param {Element | ShadowRoot} root @param {Host} host */
export function mount(root, host) {
  /** @type {Playback | null} */
  let playback = null;
  /** @type {PlayerData | null} */
  let data = null;
  let k = 0;
  /** @type {number | null} the node that was chosen; otherwise the events choose */
  let pinned = null;
  /** @type {number | null} */
  let cell = null;
  let selected = 0; // the node that is shown

  const sender = new Sender((sequence) => {
    host.send?.({
      live: inputs.id,
      sequence,
      values: inputs.values,
      probe: probe.question,
      event: k,
      selected: pinned,
    });
  });
  const inputs = new Inputs(() => sender.push());
  const probe = new Probe(() => sender.push());
  const graph = new Graph({ graphviz: host.graphviz, onSelect: select, onLayout: () => repaint(false) });
  const ledger = new Ledger();
  const source = new Source();
  const closure = new Closure((id) => select(id, null));
  const derivation = new Derivation((id) => select(id, null));
  const arrays = new Arrays((position) => select(selected, position));
  const table = new Table((id) => select(id, null));
  const controls = new Controls({ onMove: move, onRelease: () => writeAddress() });
  const takeaway = new Takeaway({
    graph,
    script: () => data?.script ?? "",
    onLink: host.send ? writeAddress : null,
    onHtml: host.ask ? () => host.ask?.({ what: "html", event: k }) : null,
  });
  const chosen = h("p", { class: "chosen" });
  const columns = h(
    "div",
    { class: "columns" },
    h("div", { class: "wide" }, derivation.element, arrays.element),
    h("div", { class: "side" }, closure.element),
  );
  const details = h("div", { class: "details" }, chosen, columns);
  const lower = new Lower([
    [details, paintDetails],
    [table.element, (now, frame) => table.paint(now, frame, selected)],
  ]);

  const element = h(
    "div",
    { class: "player", onkeydown: (/** @type {KeyboardEvent} */ event) => controls.key(event) },
    controls.element,
    ledger.element,
    h(
      "div",
      { class: "columns" },
      h("div", { class: "wide" }, graph.element, graph.legend, graph.folding),
      h("div", { class: "side" }, inputs.element, source.element),
    ),
    details,
    h(
      "div",
      { class: "columns" },
      h("div", { class: "wide" }, table.element),
      h("div", { class: "side" }, probe.element),
    ),
    takeaway.element,
  );
  root.append(element);
  // The derivation is longer for some nodes than for others. What it has needed stays reserved, so that nothing below
  // moves with each event; a window of another width needs another height.
  let width = 0;
  let reserved = 0;
  const reserve = (/** @type {number} */ height) => {
    reserved = height;
    columns.style.minHeight = `${height}px`;
  };
  const observer = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      if (target === columns) {
        if (contentRect.height > reserved) reserve(contentRect.height);
      } else if (contentRect.width !== width) {
        width = contentRect.width;
        element.classList.toggle("narrow", width < NARROW);
        reserve(0);
      }
    }
  });
  observer.observe(element);
  observer.observe(columns);

  /** @param {number} next @param {boolean} moving */
  function move(next, moving) {
    k = next;
    repaint(moving);
  }

  /** Choosing the chosen node again lets the events choose. @param {number} id @param {number | null} position */
  function select(id, position) {
    const same = pinned === id && cell === position;
    pinned = same ? null : id;
    cell = same ? null : position;
    repaint(false);
    lower.finish();
  }

  /** @param {boolean} moving whether a message may be seen travelling */
  function repaint(moving) {
    if (!playback) return;
    const frame = playback.frame(k);
    const focus = playback.focus(frame);
    selected = pinned ?? focus.to ?? playback.output;
    ledger.paint(playback, frame, focus.to === pinned ? cell : null);
    graph.paint(frame, pinned, moving);
    source.paint(playback, frame);
    lower.paint(playback, frame);
  }

  /** @param {Playback} now @param {Frame} frame */
  function paintDetails(now, frame) {
    const running = now.focus(frame).from; // the sender's closure
    derivation.paint(now, frame, selected, cell);
    closure.paint(now, frame, pinned ?? running ?? selected);
    arrays.paint(now, frame, selected, cell);
    const name = h("b", {}, now.definition(selected));
    if (pinned === null) {
      chosen.replaceChildren(name, ": what follows is about the node of the event. Choose a node to stay with it.");
    } else {
      const onclick = () => select(selected, cell);
      chosen.replaceChildren(name, " ", h("button", { type: "button", class: "quiet", onclick }, "Follow the events"));
    }
  }

  /** The address then opens at this event. No script runs for it: the server learns it when an input changes. */
  function writeAddress() {
    const address = new URL(location.href);
    if (data?.address) {
      if (k === (data.usual ?? playback?.length)) address.searchParams.delete(data.address);
      else address.searchParams.set(data.address, String(k));
      if (address.href !== location.href) history.replaceState(history.state, "", address);
    }
    return address.href;
  }

  return {
    element,

    /** @param {PlayerData} next */
    update(next) {
      sender.answered(next.sequence ?? 0); // first of all: the server goes on while this is painted
      const before = data;
      data = next;
      const fresh = new Playback(next.trace);
      const sameStructure = playback?.structure === fresh.structure;
      const moved = !sameStructure || next.event !== before?.event;
      const place = playback ? undefined : host.places?.get(next.key ?? "");
      const back = place?.structure === fresh.structure && place.event === next.event ? place : undefined;
      playback = fresh;
      if (!sameStructure) {
        pinned = null;
        cell = null;
        reserve(0);
      }
      if (moved) k = back?.k ?? next.event ?? playback.length;
      k = Math.min(k, playback.length);
      if (moved) writeAddress();
      element.style.setProperty("--height", `${next.height ?? 420}px`);
      controls.setTrace(playback, k);
      inputs.setLive(next.live ?? null, next.values ?? {});
      probe.setTrace(playback, Boolean(next.canProbe));
      probe.setAnswer(playback, next.probe ?? null);
      takeaway.update();
      graph.setTrace(playback);
      repaint(false);
      if (next.html && next.html !== before?.html) {
        save(new Blob([next.html], { type: "text/html" }), "player.html");
        takeaway.note.textContent = "Saved. The page plays without a server.";
      }
    },

    destroy() {
      if (playback && data?.key)
        host.places?.set(data.key, { structure: playback.structure, event: data.event ?? null, k });
      observer.disconnect();
      lower.destroy();
      controls.destroy();
      sender.destroy();
      ledger.destroy();
      graph.destroy();
      element.remove();
    },
  };
}

/** The panels further down: painted with each event where they can be seen, otherwise as soon as the events rest. */
class Lower {
  /** @param {[Element, (playback: Playback, frame: Frame) => void][]} panels each with how it is painted */
  constructor(panels) {
    this.panels = new Map(panels);
    /** @type {Map<Element, () => void>} */
    this.stale = new Map();
    /** @type {Set<Element>} */
    this.inSight = new Set();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) this.inSight.add(target);
        else this.inSight.delete(target);
      }
      this.catchUp(this.inSight);
    });
    for (const element of this.panels.keys()) this.observer.observe(element);
  }

  /** @param {Playback} playback @param {Frame} frame */
  paint(playback, frame) {
    for (const [element, paint] of this.panels) this.stale.set(element, () => paint(playback, frame));
    this.catchUp(this.inSight);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.finish(), REST);
  }

  finish() {
    this.catchUp(this.panels.keys());
  }

  /** @param {Iterable<Element>} elements */
  catchUp(elements) {
    for (const element of elements) {
      const paint = this.stale.get(element);
      this.stale.delete(element);
      paint?.();
    }
  }

  destroy() {
    clearTimeout(this.timer);
    this.observer.disconnect();
  }
}
