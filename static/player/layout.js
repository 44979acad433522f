/** Layout of the graph's drawing, which depends on its structure only. Graphviz computes it in a worker (arranger.js),
 * except for edges over many ranks, which would slow it down: those run in lanes above or below the cards. A large
 * graph is folded until it has few cards, so that all of them can be drawn and read. */

import { shapeText, shorten } from "./format.js";
import { fullShape, isOperation } from "./states.js";

/** @import { GraphvizLayout, TraceNode } from "../types.js" */
/** @import { TraceStates } from "./states.js" */

/** @typedef {{x: number, y: number}} Point in pixels; y points down */
/** @typedef {{width: number, height: number}} Size */

/** @typedef {object} Group operations that can be folded into one card: a line of the learner's code, an engine call
 * or, in a large graph, operations that ran one after the other
 * @property {string} name
 * @property {string} sort "lines", "stretches" or the name of the called function
 * @property {number[]} members node ids in execution order */

/** @typedef {object} Item content of one card: a node or a folded group of nodes
 * @property {string} id
 * @property {string} group name of the folded group, or "" for a single node
 * @property {number} node the node whose value is shown; for a group, its result
 * @property {number[]} members */

/** @typedef {object} Grid rows and columns in which an array is drawn
 * @property {number} rows
 * @property {number} columns
 * @property {number} stride cells in a full row of the array, including those left out
 * @property {boolean} cropped true if cells are left out */

/** @typedef {object} Card
 * @property {string} title
 * @property {string} full the unshortened title
 * @property {number} rim pixels of the frame around it, of both sides together
 * @property {number} width
 * @property {number} height
 * @property {(Grid & {cell: Size, numbers: boolean, maps: Point[]}) | null} grid null for a scalar;
 * `numbers`: whether cells show numbers; `maps`: top left corners of value and gradient, from the card's centre */

/** @typedef {object} Edge
 * @property {string} id "7-0" leads to operand 0 of node 7
 * @property {number} child
 * @property {number} node
 * @property {number} like index of the edge whose curve it has: the first one between two cards of a large graph */

/** @typedef {Edge & {points: Point[], middle: Point, roomy: boolean}} PlacedEdge start of the curve, then three
 * points for each Bézier segment; position of the message; whether space is reserved for the message */

/** @typedef {object} Style
 * @property {boolean} down drawn from top to bottom instead of from left to right
 * @property {boolean} compact small cards
 * @property {boolean} [afar] large cells, for present mode */

/** @typedef {object} Description a graph in one style, before layout
 * @property {boolean} down
 * @property {boolean} compact
 * @property {boolean} [afar]
 * @property {string} structure the trace's `TraceStates.structure`
 * @property {string} dot Graphviz source
 * @property {Map<string, Item>} items
 * @property {string[]} itemOf node -> item
 * @property {Map<string, Card>} cards
 * @property {Map<string, number>} depths item -> its rank in the drawing
 * @property {Edge[]} edges */

/** @typedef {Omit<Description, "edges"> & Size & Placed} Plan */

/** @typedef {object} Placed
 * @property {Map<string, Point>} boxes item -> centre of its card
 * @property {PlacedEdge[]} edges
 * @property {boolean} simple true if made without Graphviz */

const PIXELS_PER_INCH = 72;
const MAX_CARDS = 100; // of a drawing: a larger graph is folded
const MIN_FOLDED_CARDS = 5; // operations that have to remain in a graph that is folded by lines or calls
const STRETCHES = 20; // into which a large graph can be folded
const MIN_LARGE_ITEMS = 48; // a graph with this many cards, or a folded one, reserves no space for messages
const MAX_EDGE_RANKS = 6; // in a large graph an edge over more ranks runs in a lane
const MAX_NUMBERED_CELLS = 4; // per axis; a larger array is drawn as a heat map
const MAX_MAP_CELLS = 24; // of a heat map on a card, per axis
const RIM = 6; // pixels of the frame around the result's card, of both sides together
const DUE_HEIGHT = 17; // pixels on a card for the right gradient, next to another engine's
const LANE_BEND = 36; // pixels in which an edge turns into its lane
const LANE_GAP = 12; // pixels between lanes
const AFAR_ROW = 31.2; // pixels; 40 at the smallest scale at which a presented drawing is read
const [WINDOW_MARGIN, PRESENTED_MARGIN] = [20, 8]; // pixels, of both sides together
const BUTTONS = { width: 180, height: 36 }; // pixels, in the lower right corner
/** @type {(Style & {preference: number})[]} */
export const ARRANGEMENTS = [
  { down: false, compact: false, preference: 1 },
  { down: true, compact: false, preference: 0.95 },
  { down: false, compact: true, preference: 0.85 },
  { down: true, compact: true, preference: 0.82 },
];

