/** The graph: drawn once for each structure, then patched in place. */

import { bitmap, notFinite } from "./arrays.js";
import { brief, numeral, shapeText, shorten } from "./format.js";
import { h, mayMove, s, setAttribute, setText } from "./dom.js";
import { groupsOf, layout } from "./layout.js";
import { View } from "./view.js";

/** @import { Message, Value } from "../types.js" */
/** @import { Card, Grid, Item, PlacedEdge, Plan, Point, Size } from "./layout.js" */
/** @import { Frame, Playback } from "./playback.js" */

const TRAVEL = 450; // milliseconds a message takes along its edge
const FOLD_FROM = 80; // nodes: a larger graph is folded when it opens
const SETTLE = 100; // milliseconds without a new event, after which what is out of sight follows too
const BEND = 80; // pixels that an edge may leave the box between its ends

/** @typedef {object} EdgeParts
 * @property {string} id
 * @property {SVGGElement} element
 * @property {SVGPathElement} path
 * @property {SVGTextElement} label
 * @property {Point} middle where its message stands
 * @property {boolean} roomy whether there is room for the message beside other things
 * @property {Point} place the middle of the box that it runs in
 * @property {Size} size of that box
 * @property {Message | undefined} message what it shows
 * @property {boolean} current */

/** @typedef {object} Field the value or the gradient on a card
 * @property {SVGTextElement} text
 * @property {SVGImageElement | null} map of an array
 * @property {Value | null} shown */

/** @typedef {object} CardParts
 * @property {SVGGElement} element
 * @property {number} node that it shows
 * @property {Card} card
 * @property {string} kind
 * @property {Element[]} written what is written on it
 * @property {Field} value
 * @property {Field | null} gradient
 * @property {{classes: string, value: Value | null, gradient: Value | null}} last what it shows */

/** @typedef {object} Drawing
 * @property {Plan} plan
 * @property {EdgeParts[]} edges
 * @property {CardParts[]} cards
 * @property {{element: SVGGElement, text: SVGTextElement, back: SVGRectElement}} pill the message on its way */

/** @typedef {(middle: Point, size: Size) => boolean} Wanted */

