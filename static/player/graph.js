/** The drawing of the computational graph: built once for each structure, then patched in place at each event. */

import { bitmap, heat, isDark, largestOf, legendOfColours, notFinite, PALETTES } from "./arrays.js";
import { brief, flat, numeral, shapeOf, shapeText, shorten, toNumber } from "./format.js";
import { h, mayMove, s, setAttribute, setText, untilReleased } from "./dom.js";
import { Arranger } from "./arranger.js";
import { bestFor, boundsOfCards, centreOf, gridOf, groupsOf, hasCells, isDrawable, openingFolds } from "./layout.js";
import { MAX_FIT_SCALE, View } from "./view.js";

/** @import { Message, Push, Value } from "../types.js" */
/** @import { Engine } from "./arranger.js" */
/** @import { Outcome } from "./predicted_change.js" */
/** @import { Card, Grid, Group, Item, PlacedEdge, Plan, Point, Size } from "./layout.js" */
/** @import { Frame, TraceStates } from "./states.js" */

const TRAVEL_MS = 450; // time a message takes along its edge
const MAX_GROUP_BUTTONS = 8; // with more groups there is one button per sort of group
const DIGIT_WIDTH = 6.6; // pixels, in a cell
const PILL_HEIGHT = 24; // pixels
const [LETTER_WIDTH, PILL_ENDS, PILL_GAP] = [7.4, 16, 4]; // pixels; ends: both together, gap: between pill and card
const PILL_OFFSETS = [0, -18, 18, -32, 32]; // pixels above or below its edge where the pill may rest
const ROW_HEIGHT = 24; // pixels of a card for its title, and for its last number
const TEXT_WEIGHT = 10; // covering a title or a gradient is this many times worse than covering the rest of a card
const LARGE_STEP = 10; // steps of a number by a key with shift
const STEP_PIXELS = 4; // of a drag, for one step of the number
const ZOOM = 1.3; // factor of one step
const DEPARTS = " departs";

/** @typedef {object} EdgeParts
 * @property {string} id
 * @property {SVGGElement} element
 * @property {SVGPathElement} path
 * @property {SVGTextElement} label
 * @property {Point[]} points start of the curve, then three points for each Bézier segment
 * @property {Point} middle position of the message
 * @property {boolean} roomy true if space is reserved for the message
 * @property {Message | Push | undefined} message the message shown
 * @property {boolean} current */

/** @typedef {object} Field value or gradient on a card
 * @property {SVGTextElement} text
 * @property {SVGImageElement | null} map an array's heat map
 * @property {{back: SVGRectElement, text: SVGTextElement}[]} cells of an array whose numbers are shown
 * @property {"value" | "gradient"} name
 * @property {Value | null} shown */

/** @typedef {object} CardParts
 * @property {SVGGElement} element
 * @property {number} node the node whose value is shown
 * @property {Card} card
 * @property {string} kind
 * @property {SVGTextElement} title
 * @property {SVGTextElement} rank the operation's place in the sending order
 * @property {Element[]} written the texts on the card
 * @property {Field} value
 * @property {Field | null} gradient
 * @property {SVGTextElement} due the right gradient, below a wrong one
 * @property {{classes: string, value: Value | null, gradient: Value | null, due?: Value}} last what the card shows */

/** @typedef {object} Drawing
 * @property {Plan} plan
 * @property {EdgeParts[]} edges
 * @property {CardParts[]} cards
 * @property {{element: SVGGElement, text: SVGTextElement, back: SVGRectElement}} pill the moving message */

/** Callbacks for changing a number by dragging on its card or with keys.
 * @typedef {object} Numbers
 * @property {(node: number) => boolean} allows
 * @property {(node: number, cell: number, steps: number) => void} moveBy changes it by a signed number of steps
 * @property {() => void} release */