/** Return whether any card shows an array's numbers. @param {TraceStates} states @param {Set<string>} folded */
export function hasCells(states, folded) {
  if (itemsOf(states, folded).items.size >= MIN_LARGE_ITEMS) return false;
  return states.nodes.some(({ shape }) => shape.length > 0 && isNumbered(gridOf(shape)));
}

/** Return the largest scale at which a drawing fits a window, and whether the buttons are then below or beside it.
 * @param {Size} drawing @param {Size} room @param {boolean} [buttons] false in a presentation, which has none */
export function fitTo({ width, height }, room, buttons = true) {
  const margin = buttons ? WINDOW_MARGIN : PRESENTED_MARGIN;
  const [wide, high] = [(room.width - margin) / width, (room.height - margin) / height];
  if (!buttons) return { scale: Math.min(wide, high), right: 0, bottom: 0 };
  const below = Math.min(wide, high - BUTTONS.height / height);
  const beside = Math.min(wide - BUTTONS.width / width, high);
  return below >= beside
    ? { scale: below, right: 0, bottom: BUTTONS.height }
    : { scale: beside, right: BUTTONS.width, bottom: 0 };
}

/** Return the plan that fits a window best: one that can be read as a whole, with large cells if possible, or else one
 * of those in which the most events can be followed, with both their cards in sight, of these a plan with large cards.
 * @param {Plan[]} plans @param {Size} room size of the window
 * @param {number} limit scale above which a plan gets no better
 * @param {number} readable smallest scale at which a drawing can be read @param {boolean} [buttons] for fitTo
 * @param {boolean} [dense] what cannot be shown as a whole has small cells and cards, so that more of it is seen */
export function bestFor(plans, room, limit, readable, buttons = true, dense = false) {
  const far = plans.some(({ afar }) => afar) ? plans.filter(({ afar }) => afar) : plans;
  const [whole, smaller] = [far, plans].map((all) => all.filter((one) => fitTo(one, room, buttons).scale >= readable));
  const cut = dense ? plans.filter(({ afar }) => !afar) : far;
  const followed = cut.map((plan) => {
    const both = plan.edges.map(({ child, node }) => boundsOfCards(plan, [child, node]));
    return both.filter((cards) => fitTo(cards, room, false).scale >= readable).length;
  });
  const most = cut.filter((_, i) => followed[i] === Math.max(...followed));
  const wished = most.filter(({ compact }) => compact === dense);
  const candidates = [whole, smaller, wished, most].find(({ length }) => length) ?? plans;
  /** @param {Plan} plan */
  const score = ({ down, compact, width, height }) => {
    const preference = ARRANGEMENTS.find((style) => style.down === down && style.compact === compact)?.preference ?? 0;
    const scale = Math.min(room.width / width, room.height / height);
    return preference * Math.min(scale, limit) * Math.min(scale, 1); // shrinking counts twice: it is harder to read
  };
  return candidates.reduce((best, plan) => (score(plan) > score(best) ? plan : best));
}

/** Return the centre of the card that shows a node. @param {Plan} plan @param {number} node */
export function centreOf(plan, node) {
  return /** @type {Point} */ (plan.boxes.get(plan.itemOf[node]));
}

/** Return the bounding box of the cards of some nodes. @param {Plan} plan @param {number[]} nodes */
export function boundsOfCards(plan, nodes) {
  return boundingBox(nodes.flatMap((node) => cornersOf(centreOf(plan, node), sizeOf(plan.cards, plan.itemOf[node]))));
}

/** Return the groups that can be folded into one card, by key, largest first: lines of the learner's code, calls of
 * engine functions, and stretches of a large graph. Each has at least two operations, but not all of them.
 * @param {TraceStates} states @returns {Map<string, Group>} */