export class Graph {
  /** @param {{graphviz: string, onSelect: (id: number, cell: number | null) => void, onLayout: () => void}} options */
  constructor({ graphviz, onSelect, onLayout }) {
    this.graphviz = graphviz;
    this.onSelect = onSelect;
    this.onLayout = onLayout;
    /** @type {Playback | null} */
    this.playback = null;
    /** @type {Drawing | null} */
    this.drawing = null;
    /** @type {{frame: Frame, selected: number | null} | null} */
    this.shown = null;
    /** @type {Map<string, number[]>} */
    this.groups = new Map();
    /** @type {Set<string>} */
    this.folded = new Set();
    this.wanted = ""; // structure and folding of the newest drawing, which may still be in the making
    this.travelling = 0; // requests for a frame
    this.following = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.scene = s("g");
    this.svg = s("svg", { class: "graph", role: "group", "aria-label": "Computation graph" }, arrowheads(), this.scene);
    this.view = new View(this.svg, this.scene, () => this.patch());
    this.folding = h("div", { class: "folding", role: "group", "aria-label": "Fold parts of the graph" });
    this.message = h("p", { class: "wait" }, "Drawing the graph…");
    this.legend = h("p", { class: "legend", hidden: true }, "= value, ∂ gradient of the result");
    /** @param {string} label @param {string} text @param {() => void} onclick */
    const tool = (label, text, onclick) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick }, text);
    this.element = h(
      "div",
      { class: "stage" },
      this.svg,
      this.message,
      h(
        "div",
        { class: "tools", role: "group", "aria-label": "View" },
        tool("Zoom in", "+", () => this.view.zoom(1.3)),
        tool("Zoom out", "−", () => this.view.zoom(1 / 1.3)),
        tool("Fit the whole graph", "Fit", () => this.view.fit()),
      ),
    );
  }

  /** A new trace: a new drawing only if the structure is new. @param {Playback} playback */
  setTrace(playback) {
    const known = this.playback?.structure === playback.structure;
    this.playback = playback;
    this.shown = null;
    if (known && this.wanted) return;
    this.groups = groupsOf(playback);
    this.folded = new Set(playback.nodes.length >= FOLD_FROM ? outermost(playback, this.groups) : []);
    this.showFolding();
    this.draw(playback);
  }

  /** Lay out and draw; does nothing if that drawing is there or in the making. @param {Playback} playback */
  async draw(playback) {
    const wanted = [playback.structure, ...this.folded].join(" ");
    if (wanted === this.wanted) return;
    this.wanted = wanted;
    let plan;
    try {
      const room = { width: this.svg.clientWidth || 600, height: this.svg.clientHeight || 400 };
      plan = await layout(playback, this.folded, this.graphviz, room);
    } catch (error) {
      this.wanted = "";
      this.drawing = null;
      this.scene.replaceChildren();
      this.message.hidden = false;
      const reason = error instanceof Error ? error.message : String(error);
      const instead = "The ledger and the table below show the same.";
      this.message.textContent = `The graph could not be drawn (${reason}). ${instead}`;
      return;
    }
    if (wanted !== this.wanted) return; // a newer structure has arrived meanwhile
    this.message.hidden = true;
    this.legend.hidden = !plan.compact;
    const edges = plan.edges.map((edge) => makeEdge(edge, plan));
    const cards = [...plan.items.values()].map((item) => this.makeCard(playback, plan, item));
    const pill = makePill();
    this.drawing = { plan, edges, cards, pill };
    this.scene.replaceChildren(
      s("g", { class: "edges" }, ...edges.map((edge) => edge.element)),
      s("g", { class: "cards" }, ...cards.map((card) => card.element)),
      pill.element,
    );
    this.view.open(plan, boxOf(plan, playback.output));
    this.onLayout();
  }

  /** The drawing, if it is of the present trace: that of the last one stays on the screen until this is laid out. */
  current() {
    const { playback, drawing } = this;
    return playback && drawing?.plan.structure === playback.structure ? { playback, ...drawing } : null;
  }

  /** @param {Playback} playback @param {Plan} plan @param {Item} item @returns {CardParts} */
  makeCard(playback, plan, item) {
    const node = playback.nodes[item.node];
    const card = /** @type {Card} */ (plan.cards.get(item.id));
    const { x, y } = /** @type {Point} */ (plan.boxes.get(item.id));
    const kind = item.group ? "group" : playback.derived[node.id].kind;
    const { width, height, grid } = card;
    const compact = plan.compact;
    const step = compact ? 15 : 18;
    let line = -height / 2 + (compact ? 15 : 19);
    const select = () => this.current() && this.onSelect(node.id, null);
    const parts = card.title === card.full ? [] : [s("title", {}, card.full)];
    if (kind === "output") parts.push(box(width + 6, height + 6, "rim", 10));
    parts.push(box(width, height, "box", kind === "operation" ? 14 : 7));
    parts.push(s("text", { class: "name", x: 0, y: line, "text-anchor": "middle" }, card.title));
    if (grid) {
      line += step - 2;
      parts.push(s("text", { class: "shape", x: 0, y: line, "text-anchor": "middle" }, shapeText(node.shape)));
    }
    /** @param {"value" | "gradient"} name @param {string} word @param {number} side for a map: -1 is left, 1 is right
     * @returns {Field} */
    const field = (name, word, side) => {
      if (grid) {
        const size = { width: grid.columns * grid.cell, height: grid.rows * grid.cell };
        const middle = { x: (side * width) / 4, y: line + 6 + size.height / 2 };
        const place = { ...size, x: middle.x - size.width / 2, y: line + 6 };
        const map = s("image", { ...place, preserveAspectRatio: "none", class: "map" });
        const onclick = (/** @type {MouseEvent} */ event) => this.pickCell(event, frame, node.id, grid);
        const frame = s("rect", { ...place, class: "map-frame", onclick });
        const text = s("text", { ...middle, class: `mark ${name}`, dy: "0.35em", "text-anchor": "middle" });
        parts.push(map, frame, text);
        return { text, map, shown: null };
      }
      line += step;
      const [at, anchor] = compact ? [0, "middle"] : [width / 2 - 10, "end"];
      const text = s("text", { class: name, x: at, y: line, "text-anchor": anchor });
      if (!compact) parts.push(s("text", { class: "word", x: -width / 2 + 10, y: line }, word));
      parts.push(text);
      return { text, map: null, shown: null };
    };
    const value = field("value", "value", node.requires_grad ? -1 : 0);
    const gradient = node.requires_grad ? field("gradient", "grad", 1) : null;
    const element = s(
      "g",
      {
        class: `card ${kind}`,
        "data-node": node.id,
        transform: `translate(${x} ${y})`,
        tabindex: 0,
        role: "button",
        onclick: select,
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key !== "Enter") return;
          select();
          event.preventDefault();
          event.stopPropagation();
        },
        ondblclick: () => item.group && this.fold(item.group, false),
      },
      ...parts.flatMap((part) => [part, " "]), // so that the texts are words apart, for who does not see them apart
    );
    const written = parts.filter((part) => ["title", "text"].includes(part.tagName));
    const last = { classes: "", value: null, gradient: null };
    return { element, node: node.id, card, kind, written, value, gradient, last };
  }

  /** @param {MouseEvent} event @param {SVGRectElement} frame @param {number} node @param {Grid} grid */
  pickCell(event, frame, node, grid) {
    event.stopPropagation();
    if (!this.current()) return;
    const area = frame.getBoundingClientRect();
    const column = Math.min(grid.columns - 1, Math.floor(((event.clientX - area.left) / area.width) * grid.columns));
    const row = Math.min(grid.rows - 1, Math.floor(((event.clientY - area.top) / area.height) * grid.rows));
    this.onSelect(node, row * grid.stride + column);
  }

  /** Show what is known at an event. @param {Frame} frame @param {number | null} selected
   * @param {boolean} moving whether a message may travel */
  paint(frame, selected, moving) {
    const now = this.current();
    if (!now) return;
    const focus = now.playback.focus(frame);
    const fresh = !this.shown; // other numbers: those on the cards are waited for, those on the edges are as many again
    this.shown = { frame, selected };
    if (focus.to !== undefined) this.view.reveal(boxOf(now.plan, focus.to));
    this.patch(undefined, fresh);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.patch(() => true), SETTLE);
    this.paintPill(now, frame, moving);
  }

  /** The edges and cards that changed. Of a large graph only those in sight: the others wait until the events rest.
   * @param {Wanted} wanted @param {boolean} later edges in the next frame */
  patch(wanted = (middle, size) => this.view.sees(middle, size), later = false) {
    this.paintCards(wanted);
    cancelAnimationFrame(this.following);
    if (later) this.following = requestAnimationFrame(() => this.paintEdges(wanted));
    else this.paintEdges(wanted);
  }

  /** @param {Wanted} wanted */
  paintEdges(wanted) {
    const now = this.current();
    if (!now || !this.shown) return;
    const { frame } = this.shown;
    const focus = now.playback.focus(frame);
    for (const edge of now.edges) {
      const message = frame.sent.get(edge.id);
      const current = edge.id === focus.edge;
      if ((edge.message === message && edge.current === current) || !wanted(edge.place, edge.size)) continue;
      edge.message = message;
      edge.current = current;
      setAttribute(edge.element, "class", `edge${message ? " used" : ""}${current ? " current" : ""}`);
      const number = message && !Array.isArray(message.contribution) ? numeral(message.contribution) : "";
      setText(edge.label, edge.roomy && !current ? number : "");
    }
  }

  /** @param {Wanted} wanted */
  paintCards(wanted) {
    const now = this.current();
    if (!now || !this.shown) return;
    const { playback, plan } = now;
    const { frame, selected } = this.shown;
    const focus = playback.focus(frame);
    /** @param {number | null | undefined} node */
    const itemOf = (node) => (node === null || node === undefined ? null : plan.itemOf[node]);
    const [itemFrom, itemTo, itemSelected] = [focus.from, focus.to, selected].map(itemOf);
    for (const card of now.cards) {
      const node = card.node;
      if (!wanted(boxOf(plan, node), card.card)) continue;
      const id = itemOf(node);
      const state = playback.gradientState(node, frame);
      const known = playback.isKnown(node, frame);
      const classes =
        `card ${card.kind} ${known ? "" : "not-run"} ${state.replace(" ", "-")}` +
        `${id === itemTo ? " to" : ""}${id === itemFrom ? " from" : ""}${id === itemSelected ? " selected" : ""}`;
      const value = known ? playback.nodes[node].value : null;
      const gradient = frame.gradients.get(node) ?? null;
      const { last } = card;
      if (classes === last.classes && value === last.value && gradient === last.gradient) continue;
      card.last = { classes, value, gradient };
      setAttribute(card.element, "class", classes);
      paintField(card.value, value, "–", card.card, plan.compact ? "= " : "");
      const missing = state === "no path" ? "no path" : "–";
      if (card.gradient) paintField(card.gradient, gradient, missing, card.card, plan.compact ? "∂ " : "");
      // What is written on the card comes first, as it stands there: who speaks to a computer says what they see.
      const written = card.written.map((text) => text.textContent).filter(Boolean);
      const label =
        `${written.join(" ")}: ${playback.definition(node)}, ${playback.derived[node].kind}, ` +
        `value ${value === null ? "not run yet" : brief(value)}, gradient ${playback.gradientText(node, frame)}`;
      setAttribute(card.element, "aria-label", label);
      setAttribute(card.element, "aria-pressed", String(id === itemSelected));
    }
  }

  /** The number on its way along the edge, against the direction of the arrow.
   * @param {Drawing & {playback: Playback}} now @param {Frame} frame @param {boolean} moving */
  paintPill({ playback, edges, pill }, frame, moving) {
    cancelAnimationFrame(this.travelling);
    const focus = playback.focus(frame);
    const edge = edges.find((one) => one.id === focus.edge);
    const message = edge && frame.sent.get(edge.id);
    setAttribute(pill.element, "visibility", message ? "visible" : "hidden");
    if (!message) return;
    const text = shorten(brief(message.contribution), 16);
    setText(pill.text, text);
    const width = text.length * 8 + 18;
    setAttribute(pill.back, "width", String(width));
    setAttribute(pill.back, "x", String(-width / 2));
    /** @param {Point} point */
    const place = ({ x, y }) => setAttribute(pill.element, "transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    if (!moving || !mayMove() || frame.event?.kind !== "message") {
      place(edge.middle);
      return;
    }
    const length = edge.path.getTotalLength();
    const start = performance.now();
    const step = (/** @type {number} */ time) => {
      const share = Math.min(1, (time - start) / TRAVEL);
      const eased = 1 - (1 - share) ** 3;
      place(edge.path.getPointAtLength(length * (1 - 0.5 * eased)));
      if (share < 1) this.travelling = requestAnimationFrame(step);
      else place(edge.middle);
    };
    step(start);
  }

  /** @param {string} group @param {boolean} folded */
  fold(group, folded) {
    if (folded) this.folded.add(group);
    else this.folded.delete(group);
    this.showFolding();
    if (this.playback) this.draw(this.playback);
  }

  showFolding() {
    this.folding.hidden = this.groups.size === 0;
    this.folding.replaceChildren(
      h("span", {}, "Fold"),
      ...[...this.groups].map(([name, members]) => {
        const folded = this.folded.has(name);
        const title = `${members.length} operations`;
        const onclick = () => this.fold(name, !folded);
        return h("button", { type: "button", "aria-pressed": folded, title, onclick }, name);
      }),
    );
  }

  destroy() {
    cancelAnimationFrame(this.travelling);
    cancelAnimationFrame(this.following);
    clearTimeout(this.timer);
    this.view.destroy();
  }
}