export class Graph {
  /** @param {{graphviz: Engine, onSelect: (id: number, cell: number | null) => void, onLayout: () => void,
   *   numbers: Numbers}} options */
  constructor({ graphviz, onSelect, onLayout, numbers }) {
    this.numbers = numbers;
    this.ghost = s("text", { class: "ghost", "text-anchor": "middle", "aria-hidden": true });
    this.dragged = false; // the click that ends a drag must not select
    this.arranger = new Arranger(graphviz);
    this.onSelect = onSelect;
    this.onLayout = onLayout;
    /** @type {TraceStates | null} */
    this.states = null;
    /** @type {Drawing | null} */
    this.drawing = null;
    /** @type {{frame: Frame, selected: number | null, cell: number | null} | null} */
    this.shown = null;
    /** @type {Map<string, Group>} */
    this.groups = new Map();
    /** @type {Set<string>} */
    this.folded = new Set();
    this.wanted = ""; // key of the newest drawing, which may not be finished yet
    /** @type {Plan[]} that drawing in several styles; the panel's size decides between them */
    this.plans = [];
    /** @type {Plan | null} the plan that is drawn or being drawn */
    this.plan = null;
    this.scene = s("g");
    this.svg = s("svg", { class: "graph", role: "group", "aria-label": "Computation graph" }, arrowheads(), this.scene);
    this.view = new View(this.svg, this.scene);
    this.views = [this.view]; // that the buttons move: also that of a drawing beside this one
    this.observer = new ResizeObserver(() => this.choosePlan());
    this.folding = h("div", { class: "folding", role: "group", "aria-label": "Fold parts of the graph" });
    this.simple = h("p", { class: "simple", hidden: true }, "Drawn simply, by depth: Graphviz did not answer in time.");
    this.signs = h("span", {});
    this.colours = legendOfColours();
    this.legend = h("p", { class: "legend", hidden: true }, this.signs, this.colours);
    /** @param {string} label @param {string} text @param {() => void} onclick */
    const tool = (label, text, onclick) => h("button", { "aria-label": label, title: label, onclick }, text);
    const turn = () => this.showOrder(this.ordering.getAttribute("aria-pressed") !== "true");
    const why = "The order in which the operations send, and which are next";
    this.ordering = h("button", { "aria-pressed": false, title: why, onclick: turn }, "Order");
    this.pending = h("p", { class: "pending", hidden: true });
    this.tools = h(
      "div",
      { class: "tools", role: "group", "aria-label": "View" },
      this.ordering,
      tool("Zoom in (+)", "+", () => this.zoom(1)),
      tool("Zoom out (-)", "−", () => this.zoom(-1)),
      tool("Fit the graph (0)", "Fit", () => this.fit()),
    );
    this.head = h("div", { class: "stage-head" }, this.pending, this.simple); // a line of its own, above all cards
    this.element = h("div", { class: "stage" }, this.head, h("div", { class: "drawing" }, this.svg));
    this.observer.observe(this.svg);
  }

  /** Show a new trace, with a new drawing only if its structure is new. @param {TraceStates} states */
  setTrace(states) {
    const before = this.states;
    const known = before?.structure === states.structure;
    this.states = states;
    this.shown = null;
    this.ordering.hidden = Boolean(states.tangentOf);
    if (states.early !== (before?.early ?? false)) this.showOrder(states.early);
    if (known && this.wanted) {
      if (String(before.roomForDue) !== String(states.roomForDue)) this.draw(states);
      return;
    }
    this.view.wished = false; // it was wished for another graph
    this.groups = groupsOf(states);
    this.folded = new Set(openingFolds(states, this.groups));
    this.showFolding();
    this.draw(states);
  }

  /** Zoom in, or out if negative, and keep the cards of the event in sight. @param {number} steps */
  zoom(steps) {
    for (const view of this.views) {
      view.zoom(ZOOM ** steps);
      const { x, y, scale, window } = view;
      view.centre({ x: (window.width / 2 - x) / scale, y: (window.height / 2 - y) / scale }); // nothing is left empty
      view.reveal(view.boxes);
    }
  }

  /** Show all of the graph, or again the part that follows the events. */
  fit() {
    for (const view of this.views) view.turn();
  }

  /** Show or hide the order in which operations send, and the list of the next ones. @param {boolean} shown */
  showOrder(shown) {
    setAttribute(this.ordering, "aria-pressed", String(shown));
    this.svg.classList.toggle("ordered", shown);
    this.writeOrder();
  }

  /** Update the order badges and the list of operations that still have to send. */
  writeOrder() {
    const { states, drawing, shown } = this;
    const wanted = this.svg.classList.contains("ordered") && states !== null;
    const on = wanted && !states.tangentOf;
    this.pending.hidden = !on;
    setText(this.pending, "");
    if (!wanted) return;
    const order = on ? states.sendingOrder() : new Map();
    for (const { node, rank } of drawing?.cards ?? []) {
      setText(rank, String(order.get(node) ?? ""));
      rank.parentElement?.toggleAttribute("data-none", !order.has(node));
    }
    if (!on || !shown || shown.frame.k <= states.forwardEnd) return;
    const { from } = states.focus(shown.frame);
    const named = (/** @type {boolean} */ sending) => {
      const ids = states.pending(shown.frame).filter((id) => (id === from) === sending);
      return ids.map((id) => {
        const [arrived, all] = [shown.frame.arrived.get(id) ?? 0, states.derived[id].terms.length];
        return states.name(id) + (all > 1 ? ` (${arrived} of ${all} messages)` : "");
      });
    };
    const [now, later] = [named(true), named(false)].map((names) => names.join(", "));
    const said = [now && `Sending: ${now}.`, later && `Still to send: ${later}.`].filter(Boolean).join(" ");
    setText(this.pending, said || "All have sent.");
  }

