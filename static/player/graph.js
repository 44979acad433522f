/** The graph: drawn once for each structure, then patched in place. */

import { bitmap, notFinite } from "./arrays.js";
import { brief, numeral, shapeText, shorten } from "./format.js";
import { h, mayMove, s, setAttribute, setText } from "./dom.js";
import { groupsOf, layout } from "./layout.js";
import { View } from "./view.js";

const TRAVEL = 450; // milliseconds a message takes along its edge
const FOLD_FROM = 80; // nodes: a larger graph is folded when it opens
const SETTLE = 100; // milliseconds without a new event, after which what is out of sight follows too
const BEND = 80; // pixels that an edge may leave the box between its ends

export class Graph {
  /** @param {{graphviz: string, onSelect: (id: number, cell: number | null) => void, onLayout: () => void}} options */
  constructor({ graphviz, onSelect, onLayout }) {
    this.graphviz = graphviz;
    this.onSelect = onSelect;
    this.onLayout = onLayout;
    this.folded = new Set();
    this.drawn = "";
    this.scene = s("g");
    this.svg = s("svg", { class: "graph", role: "group", "aria-label": "Computation graph" }, arrowheads(), this.scene);
    this.view = new View(this.svg, this.scene, () => this.patch());
    this.folding = h("div", { class: "folding", role: "group", "aria-label": "Fold parts of the graph" });
    this.message = h("p", { class: "wait" }, "Drawing the graph…");
    this.legend = h("p", { class: "legend", hidden: true }, "= value, ∂ gradient of the result");
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

  /** A new trace: a new drawing only if the structure is new. @param {import("./playback.js").Playback} playback */
  async setTrace(playback) {
    const known = this.playback?.structure === playback.structure;
    this.playback = playback;
    this.shown = null;
    if (known && this.drawn) return;
    this.groups = groupsOf(playback);
    this.folded = new Set(playback.nodes.length >= FOLD_FROM ? outermost(playback, this.groups) : []);
    this.showFolding();
    await this.draw();
  }

  /** Lay out and draw; does nothing if what would be laid out is on the screen already. */
  async draw() {
    const wanted = [this.playback.structure, ...this.folded].join(" ");
    if (wanted === this.drawn) return;
    this.drawn = wanted;
    let plan;
    try {
      const window = { width: this.svg.clientWidth || 600, height: this.svg.clientHeight || 400 };
      plan = await layout(this.playback, this.folded, this.graphviz, window);
    } catch (error) {
      this.drawn = "";
      this.message.hidden = false;
      this.message.textContent = `The graph could not be drawn (${error.message}). The ledger and the table below show the same.`;
      return;
    }
    if (wanted !== this.drawn) return; // a newer structure has arrived meanwhile
    this.message.hidden = true;
    this.legend.hidden = !plan.compact;
    this.plan = plan;
    this.edges = new Map(plan.edges.map((edge) => [edge.id, this.makeEdge(edge)]));
    this.cards = new Map([...plan.items.values()].map((item) => [item.id, this.makeCard(item)]));
    this.pill = this.makePill();
    const layer = (name, parts) => s("g", { class: name }, ...parts);
    this.scene.replaceChildren(
      layer(
        "edges",
        [...this.edges.values()].map((edge) => edge.element),
      ),
      layer(
        "cards",
        [...this.cards.values()].map((card) => card.element),
      ),
      this.pill.element,
    );
    this.view.open(plan, plan.boxes.get(plan.itemOf[this.playback.output]));
    this.onLayout();
  }

  makeEdge(edge) {
    const path = s("path", { d: edge.path, class: "wire", "marker-end": "url(#arrow)" });
    const end = edge.middle ?? middleOf(path);
    const label = s("text", { class: "sent", x: end[0], y: end[1], "text-anchor": "middle", dy: "0.35em" });
    const element = s("g", { class: "edge", "data-edge": edge.id }, path, label);
    const [from, to] = [edge.node, edge.child].map((node) => this.plan.boxes.get(this.plan.itemOf[node]));
    const place = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
    const size = { width: Math.abs(from.x - to.x) + BEND, height: Math.abs(from.y - to.y) + BEND };
    return { element, path, label, middle: end, roomy: Boolean(edge.middle), place, size, last: {} };
  }

  makeCard(item) {
    const { playback, plan } = this;
    const card = plan.cards.get(item.id);
    const { x, y } = plan.boxes.get(item.id);
    const kind = item.group ? "group" : playback.derived[item.node].kind;
    const { width, height, grid } = card;
    const compact = plan.compact;
    const right = width / 2 - 10;
    const left = -width / 2 + 10;
    let line = -height / 2 + (compact ? 15 : 19);
    const step = compact ? 15 : 18;
    const select = () => this.onSelect(item.node, null);
    const parts = card.title === card.full ? [] : [s("title", {}, card.full)];
    if (kind === "output") parts.push(box(width + 6, height + 6, "rim", 10));
    parts.push(box(width, height, "box", kind === "operation" ? 14 : 7));
    parts.push(s("text", { class: "name", x: 0, y: line, "text-anchor": "middle" }, card.title));
    const texts = {};
    const maps = {};
    if (grid) {
      line += step - 2;
      parts.push(
        s(
          "text",
          { class: "shape", x: 0, y: line, "text-anchor": "middle" },
          shapeText(playback.nodes[item.node].shape),
        ),
      );
      const names = playback.nodes[item.node].requires_grad ? ["value", "gradient"] : ["value"];
      const mapWidth = grid.columns * grid.cell;
      names.forEach((name, index) => {
        const middle = names.length === 1 ? 0 : (index - 0.5) * (width / 2);
        const place = { x: middle - mapWidth / 2, y: line + 6, width: mapWidth, height: grid.rows * grid.cell };
        maps[name] = s("image", { ...place, preserveAspectRatio: "none", class: "map" });
        const frame = s("rect", { ...place, class: "map-frame", onclick: (event) => this.pickCell(event, item, grid) });
        texts[name] = s("text", {
          class: `mark ${name}`,
          x: middle,
          y: line + 6 + place.height / 2,
          dy: "0.35em",
          "text-anchor": "middle",
        });
        parts.push(maps[name], frame, texts[name]);
      });
    } else {
      const row = (name, word) => {
        line += step;
        texts[name] = s("text", {
          class: name,
          x: compact ? 0 : right,
          y: line,
          "text-anchor": compact ? "middle" : "end",
        });
        if (!compact) parts.push(s("text", { class: "word", x: left, y: line }, word));
        parts.push(texts[name]);
      };
      row("value", "value");
      if (playback.nodes[item.node].requires_grad) row("gradient", "grad");
    }
    const element = s(
      "g",
      {
        class: `card ${kind}`,
        "data-node": item.node,
        transform: `translate(${x} ${y})`,
        tabindex: 0,
        role: "button",
        onclick: select,
        onkeydown: (event) => {
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
    return { element, item, card, texts, maps, written, shown: {}, last: {}, classes: `card ${kind}` };
  }

  makePill() {
    const text = s("text", { "text-anchor": "middle", dy: "0.35em" });
    const back = s("rect", { height: 24, y: -12, rx: 12 });
    return { element: s("g", { class: "pill", visibility: "hidden" }, back, text), text, back };
  }

  pickCell(event, item, grid) {
    const area = event.currentTarget.getBoundingClientRect();
    const column = Math.min(grid.columns - 1, Math.floor(((event.clientX - area.left) / area.width) * grid.columns));
    const row = Math.min(grid.rows - 1, Math.floor(((event.clientY - area.top) / area.height) * grid.rows));
    this.onSelect(item.node, row * grid.stride + column);
    event.stopPropagation();
  }

  /** Show what is known at an event. @param {import("./playback.js").Frame} frame @param {number | null} selected
   * @param {boolean} moving whether a message may travel */
  paint(frame, selected, moving) {
    if (!this.cards) return;
    const { playback, plan } = this;
    const focus = playback.focus(frame);
    const fresh = !this.shown; // other numbers: those on the cards are waited for, those on the edges are as many again
    this.shown = { frame, focus, selected };
    if (focus.to !== undefined) this.view.reveal(plan.boxes.get(plan.itemOf[focus.to]));
    this.patch(undefined, fresh);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.patch(() => true), SETTLE);
    this.paintPill(frame, focus, moving);
  }

  /** The edges and cards that changed. Of a large graph only those in sight: the others wait until the events rest.
   * @param {(middle: {x: number, y: number}, size: {width: number, height: number}) => boolean} wanted @param {boolean} later edges in the next frame */
  patch(wanted = (middle, size) => this.view.sees(middle, size), later = false) {
    if (!this.cards || !this.shown) return;
    this.paintCards(wanted);
    cancelAnimationFrame(this.following);
    if (later) this.following = requestAnimationFrame(() => this.paintEdges(wanted));
    else this.paintEdges(wanted);
  }

  paintEdges(wanted) {
    const { frame, focus } = this.shown;
    for (const [id, edge] of this.edges) {
      const message = frame.sent.get(id);
      const current = id === focus.edge;
      if ((edge.last.message === message && edge.last.current === current) || !wanted(edge.place, edge.size)) continue;
      edge.last = { message, current };
      setAttribute(edge.element, "class", `edge${message ? " used" : ""}${current ? " current" : ""}`);
      setText(
        edge.label,
        message && !current && edge.roomy && !Array.isArray(message.contribution) ? numeral(message.contribution) : "",
      );
    }
  }

  paintCards(wanted) {
    const { playback, plan } = this;
    const { frame, focus, selected } = this.shown;
    const [itemFrom, itemTo, itemSelected] = [focus.from, focus.to, selected].map((node) => plan.itemOf[node]);
    for (const [id, card] of this.cards) {
      if (!wanted(plan.boxes.get(id), plan.cards.get(id))) continue;
      const node = card.item.node;
      const state = playback.gradientState(node, frame);
      const known = playback.isKnown(node, frame);
      const classes =
        `${card.classes} ${known ? "" : "not-run"} ${state.replace(" ", "-")}` +
        `${id === itemTo ? " to" : ""}${id === itemFrom ? " from" : ""}${id === itemSelected ? " selected" : ""}`;
      const value = known ? playback.nodes[node].value : null;
      const gradient = frame.gradients.get(node) ?? null;
      const { last } = card;
      if (classes === last.classes && value === last.value && gradient === last.gradient) continue;
      card.last = { classes, value, gradient };
      setAttribute(card.element, "class", classes);
      this.paintValue(card, "value", value, "–");
      if (card.texts.gradient) this.paintValue(card, "gradient", gradient, state === "no path" ? "no path" : "–");
      // What is written on the card comes first, as it stands there: who speaks to a computer says what they see.
      const written = card.written.map((text) => text.textContent).filter(Boolean);
      const label =
        `${written.join(" ")}: ${playback.definition(node)}, ${playback.derived[node].kind}, ` +
        `value ${known ? brief(playback.nodes[node].value) : "not run yet"}, gradient ${playback.gradientText(node, frame)}`;
      setAttribute(card.element, "aria-label", label);
      setAttribute(card.element, "aria-pressed", String(id === itemSelected));
    }
  }

  paintValue(card, name, value, missing) {
    if (card.shown[name] === value && value !== null) return; // the same array as in the last frame
    card.shown[name] = value;
    if (!card.card.grid) {
      const sign = !this.plan.compact ? "" : name === "value" ? "= " : "∂ "; // instead of words, where room is short
      setText(card.texts[name], sign + (value === null ? missing : numeral(value)));
      return;
    }
    setAttribute(card.maps[name], "visibility", value === null ? "hidden" : "visible");
    if (value !== null) setAttribute(card.maps[name], "href", bitmap(value, card.card.grid));
    setText(card.texts[name], value === null ? missing : notFinite(value));
  }

  /** The number on its way along the edge, against the direction of the arrow. */
  paintPill(frame, focus, moving) {
    cancelAnimationFrame(this.travelling);
    const edge = this.edges.get(focus.edge);
    if (!edge) {
      setAttribute(this.pill.element, "visibility", "hidden");
      return;
    }
    const event = frame.sent.get(focus.edge);
    const text = shorten(brief(event.contribution), 16);
    setText(this.pill.text, text);
    const width = text.length * 8 + 18;
    setAttribute(this.pill.back, "width", String(width));
    setAttribute(this.pill.back, "x", String(-width / 2));
    setAttribute(this.pill.element, "visibility", "visible");
    const place = (x, y) => setAttribute(this.pill.element, "transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    if (!moving || !mayMove() || frame.event.kind !== "message") {
      place(...edge.middle);
      return;
    }
    const length = edge.path.getTotalLength();
    const start = performance.now();
    const step = (now) => {
      const share = Math.min(1, (now - start) / TRAVEL);
      const eased = 1 - (1 - share) ** 3;
      const point = edge.path.getPointAtLength(length * (1 - 0.5 * eased));
      place(point.x, point.y);
      if (share < 1) this.travelling = requestAnimationFrame(step);
      else place(...edge.middle);
    };
    step(start);
  }

  /** @param {string} group @param {boolean} folded */
  fold(group, folded) {
    if (folded) this.folded.add(group);
    else this.folded.delete(group);
    this.showFolding();
    this.draw();
  }

  showFolding() {
    this.folding.hidden = this.groups.size === 0;
    this.folding.replaceChildren(
      h("span", {}, "Fold"),
      ...[...this.groups].map(([name, members]) =>
        h(
          "button",
          {
            type: "button",
            "aria-pressed": this.folded.has(name),
            title: `${members.length} operations`,
            onclick: () => this.fold(name, !this.folded.has(name)),
          },
          name,
        ),
      ),
    );
  }

  destroy() {
    cancelAnimationFrame(this.travelling);
    cancelAnimationFrame(this.following);
    clearTimeout(this.timer);
    this.view.destroy();
  }
}

function box(width, height, name, radius) {
  return s("rect", { class: name, x: -width / 2, y: -height / 2, width, height, rx: radius });
}

function middleOf(path) {
  const point = path.getPointAtLength(path.getTotalLength() / 2);
  return [point.x, point.y];
}

function outermost(playback, groups) {
  const names = playback.nodes.map((node) => (node.calls ?? []).find((call) => groups.has(call)));
  return names.filter(Boolean);
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