/** @param {Field} field @param {Value | null} value @param {string} missing what stands where there is none
 * @param {Card} card @param {string} sign before a number, instead of a word, where room is short */
function paintField(field, value, missing, card, sign) {
  if (field.shown === value && value !== null) return; // the same array as in the last frame
  field.shown = value;
  if (!field.map || !card.grid) {
    setText(field.text, sign + (value === null ? missing : brief(value)));
    return;
  }
  setAttribute(field.map, "visibility", value === null ? "hidden" : "visible");
  if (value !== null) setAttribute(field.map, "href", bitmap(value, card.grid));
  setText(field.text, value === null ? missing : notFinite(value));
}

/** @param {PlacedEdge} edge @param {Plan} plan @returns {EdgeParts} */
function makeEdge(edge, plan) {
  const path = s("path", { d: edge.path, class: "wire", "marker-end": "url(#arrow)" });
  const middle = edge.middle ?? path.getPointAtLength(path.getTotalLength() / 2);
  const label = s("text", { class: "sent", x: middle.x, y: middle.y, "text-anchor": "middle", dy: "0.35em" });
  const element = s("g", { class: "edge", "data-edge": edge.id }, path, label);
  const [from, to] = [boxOf(plan, edge.node), boxOf(plan, edge.child)];
  const place = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const size = { width: Math.abs(from.x - to.x) + BEND, height: Math.abs(from.y - to.y) + BEND };
  const roomy = edge.middle !== null;
  return { id: edge.id, element, path, label, middle, roomy, place, size, message: undefined, current: false };
}