  /** Lay out and draw a trace; does nothing if that drawing is there or in progress. @param {TraceStates} states */
  async draw(states) {
    this.view.measure();
    const afar = this.view.presented && !this.element.closest(".narrow") && hasCells(states, this.folded);
    const key = [states.structure, ...this.folded, afar, states.roomForDue].join(" ");
    if (key === this.wanted) return;
    this.wanted = key;
    this.plans = [];
    const plans = await this.arranger.arrange(states, this.folded, afar);
    if (key !== this.wanted) return; // a newer drawing has been requested meanwhile
    this.plans = plans;
    this.plan = null;
    this.choosePlan();
  }

  /** Draw the plan that suits the panel's size; called whenever the size changes. */
  choosePlan() {
    const { states, plans } = this;
    if (!states || !plans.length) return;
    this.view.measure();
    const { presented } = this.view;
    const limit = presented ? MAX_FIT_SCALE : 1;
    const besideCode = this.element.closest(".present.with-code") !== null;
    const plan = bestFor(plans, this.room(), limit, this.view.readable(), !presented, besideCode);
    if (plan === this.plan) return;
    this.plan = plan;
    this.build(states, plan);
  }

  /** Lay out again after present mode was opened or closed: its window has another size, too. */
  present() {
    this.view.free = false;
    if (this.states && hasCells(this.states, this.folded)) this.draw(this.states);
  }

  /** Measure the space for drawing and legend; it decides whether there is a legend. @returns {Size} */
  room() {
    const fixed = this.element.closest(".narrow"); // there the style sheet sets the height
    const wide = (this.element.closest(".wide")?.clientHeight ?? 0) - this.head.offsetHeight;
    return { width: this.svg.clientWidth || 600, height: (fixed ? this.svg.clientHeight : wide) || 400 };
  }

  /** Draw a plan. @param {TraceStates} states @param {Plan} plan */
  build(states, plan) {
    const pill = makePill();
    const cards = [...plan.items.values()].map((item) => this.makeCard(states, plan, item));
    const edges = plan.edges.map(makeEdge);
    this.drawing = { plan, edges, cards, pill };
    const [below, above] = [edges, cards].map((parts) => parts.map(({ element }) => element));
    const [wires, boxes] = [s("g", { class: "edges" }, ...below), s("g", { class: "cards" }, ...above)];
    this.scene.replaceChildren(wires, boxes, this.ghost, pill.element);
    this.view.open(plan, centreOf(plan, states.output));
    this.signs.hidden = !plan.compact;
    const sign = states.tangentOf ? `tangent: the derivative by ${states.tangentOf}` : "gradient of the result";
    this.signs.textContent = `= value, ∂ ${sign}. `;
    this.colours.hidden = states.nodes.every(({ shape }) => shape.length === 0);
    this.legend.hidden = this.signs.hidden && this.colours.hidden;
    this.simple.hidden = !plan.simple;
    this.onLayout();
  }

  /** Return the drawing if it belongs to this trace; the previous one stays on the screen until then. */
  current() {
    const { states, drawing } = this;
    return states && drawing?.plan.structure === states.structure ? { states, ...drawing } : null;
  }

