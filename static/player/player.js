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

/** @typedef {{graphviz: string, send?: (state: object) => void, ask?: (wish: {what: string, event: number}) => void}} Host
 * where Graphviz is, and how to reach the server, if there is one */

/** Build a player inside an element. Call `update` with what lab/ui/player.py or lab/trace/export.py sends.
 * @param {Element | ShadowRoot} root @param {Host} host */
export function mount(root, host) {
  /** @type {Playback | null} */
  let playback = null;
  let data = {};
  let k = 0;
  let pinned = null; // the node that was chosen; otherwise the events choose
  let cell = null;
  let selected = null;

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
    script: () => data.script ?? "",
    onLink: host.send ? () => writeAddress() : null,
    onHtml: host.ask ? () => host.ask({ what: "html", event: k }) : null,
  });
  const chosen = h("p", { class: "chosen" });
  const details = h(
    "div",
    { class: "columns" },
    h("div", { class: "wide" }, derivation.element, arrays.element),
    h("div", { class: "side" }, closure.element),
  );
  const lower = new Lower([
    [h("div", { class: "details" }, chosen, details), paintDetails],
    [table.element, (frame) => table.paint(playback, frame, selected)],
  ]);

  const element = h(
    "div",
    { class: "player", onkeydown: (event) => controls.key(event) },
    controls.element,
    ledger.element,
    h(
      "div",
      { class: "columns" },
      h("div", { class: "wide" }, graph.element, graph.legend, graph.folding),
      h("div", { class: "side" }, inputs.element, source.element),
    ),
    chosen.parentElement,
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
  const reserve = (height) => {
    reserved = height;
    details.style.minHeight = `${height}px`;
  };
  const observer = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      if (target === details) {
        if (contentRect.height > reserved) reserve(contentRect.height);
      } else if (contentRect.width !== width) {
        width = contentRect.width;
        element.classList.toggle("narrow", width < NARROW);
        reserve(0);
      }
    }
  });
  observer.observe(element);
  observer.observe(details);

  function move(next, moving) {
    k = next;
    repaint(moving);
  }

  /** Choosing the chosen node again lets the events choose. */
  function select(id, position) {
    const same = pinned === id && cell === position;
    pinned = same ? null : id;
    cell = same ? null : position;
    repaint(false);
    lower.finish();
  }

  function repaint(moving) {
    if (!playback) return;
    const frame = playback.frame(k);
    const focus = playback.focus(frame);
    selected = pinned ?? focus.to ?? playback.output;
    ledger.paint(playback, frame, focus.to === pinned ? cell : null);
    graph.paint(frame, pinned, moving);
    source.paint(playback, frame);
    lower.paint(frame);
  }

  function paintDetails(frame) {
    derivation.paint(playback, frame, selected, cell);
    closure.paint(playback, frame, pinned ?? playback.focus(frame).from ?? selected); // it is the sender's closure that runs
    arrays.paint(playback, frame, selected, cell);
    showChosen();
  }

  function showChosen() {
    const name = playback.definition(selected);
    if (pinned === null)
      chosen.replaceChildren(
        h("b", {}, name),
        ": what follows is about the node of the event. Choose a node to stay with it.",
      );
    else
      chosen.replaceChildren(
        h("b", {}, name),
        " ",
        h("button", { type: "button", class: "quiet", onclick: () => select(pinned, cell) }, "Follow the events"),
      );
  }

  /** The address then opens at this event. No script runs for it: the server learns it with the next change of an input. */
  function writeAddress() {
    const address = new URL(location.href);
    if (data.address) {
      address.searchParams.set(data.address, String(k));
      history.replaceState(history.state, "", address);
    }
    return address.href;
  }

  return {
    element,

    /** @param {object} next */
    update(next) {
      sender.answered(next.sequence ?? 0); // first of all: the server goes on while this is painted
      const before = data;
      data = next;
      const fresh = new Playback(next.trace);
      const sameStructure = playback?.structure === fresh.structure;
      playback = fresh;
      if (!sameStructure) {
        pinned = null;
        cell = null;
        reserve(0);
      }
      if (!sameStructure || next.event !== before.event) k = next.event ?? playback.length;
      k = Math.min(k, playback.length);
      element.style.setProperty("--height", `${next.height ?? 420}px`);
      controls.setTrace(playback, k);
      inputs.setLive(next.live ?? null, next.values ?? {});
      probe.setTrace(playback, Boolean(next.canProbe));
      probe.setAnswer(playback, next.probe ?? null);
      takeaway.update();
      graph.setTrace(playback);
      repaint(false);
      if (next.html && next.html !== before.html) {
        save(new Blob([next.html], { type: "text/html" }), "player.html");
        takeaway.note.textContent = "Saved. The page plays without a server.";
      }
    },

    destroy() {
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
  /** @param {[Element, (frame: import("./playback.js").Frame) => void][]} panels each with how it is painted */
  constructor(panels) {
    this.panels = new Map(panels);
    this.stale = new Set();
    this.inSight = new Set();
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) this.inSight.add(target);
        else this.inSight.delete(target);
      }
      this.catchUp(this.inSight);
    });
    for (const element of this.panels.keys()) this.observer.observe(element);
  }

  /** @param {import("./playback.js").Frame} frame */
  paint(frame) {
    this.frame = frame;
    this.stale = new Set(this.panels.keys());
    this.catchUp(this.inSight);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.finish(), REST);
  }

  finish() {
    this.catchUp(this.panels.keys());
  }

  catchUp(elements) {
    for (const element of elements) {
      if (this.stale.delete(element)) this.panels.get(element)(this.frame);
    }
  }

  destroy() {
    clearTimeout(this.timer);
    this.observer.disconnect();
  }
}
