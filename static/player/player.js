/** The player: the number of events that have happened decides everything it shows. */

import { Arrays } from "./arrays.js";
import { Change, storyOfChange } from "./predicted_change.js";
import { Bar } from "./bar.js";
import { Closure } from "./closure.js";
import { Controls } from "./controls.js";
import { Derivation } from "./derivation.js";
import { ancestors, boxed, bringIntoWindow, h, inheritFocus, INTERACTIVE, inWindow, save } from "./dom.js";
import { Graph } from "./graph.js";
import { Inputs, Sender } from "./inputs.js";
import { Ledger } from "./ledger.js";
import { isOperation, TraceStates } from "./states.js";
import { Pointing } from "./pointing.js";
import { Predict } from "./predict.js";
import { Present } from "./present.js";
import { Source } from "./source.js";
import { Table } from "./table.js";
import { forwardMode } from "./tangents.js";
import { Tabs } from "./tabs.js";
import { Takeaway } from "./takeaway.js";
import { Twin } from "./twin.js";

const NARROW_WIDTH = 600; // pixels; a narrower player has one column
const NARROW_STILL_WIDTH = 700; // pixels; a narrower picture that is not played has its usual height
const TIGHT_WIDTH = 1100; // pixels; a narrower player has shorter labels on its buttons
const PART_HEIGHT = 430; // pixels; height of a player that is one part of a page
const MIN_STILL_HEIGHT = 200; // pixels; with less room below it, a picture has its usual height and is scrolled to
const MIN_WORKBENCH_HEIGHT = 440; // pixels
const HEADER_HEIGHT = 64; // pixels; covers the top of the window above a player further down the page
const BOTTOM_MARGIN = 8; // pixels
const END_EVENT = "tensor-ops-lab-end"; // sent when the backward pass has ended

/** @import { PlayerData, PlayerState, Wish } from "../types.js" */

/** @typedef {object} Place the position of a player that has left the page
 * @property {string} structure of its trace
 * @property {number | null} event at which the server opened it
 * @property {number} opening counts how often the server has opened it
 * @property {number} k its last event */

/** @typedef {object} Host
 * @property {import("./arranger.js").Engine} graphviz
 * @property {boolean} [alone] the page has nothing but the player, which gets every key
 * @property {(state: PlayerState) => void} [send] sends the state to the server, if there is one
 * @property {(wish: Wish) => void} [ask]
 * @property {(field: string) => string | undefined} [typed] what the page's text field for the program holds
 * @property {Map<string, Place>} [places] positions of players that have left the page */

/** Build a player inside an element. Call `update` with what lab/ui/player.py or lab/trace/export.py sends.
 * @param {Element | ShadowRoot} root @param {Host} host */