  /** Make a card. @param {TraceStates} states @param {Plan} plan @param {Item} item @returns {CardParts} */
  makeCard(states, plan, item) {
    const node = states.nodes[item.node];
    const card = /** @type {Card} */ (plan.cards.get(item.id));
    const { x, y } = /** @type {Point} */ (plan.boxes.get(item.id));
    const kind = item.group ? "group" : states.derived[node.id].kind;
    const { width, height, grid, rim } = card;
    const compact = plan.compact;
    const step = compact ? 15 : 18;
    let line = -height / 2 + (compact ? 15 : 19);
    const select = () => {
      if (this.current() && !this.dragged) this.onSelect(node.id, null);
    };
    const parts = card.title === card.full ? [] : [s("title", {}, card.full)];
    if (rim) parts.push(makeBox(width + rim, height + rim, "rim", 10));
    parts.push(makeBox(width, height, "box", kind === "operation" ? 14 : 7));
    const title = s("text", { class: "name", x: 0, y: line, "text-anchor": "middle" }, card.title);
    parts.push(title);
    /** @param {"value" | "gradient"} name @param {string} word @param {number} i @returns {Field} */
    const field = (name, word, i) => {
      if (grid) return this.makeMap(node.id, grid, parts, name, word, i);
      line += step;
      if (name === "gradient" && kind === "leaf") {
        const chip = { x: 6 - width / 2, y: line - 13.5, width: width - 12, height: 18, rx: 5 };
        parts.push(s("rect", { ...chip, class: "chip" }));
      }
      const [at, anchor] = compact ? [0, "middle"] : [width / 2 - 10, "end"];
      const text = s("text", { class: name, x: at, y: line, "text-anchor": anchor });
      if (!compact) parts.push(s("text", { class: "word", x: -width / 2 + 10, y: line }, word));
      parts.push(text);
      return { text, map: null, cells: [], name, shown: null };
    };
    const rank = s("text", { "text-anchor": "middle", dy: "0.35em" });
    const corner = { class: "rank", transform: `translate(${-width / 2} ${-height / 2})`, "aria-hidden": true };
    const badge = s("g", corner, s("circle", { r: 11 }), rank);
    const words = compact ? ["=", "∂"] : ["value", states.tangentOf ? `∂/∂${states.tangentOf}` : "grad"];
    const value = field("value", words[0], 0);
    const gradient = node.requires_grad ? field("gradient", words[1], 1) : null;
    const element = s(
      "g",
      {
        class: `card ${kind}`,
        "data-node": node.id,
        transform: `translate(${x} ${y})`,
        tabindex: 0,
        role: "button",
        onclick: select,
        onpointerdown: (/** @type {PointerEvent} */ event) => this.startDrag(event, node.id, grid),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          this.dragged = false;
          if (event.key === "Enter") select();
          else if (!this.moveByKey(event, node.id)) return;
          event.preventDefault();
          event.stopPropagation();
        },
      },
      ...[...parts, badge].flatMap((part) => [part, " "]), // spaces separate the texts for screen readers
    );
    const due = s("text", { class: "due", x: 0, y: height / 2 - 8, "text-anchor": "middle" });
    if (states.roomForDue[node.id]) element.append(due);
    const written = parts.filter((part) => ["title", "text"].includes(part.tagName));
    const last = { classes: "", value: null, gradient: null };
    return { element, node: node.id, card, kind, title, rank, written, value, gradient, due, last };
  }

  /** Add an array to a card, as numbers in cells or as a heat map. @param {number} node
   * @param {NonNullable<Card["grid"]>} grid @param {Element[]} parts of the card; extended
   * @param {"value" | "gradient"} name @param {string} word @param {number} i @returns {Field} */
  makeMap(node, grid, parts, name, word, i) {
    const { rows, columns, cell, numbers } = grid;
    const { x, y } = grid.maps[i];
    const [width, height] = [columns * cell.width, rows * cell.height];
    const middle = x + width / 2;
    const onclick = (/** @type {MouseEvent} */ event) => {
      event.stopPropagation();
      if (this.current() && !this.dragged) this.onSelect(node, cellAt(event, frame, grid));
    };
    const frame = s("rect", { x, y, width, height, class: `map-frame of-${name}`, onclick });
    const mark = { class: `mark ${name}`, "text-anchor": "middle", dy: "0.35em" };
    const text = s("text", { ...mark, x: middle, y: numbers ? y + height / 2 : y + height + 10 });
    parts.push(s("text", { class: `word of-${name}`, x: middle, y: y - 4, "text-anchor": "middle" }, word));
    if (!numbers) {
      const map = s("image", { x, y, width, height, preserveAspectRatio: "none", class: "map" });
      parts.push(map, frame, text);
      return { text, map, cells: [], name, shown: null };
    }
    const cells = Array.from({ length: rows * columns }, (_, at) => {
      const [left, top] = [x + (at % columns) * cell.width, y + Math.floor(at / columns) * cell.height];
      const back = s("rect", { x: left, y: top, width: cell.width, height: cell.height, class: "cell" });
      const place = { x: left + cell.width / 2, y: top + cell.height / 2, dy: "0.35em", "text-anchor": "middle" };
      return { back, text: s("text", { class: "cell-number", ...place }) };
    });
    parts.push(...cells.flatMap((one) => [one.back, one.text]), frame, text);
    return { text, map: null, cells, name, shown: null };
  }

  /** Start a drag that changes a card's number, or the cell where it begins. @param {PointerEvent} event
   * @param {number} node @param {Grid | null} grid */
  startDrag(event, node, grid) {
    this.dragged = false;
    if (event.button !== 0 || !this.current() || !this.numbers.allows(node)) return;
    event.stopPropagation(); // otherwise the view would be dragged too
    const target = /** @type {Element} */ (event.target);
    const cell = grid && target.matches(".map-frame") ? cellAt(event, target, grid) : 0;
    let last = 0;
    const move = (/** @type {PointerEvent} */ later) => {
      const [right, up] = [later.clientX - event.clientX, event.clientY - later.clientY];
      const steps = Math.round((right + up) / STEP_PIXELS);
      if (steps === last) return;
      this.dragged = true;
      this.numbers.moveBy(node, cell, steps - last);
      last = steps;
    };
    untilReleased(move, () => this.numbers.release());
  }

  /** Change a number by a key; return whether the key was used. @param {KeyboardEvent} event @param {number} node */
  moveByKey({ key, shiftKey }, node) {
    const by = { ArrowUp: 1, ArrowDown: -1 }[key];
    if (by === undefined || !this.current() || !this.numbers.allows(node)) return false;
    const cell = this.shown?.selected === node ? (this.shown.cell ?? 0) : 0;
    this.numbers.moveBy(node, cell, by * (shiftKey ? LARGE_STEP : 1));
    return true;
  }

  /** Show above the result what was predicted of a change. @param {Outcome | null} outcome */
  showGhost(outcome) {
    const drawn = this.current();
    if (!drawn) return;
    const { plan, states } = drawn;
    const card = /** @type {Card} */ (plan.cards.get(plan.itemOf[states.output]));
    const { x, y } = centreOf(plan, states.output);
    setAttribute(this.ghost, "transform", `translate(${x} ${y - card.height / 2 - 8})`);
    setText(this.ghost, typeof outcome?.predicted === "number" ? `predicted ${numeral(outcome.predicted)}` : "");
    this.svg.classList.toggle("changing", outcome !== null);
  }

  /** Show a frame. @param {Frame} frame @param {number | null} selected node
   * @param {number | null} cell of that node @param {boolean} moving true if a message may be animated
   * @param {number[]} beside nodes that a drawing beside this one shows: both show the same part of the graph */
  paint(frame, selected, cell, moving, beside = []) {
    const drawn = this.current();
    if (!drawn) return;
    this.shown = { frame, selected, cell };
    const { plan, states } = drawn;
    const nodes = states.nodesOf(frame);
    const both = [...nodes, ...beside.filter((node) => plan.itemOf[node])];
    if (nodes.length) {
      const boxes = [both, nodes, nodes.slice(-1)].map((some) => boundsOfCards(plan, some));
      this.view.reveal(boxes);
    }
    this.paintCards(drawn, frame, selected);
    this.paintEdges(drawn, frame);
    this.paintPill(drawn, frame, moving);
    this.writeOrder();
  }

  /** Move the view to show a node's card. @param {number} id */
  reveal(id) {
    const drawn = this.current();
    if (drawn) this.view.reveal([boundsOfCards(drawn.plan, [id])]);
  }

  /** Update the edges that have changed. @param {Drawing & {states: TraceStates}} drawn @param {Frame} frame */
  paintEdges({ states, edges }, frame) {
    const focus = states.focus(frame);
    for (const edge of edges) {
      const message = frame.sent.get(edge.id);
      const current = edge.id === focus.edge;
      if (edge.message === message && edge.current === current) continue;
      edge.message = message;
      edge.current = current;
      const look = `edge${message ? " used" : ""}${current ? " current" : ""}`;
      setAttribute(edge.element, "class", look);
      const back = message?.kind === "message"; // a gradient goes against the data
      setAttribute(edge.path, "marker-start", back ? "url(#arrowused)" : "none");
      setAttribute(edge.path, "marker-end", back ? "none" : message ? "url(#arrowused)" : "url(#arrow)");
      const number = message && !Array.isArray(message.contribution) ? numeral(message.contribution) : "";
      setText(edge.label, current ? "" : number); // drawn only where there is space for it
    }
  }

  /** Update the cards that have changed. @param {Drawing & {states: TraceStates}} drawn @param {Frame} frame
   * @param {number | null} selected node */
  paintCards({ states, plan, cards }, frame, selected) {
    const focus = states.focus(frame);
    /** @param {number | null | undefined} node */
    const itemOf = (node) => (node === null || node === undefined ? null : plan.itemOf[node]);
    const [itemFrom, itemTo, itemSelected] = [focus.from, focus.to, selected].map(itemOf);
    for (const card of cards) {
      const node = card.node;
      const id = itemOf(node);
      const state = states.gradientState(node, frame);
      const known = states.isKnown(node, frame);
      const due = states.due(node, frame);
      const classes =
        `card ${card.kind} ${known ? "" : "not-run"} ${state.replace(" ", "-")}` +
        `${this.numbers.allows(node) ? " moves" : ""}` +
        `${id === itemTo ? " to" : ""}${id === itemFrom ? " from" : ""}${id === itemSelected ? " selected" : ""}` +
        (due === undefined ? "" : " wrong") +
        (id === itemTo && states.departs(frame) ? DEPARTS : "");
      const { now: after } = states.nodes[node];
      const overwritten = after !== undefined && states.isForwardOver(frame); // the label also gives the old value
      const seen = known && !states.nodes[node].unseen;
      const value = overwritten ? after : seen ? states.nodes[node].value : null;
      const gradient = frame.gradients.get(node) ?? null;
      const { last } = card;
      if (classes === last.classes && value === last.value && gradient === last.gradient && due === last.due) continue;
      card.last = { classes, value, gradient, due };
      setAttribute(card.element, "class", classes);
      const sign = classes.endsWith(DEPARTS) ? "✗ " : "";
      const letters = Math.floor(card.card.width / DIGIT_WIDTH);
      setText(card.due, due === undefined ? "" : shorten(`✗ right: ${brief(due)}`, letters));
      setText(card.title, overwritten ? `${card.card.title} ⚠ written to` : sign + card.card.title);
      paintField(card.value, value, "–", card.card, plan.compact ? "= " : "");
      const missing = state === "no path" ? "no path" : "–";
      if (card.gradient) paintField(card.gradient, gradient, missing, card.card, plan.compact ? "∂ " : "");
      // The label starts with the card's visible text, because voice control users say what they see.
      const written = card.written.map((text) => text.textContent).filter(Boolean);
      const label =
        `${written.join(" ")}: ${states.definition(node)}, ${states.derived[node].kind}, ` +
        `value ${states.valueText(node, frame)}, ` +
        `${states.tangentOf ? "tangent" : "gradient"} ${states.gradientText(node, frame)}`;
      setAttribute(card.element, "aria-label", label);
      setAttribute(card.element, "aria-pressed", String(id === itemSelected));
    }
  }

  /** Move the message along its edge: a gradient against the arrow's direction, a tangent along it.
   * @param {Drawing & {states: TraceStates}} drawn @param {Frame} frame @param {boolean} moving */
  paintPill({ states, plan, edges, pill }, frame, moving) {
    for (const travel of pill.element.getAnimations()) travel.cancel();
    const focus = states.focus(frame);
    const edge = edges.find((one) => one.id === focus.edge);
    const message = edge && frame.sent.get(edge.id);
    setAttribute(pill.element, "visibility", message ? "visible" : "hidden");
    if (!message) return;
    // The gradients of an operand's broadcast copies are summed on arrival.
    const arrived = frame.event?.kind === "accumulate" ? frame.event.message : message.contribution;
    const shape = states.shapeIn(arrived, [focus.to, focus.from]);
    const full = shorten(brief(arrived, shape), 28);
    const widthOf = (/** @type {string} */ content) => Math.ceil(content.length * LETTER_WIDTH + PILL_ENDS);
    let [text, rest] = [full, restingPlace(plan, edge, widthOf(full))];
    if (rest.overlap && shape.length) {
      text = shapeText(shape); // the ledger shows the numbers
      rest = restingPlace(plan, edge, widthOf(text));
    }
    setText(pill.text, text);
    const width = widthOf(text);
    setAttribute(pill.back, "width", String(width));
    setAttribute(pill.back, "x", String(-width / 2));
    setAttribute(pill.element, "transform", `translate(${rest.x.toFixed(1)} ${rest.y.toFixed(1)})`);
    const { kind } = frame.event ?? {};
    if (!moving || !mayMove() || (kind !== "message" && kind !== "push")) return;
    const start = kind === "push" ? edge.points[0] : edge.points[edge.points.length - 1];
    const way = [start, edge.middle, rest].map(({ x, y }) => `translate(${x}px, ${y}px)`);
    pill.element.animate({ transform: way }, { duration: TRAVEL_MS, easing: "ease-out" });
  }

  /** Fold or unfold groups. If too many cards came of it, the rest is folded as at the beginning.
   * @param {string[]} keys of groups @param {boolean} folded */
  fold(keys, folded) {
    const { states } = this;
    if (!states) return;
    const without = (/** @type {Iterable<string>} */ all) => new Set([...all].filter((key) => !keys.includes(key)));
    const wanted = folded ? new Set([...this.folded, ...keys]) : without(this.folded);
    this.folded =
      [wanted, without(openingFolds(states, this.groups))].find((one) => isDrawable(states, one)) ?? this.folded;
    this.showFolding();
    this.draw(states);
  }

  /** Show a button for each group; if there are many, one for each sort, and the rest behind "One by one". */
  showFolding() {
    this.folding.hidden = this.groups.size === 0;
    /** @param {string} text @param {string[]} keys */
    const button = (text, keys) => {
      const folded = keys.every((key) => this.folded.has(key));
      const operations = keys.reduce((sum, key) => sum + (this.groups.get(key)?.members.length ?? 0), 0);
      const onclick = () => this.fold(keys, !folded);
      const alone = new Set([...this.folded].filter((key) => !keys.includes(key)));
      const disabled = folded && keys.length > 1 && this.states !== null && !isDrawable(this.states, alone);
      const title = `${operations} operations${disabled ? ": too many cards to draw; unfold them one by one" : ""}`;
      return h("button", { "aria-pressed": folded, title, disabled, onclick }, text);
    };
    const each = [...this.groups].map(([key, { name }]) => button(name, [key]));
    const whole = [...new Set([...this.groups.values()].map(({ sort }) => sort))].map((sort) => {
      const keys = [...this.groups].filter(([, group]) => group.sort === sort).map(([key]) => key);
      return button(`${sort} (${keys.length})`, keys);
    });
    const open = this.folding.querySelector("details")?.open ?? false;
    const one = h("details", { open }, h("summary", {}, "One by one"), h("div", { class: "folding" }, ...each));
    const few = each.length <= MAX_GROUP_BUTTONS;
    this.folding.replaceChildren(h("span", {}, "Fold"), ...(few ? each : [...whole, one]));
  }

  destroy() {
    this.wanted = ""; // discards a drawing in progress
    this.plan = null;
    this.observer.disconnect();
    this.arranger.destroy();
    this.view.destroy();
  }
}