export function groupsOf(states) {
  /** @type {Map<string, Group>} */
  const groups = new Map();
  /** @param {string} key @param {string} name @param {string} sort @param {number} member */
  const add = (key, name, sort, member) => {
    const group = groups.get(key) ?? { name, sort, members: [] };
    group.members.push(member);
    groups.set(key, group);
  };
  const lines = linesOf(states);
  for (const node of states.nodes) {
    const line = lines[node.id] ?? null;
    if (line !== null) add(`line ${line}`, states.name(line), "lines", node.id);
    for (const call of node.calls ?? []) add(`call ${call}`, call, call.replace(/ \d+$/, ""), node.id);
  }
  const operations = states.nodes.filter(isOperation);
  if (states.nodes.length > MAX_CARDS)
    operations.forEach(({ id }, i) => {
      const stretch = Math.floor((i * STRETCHES) / operations.length);
      add(`stretch ${stretch}`, `${states.name(id)}, …`, "stretches", id);
    });
  return new Map(
    [...groups]
      .filter(([, { members }]) => members.length > 1 && members.length < operations.length)
      .toSorted(([, one], [, other]) => other.members.length - one.members.length),
  );
}

/** Return for each operation the one named node (or the result) whose line uses it; null if several lines do.
 * @param {TraceStates} states */
function linesOf(states) {
  /** @param {TraceNode} node */
  const isNamed = (node) => isOperation(node) && node.label !== "";
  if (!states.nodes.some((node) => isNamed(node) && node.id !== states.output)) return []; // one line only
  /** @type {(number | null | undefined)[]} undefined while no use is known */
  const lines = states.nodes.map(() => undefined);
  for (const node of states.nodes.toReversed()) {
    if (isNamed(node) || node.id === states.output) lines[node.id] = node.id;
    const line = lines[node.id] ?? null;
    for (const child of node.children) lines[child] = [undefined, line].includes(lines[child]) ? line : null;
  }
  return lines.map((line, id) => (isOperation(states.nodes[id]) ? (line ?? null) : null));
}

/** Return the groups with which a graph opens folded: none if it is small, otherwise all lines or calls, if they leave
 * enough to see and not too much, or else all stretches.
 * @param {TraceStates} states @param {Map<string, Group>} groups */
export function openingFolds(states, groups) {
  if (states.nodes.length <= MAX_CARDS) return [];
  const keysOf = (/** @type {(sort: string) => boolean} */ of) =>
    [...groups].filter(([, { sort }]) => of(sort)).map(([key]) => key);
  const lines = keysOf((sort) => sort === "lines");
  const calls = keysOf((sort) => sort !== "lines" && sort !== "stretches");
  const enough = (/** @type {string[]} */ keys) => {
    const { items } = itemsOf(states, new Set(keys));
    const operations = [...items.values()].filter(({ node }) => isOperation(states.nodes[node])).length;
    return operations >= MIN_FOLDED_CARDS && items.size <= MAX_CARDS;
  };
  return [lines, calls].find(enough) ?? keysOf((sort) => sort === "stretches");
}

/** Return whether few enough cards remain. @param {TraceStates} states @param {Set<string>} folded */
export function isDrawable(states, folded) {
  return states.nodes.length <= MAX_CARDS || itemsOf(states, folded).items.size <= MAX_CARDS;
}

/** Return the cards to draw and each node's card. @param {TraceStates} states @param {Set<string>} folded group keys */
export function itemsOf(states, folded) {
  const groups = groupsOf(states);
  const itemOf = states.nodes.map((node) => `node-${node.id}`);
  /** @type {Map<string, Group>} */
  const foldedAs = new Map();
  for (const [key, group] of groups) {
    if (!folded.has(key)) continue;
    const id = `group-${key}`;
    foldedAs.set(id, group);
    for (const member of group.members) if (itemOf[member].startsWith("node-")) itemOf[member] = id;
  }
  /** @type {Map<number, Set<string>>} */
  const users = new Map();
  for (const node of states.nodes) {
    for (const child of node.children) users.set(child, (users.get(child) ?? new Set()).add(itemOf[node.id]));
  }
  for (const node of states.nodes) {
    // A constant that only one folded group uses is hidden in that group.
    if (isOperation(node) || node.requires_grad) continue;
    const [user, ...others] = users.get(node.id) ?? [];
    if (others.length === 0 && foldedAs.has(user)) itemOf[node.id] = user;
  }
  /** @type {Map<string, Item>} */
  const items = new Map();
  for (const node of states.nodes) {
    const id = itemOf[node.id];
    const item = items.get(id) ?? { id, group: foldedAs.get(id)?.name ?? "", node: node.id, members: [] };
    item.members.push(node.id);
    if (item.group && node.op) item.node = node.id; // the last operation is what the group returns
    items.set(id, item);
  }
  return { items, itemOf };
}