function makePill() {
  const text = s("text", { "text-anchor": "middle", dy: "0.35em" });
  const back = s("rect", { height: 24, y: -12, rx: 12 });
  return { element: s("g", { class: "pill", visibility: "hidden" }, back, text), text, back };
}

/** The middle of the card that stands for a node. @param {Plan} plan @param {number} node */
function boxOf(plan, node) {
  return /** @type {Point} */ (plan.boxes.get(plan.itemOf[node]));
}

/** @param {number} width @param {number} height @param {string} name @param {number} radius */
function box(width, height, name, radius) {
  return s("rect", { class: name, x: -width / 2, y: -height / 2, width, height, rx: radius });
}

/** The calls to fold first: those that no other foldable one is part of.
 * @param {Playback} playback @param {Map<string, number[]>} groups */
function outermost(playback, groups) {
  const calls = playback.nodes.map((node) => (node.calls ?? []).find((call) => groups.has(call)));
  return calls.filter((call) => call !== undefined);
}

function arrowheads() {
  const shape = s("path", { d: "M0 0.5 L8 4 L0 7.5 Z", fill: "context-stroke" });
  const size = {
    viewBox: "0 0 8 8",
    refX: 7.5,
    refY: 4,
    markerWidth: 7,
    markerHeight: 7,
    markerUnits: "userSpaceOnUse",
  };
  return s("defs", {}, s("marker", { id: "arrow", orient: "auto", ...size }, shape));
}