/** Show a value on a card. @param {Field} field @param {Value | null} value @param {string} missing text if it is null
 * @param {Card} card @param {string} sign before a number, instead of a word, on a compact card */
function paintField(field, value, missing, card, sign) {
  if (field.shown === value && value !== null) return; // the same array as in the last frame
  field.shown = value;
  if (!card.grid) {
    setText(field.text, sign + (value === null ? missing : brief(value)));
    return;
  }
  // A wrong backward rule may give a gradient the wrong shape: it has no cells, so only the shape is shown.
  const found = value === null ? null : gridOf(shapeOf(value));
  const fits = found?.rows === card.grid.rows && found.columns === card.grid.columns;
  const instead = value === null ? missing : shapeText(shapeOf(value));
  if (field.map) {
    setAttribute(field.map, "visibility", fits ? "visible" : "hidden");
    if (value !== null && fits) setAttribute(field.map, "href", bitmap(value, card.grid, PALETTES[field.name]));
    setText(field.text, value !== null && fits ? notFinite(value) : instead);
    return;
  }
  setText(field.text, fits ? "" : instead);
  const numbers = value !== null && fits ? flat(value) : [];
  const largest = largestOf(numbers.map(toNumber));
  field.cells.forEach(({ back, text }, i) => {
    const known = i < numbers.length;
    const colour = known ? heat(toNumber(numbers[i]), largest, PALETTES[field.name]) : null;
    setAttribute(back, "fill", colour ? `rgb(${colour.join(" ")})` : "none");
    const written = known ? numeral(numbers[i]) : "";
    setAttribute(text, "class", `cell-number${colour && isDark(colour) ? " on-dark" : ""}`);
    if (text.textContent === written) return;
    text.textContent = written;
    const room = (card.grid?.cell.width ?? 0) - 4;
    if (written.length * DIGIT_WIDTH > room) {
      setAttribute(text, "textLength", String(room));
      setAttribute(text, "lengthAdjust", "spacingAndGlyphs");
    } else {
      text.removeAttribute("textLength");
    }
  });
}