/** Return an array's grid: a vector is one row, leading axes are stacked. @param {number[]} shape @returns {Grid} */
export function gridOf(shape) {
  const columns = shape.at(-1) ?? 1;
  const rows = shape.slice(0, -1).reduce((product, length) => product * length, 1);
  return {
    rows: Math.min(rows, MAX_MAP_CELLS),
    columns: Math.min(columns, MAX_MAP_CELLS),
    stride: columns,
    cropped: rows > MAX_MAP_CELLS || columns > MAX_MAP_CELLS,
  };
}

/** Return whether an array is small enough to show its numbers. @param {Grid} grid */
function isNumbered({ rows, columns, cropped }) {
  return rows <= MAX_NUMBERED_CELLS && columns <= MAX_NUMBERED_CELLS && !cropped;
}

/** Compute a card's title, size and grid, from names and shapes only.
 * @param {TraceStates} states @param {Item} item @param {Omit<Style, "down">} style
 * @param {boolean} large true in a large graph, where cards show no numbers of arrays @returns {Card} */
export function cardOf(states, item, { compact, afar = false }, large = false) {
  const node = states.nodes[item.node];
  const name = states.name(node.id);
  const full = item.group ? `${item.group} (${item.members.length} nodes)` : states.definition(node.id);
  const short = item.group || (node.op ? `${name}  ${node.op}` : name);
  const shape = node.shape.length ? ` ${shapeText(fullShape(node))}` : "";
  const title = shorten(compact ? short : full, compact ? 12 : 26) + shape;
  const textWidth = title.length * (compact ? 6.6 : 7.4) + 24;
  const due = states.roomForDue[node.id] ? DUE_HEIGHT : 0;
  const rim = !item.group && states.derived[node.id].kind === "output" ? RIM : 0;
  if (node.shape.length === 0) {
    const width = Math.ceil(Math.max(textWidth, compact ? (due ? 90 : 72) : 124));
    const height = (node.requires_grad ? (compact ? 54 : 66) : compact ? 38 : 46) + due;
    return { title, full, rim, width, height, grid: null };
  }
  const grid = gridOf(node.shape);
  const numbers = !large && isNumbered(grid);
  const side = Math.max(3, Math.min(14, Math.floor((compact ? 44 : 64) / Math.max(grid.rows, grid.columns))));
  const row = afar ? AFAR_ROW : compact ? 15 : 18;
  const cell = numbers ? { width: compact ? 46 : 52, height: row } : { width: side, height: side };
  const map = { width: grid.columns * cell.width, height: grid.rows * cell.height };
  const count = node.requires_grad ? 2 : 1;
  const head = compact ? 22 : 27;
  // Value and gradient are stacked if they show numbers and fit, otherwise side by side. Each has a label above, and a
  // heat map has a line below for its count of nan and inf.
  const below = numbers && !(afar && grid.rows > 2);
  const [wide, high] = below ? [1, count] : [count, 1];
  const edge = compact ? 4 : 8;
  const room = { width: Math.max(map.width, 46) + 2 * edge, height: map.height + (numbers ? 16 : 32) };
  const width = Math.ceil(Math.max(textWidth, wide * room.width + edge, compact ? 72 : 124));
  const height = head + high * room.height + 6 + due;
  const maps = Array.from({ length: count }, (_, i) => ({
    x: (below ? 0 : (i - (count - 1) / 2) * room.width) - map.width / 2,
    y: -height / 2 + head + (below ? i * room.height : 0) + 14,
  }));
  return { title, full, rim, width, height, grid: { ...grid, cell, numbers, maps } };
}

/** Describe the graph for Graphviz: numbered boxes of fixed size, without any of the learner's text.
 * @param {TraceStates} states @param {Set<string>} folded @param {Style} style @returns {Description} */