export function createPlayer(root, host) {
  /** @type {TraceStates | null} */
  let states = null;
  /** @type {PlayerData | null} */
  let data = null;
  let k = 0;
  /** @type {number | null} the node that was chosen; otherwise the events choose */
  let pinned = null;
  /** @type {number | null} */
  let cell = null;
  let selected = 0; // the node in the panel
  let wishes = 0;
  /** @type {{pass: "forward" | "backward", typed: string} | null} a run that waits for the trace of a text */
  let waiting = null;
  let turns = 0; // prepared states still to ask for
  let turning = false; // one has been asked for and has not arrived
  /** @type {Map<string, number>} structure of a state that was left by a turn -> the event it was at */
  const left = new Map();

  const sender = new Sender((sequence) => {
    host.send?.({
      live: inputs.id,
      sequence,
      values: inputs.values,
      predict: predict.wanted,
      event: k,
      selected: pinned,
    });
  });
  const change = new Change();
  const inputs = new Inputs(
    (name, at) => states && change.begin(states, k === states.length, name, at),
    () => sender.push(),
  );
  const graph = new Graph({
    graphviz: host.graphviz,
    onSelect: select,
    onLayout: () => {
      repaint(false);
      if (pinned !== null) graph.reveal(pinned); // it may have been chosen before it was drawn
    },
    numbers: {
      allows: (id) => states !== null && !isOperation(states.nodes[id]) && inputs.has(states.nodes[id].label),
      moveBy: (id, at, steps) => {
        if (!states) return;
        if (k < states.forwardEnd) controls.go(states.forwardEnd, false); // what follows is to be seen
        inputs.moveBy(states.nodes[id].label, at, steps);
      },
      release: () => change.release(),
    },
  });
  const pointing = new Pointing(graph);
  const twin = new Twin(
    host.graphviz,
    (id) => select(id, null),
    () => {
      element.classList.toggle("beside", twin.on);
      graph.views = [graph, twin.graph].flatMap((one) => one?.view ?? []);
      repaint(false);
    },
  );
  twin.place.append(graph.element, graph.tools);
  const bar = new Bar((name, value) => ask({ what: "switch", switch: name, value }));
  const code = h("button", { class: "code-button", "aria-pressed": false, title: "All lines of the code (C)" }, "Code");
  code.onclick = () => {
    code.ariaPressed = String(element.classList.toggle("with-code"));
    tabs.repaint(); // the current line is brought into sight
  };
  graph.tools.prepend(bar.offers, twin.button, code);
  graph.head.prepend(twin.other);
  const ledger = new Ledger();
  const predict = new Predict({
    onWish: () => sender.push(),
    onDone: (next) => {
      controls.go(next, false);
      writeAddress();
      element.focus({ preventScroll: true });
    },
  });
  const source = new Source();
  const closure = new Closure((id) => select(id, null));
  const derivation = new Derivation((id) => select(id, null));
  const arrays = new Arrays((position) => select(selected, position));
  const table = new Table((id) => select(id, null));
  const controls = new Controls(
    {
      limit: (from, to) => predict.limit(from, to),
      mayRun,
      onMove: move,
      onRelease: () => writeAddress(),
      onPresent: () => present.toggle(),
      onFit: () => graph.fit(),
      onZoom: (steps) => graph.zoom(steps),
      onCode: () => code.click(),
      onTurn: (by) => {
        turns += by;
        turn();
      },
    },
    host.alone,
  );

  /** @param {Omit<Wish, "event" | "number">} wish */
  const ask = (wish) => host.ask?.({ ...wish, event: k, number: (wishes = Date.now()) });
  const takeaway = new Takeaway(graph, host.ask ? ask : null);
  const remarks = h("div", { class: "remarks", role: "status" });
  const printed = h("pre", { class: "printed", tabindex: 0, role: "region", "aria-label": "What the program printed" });
  const chosen = h("p", { class: "chosen" });
  const tabs = new Tabs(chosen, [
    {
      name: "Source",
      title: "The line of code that made the event",
      content: [source.element],
      paint: (now, frame) => source.paint(now, frame),
    },
    {
      name: "Derivation",
      title: "The chain rule for the node of the event, or for a chosen one",
      content: [derivation.element, arrays.element],
      paint: (now, frame) => {
        derivation.paint(now, frame, selected, cell);
        arrays.paint(now, frame, selected, cell);
      },
    },
    {
      name: "Closure",
      title: "What the backward step of a node holds on to",
      content: [closure.element],
      paint: (now, frame) => closure.paint(now, frame, pinned ?? now.focus(frame).from ?? selected),
    },
    {
      name: "Nodes",
      title: "Every node with its value and its gradient",
      content: [table.element],
      paint: (now, frame) => table.paint(now, frame, selected),
    },
  ]);
  controls.element.insertBefore(predict.toggle, controls.element.lastChild);
  ledger.element.append(predict.element);
  const workbench = h(
    "div",
    { class: "workbench" },
    bar.element,
    controls.element,
    boxed(ledger.element, "ledger-box"),
    remarks,
    h(
      "div",
      { class: "columns" },
      h("div", { class: "wide" }, twin.place, h("div", { class: "under" }, graph.legend, graph.folding)),
      h("div", { class: "side" }, tabs.element, printed, inputs.element),
    ),
  );
  const leave = h("button", { class: "leave", onclick: () => present.leave() }, "Leave (F)");
  const element = h(
    "div",
    {
      class: "player",
      tabindex: -1,
      onkeydown: (/** @type {KeyboardEvent} */ event) => data?.still || controls.key(event),
      onpointerup: () => change.release(),
      onclick: (/** @type {PointerEvent} */ { detail, target }) => {
        const pressed = /** @type {Element} */ (target).closest("button:not(.predict *)");
        if (present.on && detail && pressed) element.focus(); // by a pointer: the keys stay the player's
      },
      onfocusout: () => change.release(),
    },
    h("h2", { class: "for-readers" }, "The pass, event by event"),
    workbench,
    takeaway.element,
    leave,
  );
  root.append(element);
  const present = new Present(element, "present", element, () => {
    controls.presenting = present.on;
    tabs.alone(present.on);
    fill();
    graph.present();
    if (twin.on) twin.graph?.present();
    if (!present.on && document.querySelector(".projecting")) element.blur(); // the keys are the projected page's
  });

  /** Handle arrow keys also if nothing has the focus, or something that ignores them. A player alone on its page or
   * presenting gets all keys; otherwise F belongs to the page (project/). @param {KeyboardEvent} event */
  function keyOfPage(event) {
    if (data?.still || event.composedPath().includes(element)) return; // the element has its own listener
    const target = /** @type {Element} */ (event.composedPath()[0]);
    if (present.on || host.alone) controls.key(event);
    else if (/^Arrow(Left|Right)$/.test(event.key) && !target.closest(INTERACTIVE) && inWindow(element))
      controls.key(event);
  }
  document.addEventListener("keydown", keyOfPage);

  /** Make the workbench as high as the window below its top edge; further down a page, as high as the window. A part
   * of a page keeps its height, or grows if it may. */
  function fill() {
    const zoom = element.currentCSSZoom ?? 1;
    const scrolled = ancestors(element).reduce((sum, one) => sum + one.scrollTop, 0);
    const top = (element.getBoundingClientRect().top + scrolled) / zoom;
    const below = present.on ? null : document.querySelector(".project-bar");
    const end = innerHeight / zoom - (below?.clientHeight ?? 0);
    if (data?.compact && !present.on) {
      const room = Math.floor(end - top);
      const shrinks = data.still && room >= MIN_STILL_HEIGHT;
      const most = Math.max(PART_HEIGHT, room - (data.grows ?? Infinity));
      element.style.setProperty("--height", `${shrinks ? Math.min(room - BOTTOM_MARGIN, most) : most}px`);
      return;
    }
    const above = present.on ? 0 : top < end / 2 ? top : HEADER_HEIGHT;
    const height = Math.max(
      present.on ? 0 : MIN_WORKBENCH_HEIGHT,
      Math.floor(end - above - (present.on ? 0 : BOTTOM_MARGIN)),
    );
    element.style.setProperty("--height", `${height}px`);
  }
  addEventListener("resize", fill);
  function resize() {
    const narrow = element.clientWidth < (data?.still ? NARROW_STILL_WIDTH : NARROW_WIDTH);
    element.classList.toggle("narrow", narrow);
    element.classList.toggle("tight", element.clientWidth < TIGHT_WIDTH);
    const higher = present.on || narrow; // then its texts have more lines instead
    ledger.resize(higher ? Infinity : element.clientWidth);
    fill();
  }
  resize(); // before the graph measures its room
  const observer = new ResizeObserver(resize);
  observer.observe(element);
  for (const above of ancestors(element)) observer.observe(above);

  /** Ask for one prepared state at a time: until it arrives, the page would ask for the same again. */
  function turn() {
    if (turning || !turns) return;
    if (states) left.set(states.structure, k);
    ask({ what: "turn", by: turns });
    turns = 0;
    turning = true;
  }

  /** Return whether a run may begin. While the page has not yet taken over what was typed, the run waits for its trace.
   * @param {"forward" | "backward"} pass */
  function mayRun(pass) {
    const typed = data?.field && host.typed?.(data.field);
    waiting = typed && typed !== data?.text ? { pass, typed } : null;
    return !waiting && !data?.outdated;
  }

  /** Go to an event; the page around the player may wait for the end of the backward pass.
   * @param {number} next @param {boolean} moving @param {boolean} stopped a question comes first */
  function move(next, moving, stopped) {
    k = next;
    change.clear();
    predict.paint(k, stopped);
    repaint(moving);
    if (states && states.seedIndex >= 0 && k === states.length) dispatchEvent(new CustomEvent(END_EVENT));
  }

  /** @param {TraceStates} now */
  function paintLedger(now) {
    const frame = now.frame(k);
    const shownCell = now.focus(frame).to === pinned ? cell : null;
    // In the middle of a pass the ledger stays with the event, whose numbers follow.
    const story = k === now.length || k === now.forwardEnd ? storyOfChange(change, now) : null;
    ledger.paint(now, frame, shownCell, predict.verdict.k === k && !story ? predict.verdict.text : "", story);
  }

  /** Select a node; selecting it again lets the panel follow the events.
   * @param {number} id @param {number | null} position */
  function select(id, position) {
    const same = pinned === id && cell === position;
    pinned = same ? null : id;
    cell = same ? null : position;
    repaint(false);
    if (!same) graph.reveal(id);
    const answers = ["Derivation", "Nodes"];
    if (states && states.nodes[id].op) answers.push("Closure");
    if (!same && !states?.tangentOf && !answers.includes(tabs.front.name)) tabs.show("Derivation");
  }

  /** @param {boolean} moving whether a message may be seen travelling */
  function repaint(moving) {
    if (!states) return;
    const frame = states.frame(k);
    const focus = states.focus(frame);
    selected = pinned ?? focus.to ?? states.output;
    paintLedger(states);
    graph.paint(frame, pinned, cell, moving, twin.nodesAt(k));
    twin.paint(states, k, moving);
    graph.showGhost(k === states.length || k === states.forwardEnd ? change.outcome(states) : null);
    paintChosen(states);
    tabs.paint(states, frame);
    for (const remark of remarks.children) {
      const due = k >= states.endOf(/** @type {HTMLElement} */ (remark).dataset.after ?? "backward");
      remark.classList.toggle("due", due);
    }
    pointing.show(states, frame);
  }

  let named = "";
  /** Show which node the panel describes. @param {TraceStates} now */
  function paintChosen(now) {
    const key = `${selected} ${pinned} ${now.structure}`;
    if (key === named) return;
    named = key;
    const name = h("b", {}, now.definition(selected));
    if (pinned === null) {
      chosen.replaceChildren(name, h("span", {}, " is shown now. Choose a node to stay with it."));
    } else {
      const onclick = () => select(selected, cell);
      chosen.replaceChildren(name, h("button", { class: "quiet", onclick }, "Follow the events"));
    }
  }

  /** Write the event to the address. No script runs: the server learns the event when an input changes. */
  function writeAddress() {
    const address = new URL(location.href);
    if (data?.address && states) {
      const stage = states.stage(k);
      const usual = data.stage ? states.endOf(stage) : (data.usual ?? states.length);
      const asked = [[data.address, k === usual ? null : String(k)]];
      if (data.stage) asked.push([data.stage, stage === (data.usualStage ?? "none") ? null : stage]);
      for (const [name, text] of /** @type {[string, string | null][]} */ (asked)) {
        if (text === null) address.searchParams.delete(name);
        else address.searchParams.set(name, text);
      }
      if (address.href !== location.href) history.replaceState(history.state, "", address);
    }
  }

  /** Return the event at which new data are shown: the server's if the server asks for another one than before, or else
   * the visitor's. @param {PlayerData} next @param {TraceStates} fresh its trace @param {PlayerData | null} before */
  function eventIn(next, fresh, before) {
    const asked = next.event ?? fresh.length;
    const opening = next.opening ?? 0;
    if (!states || !before) {
      const place = host.places?.get(next.key ?? "");
      const known = place?.structure === fresh.structure && place.event === next.event && place.opening === opening;
      return known ? place.k : asked;
    }
    if (opening !== (before.opening ?? 0)) return (turning ? left.get(fresh.structure) : null) ?? asked;
    if (states.structure === fresh.structure) return next.event === before.event ? k : asked;
    return fresh.eventAfter(states, controls.running || k, before.event ?? states.length, asked);
  }

  return {
    element,

    /** @param {PlayerData} next */
    update(next) {
      sender.answered(next.sequence ?? 0); // first, so that the server can go on while this is painted
      const before = data;
      data = next;
      const { trace, slopes = [], departure = null, right: other } = next;
      const right = other ? new TraceStates(other.trace) : null;
      const reverse = new TraceStates(trace, slopes, departure, "", right, other?.engine ?? "");
      const fresh = next.along ? forwardMode(reverse, next.along) : reverse;
      const sameStructure = states?.structure === fresh.structure;
      const opened = (next.opening ?? 0) !== (before?.opening ?? 0);
      element.classList.toggle("compact", Boolean(next.compact));
      printed.textContent = next.printed ?? "";
      element.classList.toggle("still", Boolean(next.still));
      element.classList.toggle("outdated", Boolean(next.outdated));
      bar.update(next);
      resize();
      const moved = !sameStructure || next.event !== before?.event || opened;
      k = Math.min(eventIn(next, fresh, before), fresh.length);
      states = fresh;
      if (!sameStructure) {
        pinned = null;
        cell = null;
      }
      if (moved) change.clear();
      writeAddress(); // the server has written the address without it
      controls.setTrace(states, k);
      inputs.setLive(next.live ?? null, next.values ?? {});
      for (const name of ["Derivation", "Closure"]) tabs.allow(name, !fresh.tangentOf);
      predict.setTrace(states, Boolean(next.canPredict), next.guesses ?? null);
      takeaway.script.hidden = !next.hasScript;
      remarks.replaceChildren(
        ...(next.remarks ?? []).map(({ after, text }) => h("p", { "data-after": after }, `⚠ ${text}`)),
      );
      twin.setTrace(states);
      element.classList.toggle("beside", twin.on);
      graph.setTrace(states);
      repaint(false);
      if (opened && next.chosen) {
        pinned = null;
        select(...next.chosen);
        if (document.querySelector(".projecting")) present.enter();
        else bringIntoWindow(workbench);
      }
      if (waiting && waiting.typed === next.text) {
        const { pass } = waiting;
        waiting = null;
        if (!next.outdated) controls.run(pass);
      }
      if (opened) {
        if (before) inheritFocus(() => element);
        turning = false;
        turn();
      }
      const { taken } = next;
      if (taken && taken.number === wishes) {
        wishes = 0;
        const [type, name, said] = FILES[taken.what];
        save(new Blob([taken.text], { type }), name);
        takeaway.note.textContent = said;
      }
    },

    destroy() {
      if (states && data?.key) {
        const { event = null, opening = 0 } = data;
        host.places?.set(data.key, { structure: states.structure, event, opening, k });
      }
      document.removeEventListener("keydown", keyOfPage);
      removeEventListener("resize", fill);
      observer.disconnect();
      for (const part of [present, controls, sender, ledger, pointing, graph, twin.graph]) part?.destroy();
      element.remove();
    },
  };
}

/** @type {Record<string, [string, string, string]>} type, name, and what is said when it is saved */
const FILES = {
  html: ["text/html", "player.html", "Saved. The page plays without a server."],
  script: ["text/x-python", "experiment.py", "Saved. It runs next to model.py."],
};