/** Make an edge. @param {PlacedEdge} edge @returns {EdgeParts} */
function makeEdge({ id, points, middle, roomy }) {
  const [start, ...rest] = points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`);
  const path = s("path", { d: `M${start}C${rest.join(" ")}`, class: "wire", "marker-end": "url(#arrow)" });
  const label = s("text", { class: "sent", x: middle.x, y: middle.y, "text-anchor": "middle", dy: "0.35em" });
  const element = s("g", { class: "edge", "data-edge": id }, path, ...(roomy ? [label] : []));
  return { id, element, path, label, points, middle, roomy, message: undefined, current: false };
}

/** Return a hidden label with a rounded background. */
function makePill() {
  const text = s("text", { "text-anchor": "middle", dy: "0.35em" });
  const back = s("rect", { height: PILL_HEIGHT, y: -PILL_HEIGHT / 2, rx: PILL_HEIGHT / 2 });
  return { element: s("g", { class: "pill", visibility: "hidden" }, back, text), text, back };
}

/** Find where a message covers the least of any card, titles and gradients above all; of equal places the first,
 * nearest to its edge's middle. @param {Plan} plan @param {EdgeParts} edge @param {number} messageWidth
 * @returns {Point & {overlap: number}} the overlap is a weighted area */
function restingPlace(plan, edge, messageWidth) {
  const { middle, points } = edge;
  const halves = [points[0], points[points.length - 1]].map((end) => ({
    x: (middle.x + end.x) / 2,
    y: (middle.y + end.y) / 2,
  }));
  const places = [middle, ...halves].flatMap(({ x, y }) => PILL_OFFSETS.map((by) => ({ x, y: y + by })));
  const zones = [...plan.boxes].flatMap(([id, { x, y }]) =>
    zonesOf(/** @type {Card} */ (plan.cards.get(id))).map((zone) => ({ ...zone, x: x + zone.x, y: y + zone.y })),
  );
  const [halfWidth, halfHeight] = [messageWidth / 2 + PILL_GAP, PILL_HEIGHT / 2];
  const overlaps = places.map((place) =>
    zones.reduce((sum, { x, y, width, height, weight }) => {
      const across = Math.min(place.x + halfWidth, x + width) - Math.max(place.x - halfWidth, x);
      const down = Math.min(place.y + halfHeight, y + height) - Math.max(place.y - halfHeight, y);
      return sum + weight * Math.max(0, across) * Math.max(0, down);
    }, 0),
  );
  const overlap = Math.min(...overlaps);
  return { ...places[overlaps.indexOf(overlap)], overlap };
}

/** Return how bad it is to cover each part of a card, from its centre: the whole, its title, its gradient.
 * @param {Card} card */
function zonesOf({ width, height, grid }) {
  const whole = { x: -width / 2, y: -height / 2, width, height, weight: 1 };
  const title = { ...whole, height: ROW_HEIGHT, weight: TEXT_WEIGHT };
  const last = { ...title, y: height / 2 - ROW_HEIGHT };
  const map = grid?.maps[1] && { ...grid.maps[1], width: grid.columns * grid.cell.width };
  return [whole, title, map && grid ? { ...last, ...map, height: grid.rows * grid.cell.height } : last];
}

/** Return the index of the cell under a pointer, in row-major order. @param {MouseEvent} event @param {Element} frame
 * @param {Grid} grid */
function cellAt(event, frame, { rows, columns, stride }) {
  const area = frame.getBoundingClientRect();
  const column = Math.min(columns - 1, Math.floor(((event.clientX - area.left) / area.width) * columns));
  const row = Math.min(rows - 1, Math.floor(((event.clientY - area.top) / area.height) * rows));
  return row * stride + column;
}

/** Make a box. @param {number} width @param {number} height @param {string} name @param {number} radius */
function makeBox(width, height, name, radius) {
  return s("rect", { class: name, x: -width / 2, y: -height / 2, width, height, rx: radius });
}

/** Make an arrowhead for each colour of an edge, because not every browser can inherit it from the line. */
function arrowheads() {
  const size = { viewBox: "0 0 8 8", refX: 7.5, refY: 4, markerWidth: 7, markerHeight: 7 };
  const drawn = { orient: "auto-start-reverse", markerUnits: "userSpaceOnUse", ...size };
  const head = (/** @type {string} */ state) => s("path", { d: "M0 0.5 L8 4 L0 7.5 Z", class: `arrowhead ${state}` });
  return s("defs", {}, ...["", "used"].map((state) => s("marker", { id: `arrow${state}`, ...drawn }, head(state))));
}