export function describe(states, folded, style) {
  const { down, compact, afar } = style;
  const { items, itemOf } = itemsOf(states, folded);
  const large = items.size >= MIN_LARGE_ITEMS || states.nodes.length > MAX_CARDS;
  const inches = (/** @type {number} */ pixels) => (pixels / PIXELS_PER_INCH).toFixed(4);
  /** @type {Map<string, Card>} */
  const cards = new Map();
  const rankGap = large ? 0.5 : down ? 0.16 : 0.22;
  const ports = down ? "tailport=s headport=n" : "tailport=e headport=w";
  const lines = [
    "digraph {",
    `rankdir=${down ? "TB" : "LR"} nodesep=${compact ? 0.14 : 0.24} ranksep=${rankGap}`,
    `node [shape=box fixedsize=true label=""] edge [arrowhead=none ${ports}]`,
  ];
  const numbers = new Map([...items.keys()].map((id, index) => [id, index]));
  for (const [id, item] of items) {
    const card = cardOf(states, item, style, large);
    cards.set(id, card);
    lines.push(
      `${numbers.get(id)} [id="${numbers.get(id)}" width=${inches(card.width)} height=${inches(card.height)}]`,
    );
  }
  /** @type {Edge[]} */
  const edges = [];
  /** @type {Map<string, number>} two cards -> the first edge between them */
  const first = new Map();
  for (const node of states.nodes) {
    node.children.forEach((child, operand) => {
      const [index, pair] = [edges.length, `${itemOf[child]} ${itemOf[node.id]}`];
      if (itemOf[child] === itemOf[node.id]) return;
      if (!large || !first.has(pair)) first.set(pair, index);
      edges.push({ id: `${node.id}-${operand}`, child, node: node.id, like: first.get(pair) ?? index });
    });
  }
  const depths = depthsOf(items, itemOf, edges);
  /** A label that reserves space for a message: a number or an array's shape. @param {number} child */
  const messageLabel = (child) => {
    const [width, height] = [states.nodes[child].shape.length ? 58 : 40, down ? 10 : 16];
    const table = `<table border="0" fixedsize="true" width="${width}" height="${height}"><tr><td></td></tr></table>`;
    return large ? "" : `label=<${table}>`;
  };
  edges.forEach(({ child, node, like }, index) => {
    const [from, to] = [itemOf[child], itemOf[node]];
    if (large && (like !== index || span(depths, from, to) > MAX_EDGE_RANKS)) return;
    lines.push(`${numbers.get(from)} -> ${numbers.get(to)} [id="${index}" ${messageLabel(child)}]`);
  });
  lines.push("}");
  const { structure } = states;
  return { structure, dot: lines.join("\n"), items, itemOf, cards, depths, edges, down, compact, afar };
}

/** Compute each item's rank: the longest path that leads to it. Inputs get the rank before their first use.
 * @param {Map<string, Item>} items @param {string[]} itemOf @param {Edge[]} edges in the order of their nodes */
function depthsOf(items, itemOf, edges) {
  const depths = new Map([...items.keys()].map((id) => [id, 0]));
  for (const { child, node } of edges) {
    const [from, to] = [itemOf[child], itemOf[node]];
    depths.set(to, Math.max(depths.get(to) ?? 0, (depths.get(from) ?? 0) + 1));
  }
  const computed = new Set(edges.map(({ node }) => itemOf[node]));
  /** @type {Map<string, number>} */
  const first = new Map();
  for (const { child, node } of edges) {
    const [from, to] = [itemOf[child], itemOf[node]];
    if (!computed.has(from)) first.set(from, Math.min(first.get(from) ?? Infinity, (depths.get(to) ?? 0) - 1));
  }
  return new Map([...depths, ...first]);
}

/** Count the ranks between two items. @param {Map<string, number>} depths @param {string} from @param {string} to */
function span(depths, from, to) {
  return (depths.get(to) ?? 0) - (depths.get(from) ?? 0);
}

/** Build the plan from Graphviz's JSON output. @param {Description} description @param {string} text @returns {Plan} */
export function withGraphviz(description, text) {
  /** @type {GraphvizLayout} */
  const answer = JSON.parse(text);
  const height = Number(answer.bb.split(",")[3]);
  /** @param {string} pair @returns {Point} */
  const point = (pair) => {
    const [x, y] = pair.split(",").map(Number);
    return { x, y: height - y };
  };
  const ids = [...description.items.keys()];
  const boxes = new Map((answer.objects ?? []).map((box) => [ids[Number(box.id)], point(box.pos)]));
  /** @type {Map<number, {points: Point[], middle: Point | null}>} */
  const drawn = new Map();
  for (const { id, pos, lp } of answer.edges ?? []) {
    // "x,y x,y ...": the start of the curve, then three points for each Bézier segment
    const points = pos.split(" ").map((part) => point(part.replace(/^[es],/, "")));
    drawn.set(Number(id), { points, middle: lp ? point(lp) : null });
  }
  return completePlan(description, boxes, drawn, false);
}

/** Build a plan without Graphviz, fast: a column for each rank, each card near its operands.
 * @param {Description} description @returns {Plan} */
export function arrangeByDepth(description) {
  const { items, itemOf, cards, depths, edges, down } = description;
  /** @type {Map<string, string[]>} */
  const before = new Map();
  for (const { child, node } of edges) before.set(itemOf[node], [...(before.get(itemOf[node]) ?? []), itemOf[child]]);
  /** @type {string[][]} */
  const columns = [];
  for (const id of items.keys()) (columns[depths.get(id) ?? 0] ??= []).push(id);
  /** @type {Map<string, Point>} */
  const boxes = new Map();
  let along = 0;
  for (const column of columns.filter(Boolean)) {
    const size = (/** @type {string} */ id) => swapSides(sizeOf(cards, id), down);
    const breadth = Math.max(...column.map((id) => size(id).width));
    /** Preferred position across the columns: the mean of its operands' positions. @param {string} id */
    const wish = (id) => {
      const ends = (before.get(id) ?? []).flatMap((one) => boxes.get(one) ?? []).map((box) => swapAxes(box, down).y);
      return ends.length ? ends.reduce((sum, y) => sum + y, 0) / ends.length : Infinity;
    };
    const preferred = new Map(column.map((id) => [id, wish(id)]));
    const at = (/** @type {string} */ id) => preferred.get(id) ?? Infinity;
    let free = -Infinity;
    for (const id of column.toSorted((one, other) => (at(one) === at(other) ? 0 : at(one) - at(other)))) {
      const { height } = size(id);
      const middle = Number.isFinite(at(id)) ? Math.max(at(id), free + height / 2) : Math.max(free, 0) + height / 2;
      boxes.set(id, swapAxes({ x: along + breadth / 2, y: middle }, down));
      free = middle + height / 2 + 24;
    }
    along += breadth + 60;
  }
  return completePlan(description, boxes, new Map(), true);
}

/** Complete a plan by routing the edges that Graphviz has not drawn: straight to the next rank, otherwise in a lane
 * above or below all cards on the way. All such edges from one card share a lane.
 * @param {Description} description @param {Map<string, Point>} boxes
 * @param {Map<number, {points: Point[], middle: Point | null}>} drawn edge index -> its curve
 * @param {boolean} simple @returns {Plan} */
function completePlan(description, boxes, drawn, simple) {
  const { cards, edges, itemOf, depths, down } = description;
  const room = [...boxes].map(([id, box]) => ({ id, ...swapAxes(box, down), ...swapSides(sizeOf(cards, id), down) }));
  const boxOf = new Map(room.map((box) => [box.id, box]));
  /** @param {string} id */
  const box = (id) => boxOf.get(id) ?? { id, x: 0, y: 0, width: 0, height: 0 };
  const centre = room.reduce((sum, { y }) => sum + y, 0) / room.length;
  /** @type {Map<string, {from: number, to: number}>} */
  const ranges = new Map();
  edges.forEach(({ child, node, like }) => {
    const [from, to] = [itemOf[child], itemOf[node]];
    if (drawn.has(like) || span(depths, from, to) === 1) return;
    const [start, end] = [box(from).x + box(from).width / 2, box(to).x - box(to).width / 2];
    const range = ranges.get(from) ?? { from: Infinity, to: -Infinity };
    ranges.set(from, { from: Math.min(range.from, start, end), to: Math.max(range.to, start, end) });
  });
  /** @type {Map<string, number>} */
  const lanes = new Map();
  const obstacles = room.map(({ x, y, width, height }) => ({
    from: x - width / 2,
    to: x + width / 2,
    y,
    half: height / 2,
  }));
  for (const [id, { from, to }] of [...ranges].toSorted(([, a], [, b]) => a.to - a.from - (b.to - b.from))) {
    const side = box(id).y < centre ? -1 : 1;
    const ends = obstacles.filter((one) => one.from <= to && one.to >= from).map(({ y, half }) => side * y + half);
    const y = side * (Math.max(...ends) + LANE_GAP);
    lanes.set(id, y);
    obstacles.push({ from, to, y, half: 0 });
  }
  const placedEdges = edges.map((edge) => {
    const known = drawn.get(edge.like);
    if (known)
      return { ...edge, ...known, middle: known.middle ?? middleOfCurve(known.points), roomy: known.middle !== null };
    const [tail, head] = [box(itemOf[edge.child]), box(itemOf[edge.node])];
    const start = { x: tail.x + tail.width / 2, y: tail.y };
    const end = { x: head.x - head.width / 2, y: head.y };
    const lane = lanes.get(tail.id);
    const straight = span(depths, tail.id, head.id) === 1 || lane === undefined;
    const points = (straight ? curve(start, end) : inLane(start, end, lane)).map((point) => swapAxes(point, down));
    return { ...edge, points, middle: straight ? middleOfCurve(points) : points[3], roomy: false };
  });
  return moveToOrigin({ ...description, boxes, edges: placedEdges, simple, width: 0, height: 0 });
}

/** Return a curve that leaves and arrives along the graph's direction. @param {Point} start @param {Point} end */
function curve(start, end) {
  const bend = Math.max(LANE_BEND, (end.x - start.x) / 2);
  return [start, { x: start.x + bend, y: start.y }, { x: end.x - bend, y: end.y }, end];
}

/** Return a curve through a lane. @param {Point} start @param {Point} end @param {number} y of the lane */
function inLane(start, end, y) {
  const [enter, leave] = [start.x + LANE_BEND, end.x - LANE_BEND];
  const [into, out] = [enter, leave].map((x) => ({ x, y }));
  const entry = [start, { x: enter, y: start.y }, { x: start.x, y }, into];
  return [...entry, into, out, out, { x: end.x, y }, { x: leave, y: end.y }, end];
}

/** Move a plan's top left corner to 0, 0 and set its size. @param {Plan} plan @returns {Plan} */
function moveToOrigin(plan) {
  const corners = [...plan.boxes].flatMap(([id, middle]) => cornersOf(middle, sizeOf(plan.cards, id)));
  const { x, y, width, height } = boundingBox([...corners, ...plan.edges.flatMap(({ points }) => points)]);
  const moved = (/** @type {Point} */ point) => ({ x: point.x - x, y: point.y - y });
  return {
    ...plan,
    width,
    height,
    boxes: new Map([...plan.boxes].map(([id, box]) => [id, moved(box)])),
    edges: plan.edges.map((edge) => ({ ...edge, points: edge.points.map(moved), middle: moved(edge.middle) })),
  };
}

/** Return two opposite corners of a card. @param {Point} middle @param {Size} size */
function cornersOf({ x, y }, { width, height }) {
  return [
    { x: x - width / 2, y: y - height / 2 },
    { x: x + width / 2, y: y + height / 2 },
  ];
}

/** Return the bounding box of points: its top left corner and size. @param {Point[]} points @returns {Point & Size} */
function boundingBox(points) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of points) {
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Return the middle of a curve's middle segment. @param {Point[]} points @returns {Point} */
function middleOfCurve(points) {
  const parts = (points.length - 1) / 3;
  const [a, b, c, d] = points.slice(3 * Math.floor((parts - 1) / 2));
  if (parts % 2 === 0) return d;
  return { x: (a.x + 3 * b.x + 3 * c.x + d.x) / 8, y: (a.y + 3 * b.y + 3 * c.y + d.y) / 8 };
}

/** Return the size of an item's card with its frame. @param {Map<string, Card>} cards @param {string} id
 * @returns {Size} */
function sizeOf(cards, id) {
  const { width, height, rim } = cards.get(id) ?? { width: 0, height: 0, rim: 0 };
  return { width: width + rim, height: height + rim };
}

/** Swap x and y if the graph runs down, so that x follows its direction. @param {Point} point @param {boolean} down */
function swapAxes({ x, y }, down) {
  return down ? { x: y, y: x } : { x, y };
}

/** Swap width and height if the graph runs down. @param {Size} size @param {boolean} down */
function swapSides({ width, height }, down) {
  return down ? { width: height, height: width } : { width, height };
}
