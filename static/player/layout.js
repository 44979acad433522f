/** Where everything goes: decided once for each structure; numbers change nothing about it. Graphviz does it in a
 * worker (arranger.js), except for edges over many ranks, which would take it very long: they run in lanes. */

import { shapeText, shorten } from "./format.js";
import { fullShape, isOperation } from "./playback.js";

/** @import { GraphvizLayout, TraceNode } from "../types.js" */
/** @import { Playback } from "./playback.js" */

/** @typedef {{x: number, y: number}} Point in pixels, y downwards */
/** @typedef {{width: number, height: number}} Size */

/** @typedef {object} Group operations that can be folded into one card: a line of the learner, or a call of the engine
 * @property {string} name
 * @property {string} sort "lines", or the name of the function
 * @property {number[]} members in the order in which they ran */

/** @typedef {object} Item what one card stands for: a node, or a folded group of nodes
 * @property {string} id
 * @property {string} group the name of what is folded, or ""
 * @property {number} node the one it shows: of a group, what it returns
 * @property {number[]} members */

/** @typedef {object} Grid the rows and columns in which an array is drawn
 * @property {number} rows
 * @property {number} columns
 * @property {number} stride how many cells a row of the array has, drawn or not
 * @property {boolean} cropped */

/** @typedef {object} Card
 * @property {string} title
 * @property {string} full the title, if there were room
 * @property {number} width
 * @property {number} height
 * @property {(Grid & {cell: Size, numbers: boolean, maps: Point[]}) | null} grid of an array: the size
 * of a cell, whether its number stands in it, the top left corners of value and gradient from the middle of the card */

/** @typedef {object} Edge
 * @property {string} id "7-0" leads to operand 0 of node 7
 * @property {number} child
 * @property {number} node */

/** @typedef {Edge & {points: Point[], middle: Point, roomy: boolean}} PlacedEdge where it begins and three points for
 * each part of its curve; where its message stands; whether that has room beside other things */

/** @typedef {object} Style
 * @property {boolean} down from the top downwards instead of from left to right
 * @property {boolean} compact small cards
 * @property {boolean} [afar] large cells: 40 pixels high in a presented drawing */

/** @typedef {object} Description
 * @property {boolean} down as in its style
 * @property {boolean} compact
 * @property {string} structure of the trace that it is made for
 * @property {string} dot
 * @property {Map<string, Item>} items
 * @property {string[]} itemOf node -> item
 * @property {Map<string, Card>} cards
 * @property {Map<string, number>} depths item -> how many others stand before it at least
 * @property {Edge[]} edges */

/** @typedef {Omit<Description, "edges"> & Size & Placed} Plan */

/** @typedef {object} Placed
 * @property {Map<string, Point>} boxes the middle of each card
 * @property {PlacedEdge[]} edges
 * @property {boolean} simple made without Graphviz */

const PIXELS_PER_INCH = 72;
const LARGE = 48; // items from which on messages get no room of their own
const FAR = 6; // ranks: in a large graph an edge over more of them runs in a lane
const NUMBERED = 4; // rows and columns up to which the numbers of an array stand on its card
const MOST_CELLS = 24; // of a heat map on a card, along one axis
const BEND = 36; // pixels in which an edge turns into its lane
const LANE = 12; // pixels between lanes
const PIECES = 16; // straight ones that a part of a curve is measured by
const ONE_STYLE_FROM = 200; // cards: Graphviz takes so long for them that only one style is tried
const TAKEN = { width: 24, height: 60 }; // pixels of the room for margins and buttons
/** @type {(Style & {liking: number})[]} */
const ARRANGEMENTS = [
  { down: false, compact: false, liking: 1 },
  { down: true, compact: false, liking: 0.95 },
  { down: false, compact: true, liking: 0.85 },
  { down: true, compact: true, liking: 0.82 },
];

/** Whether numbers of arrays stand on its cards. @param {Playback} playback @param {Set<string>} folded */
export function hasCells(playback, folded) {
  if (itemsOf(playback, folded).items.size >= LARGE) return false;
  return playback.nodes.some(({ shape }) => shape.length > 0 && isNumbered(gridOf(shape)));
}

/** The styles to try, the same for each visit: it does not count how fast they are.
 * @param {Playback} playback @param {Set<string>} folded @param {boolean} afar @returns {Style[]} */
export function stylesFor(playback, folded, afar) {
  if (afar) return ARRANGEMENTS.filter(({ compact }) => !compact).map((style) => ({ ...style, afar }));
  return itemsOf(playback, folded).items.size < ONE_STYLE_FROM ? ARRANGEMENTS : ARRANGEMENTS.slice(0, 1);
}

/** The plan that a window of this size shows largest; small cards only where they help: not if the window shows a part
 * of the drawing in any case. @param {Plan[]} plans @param {Size} room
 * @param {number} limit a scale beyond which no plan counts as larger
 * @param {number} readable a scale from which on all of a drawing is shown */
export function bestFor(plans, room, limit, readable) {
  /** @param {Plan} plan */
  const whole = ({ width, height }) =>
    Math.min((room.width - TAKEN.width) / width, (room.height - TAKEN.height) / height) >= readable;
  const large = plans.filter(({ compact }) => !compact);
  const tried = plans.some(whole) || !large.length ? plans : large;
  /** @param {Plan} plan */
  const score = ({ down, compact, width, height }) => {
    const liking = ARRANGEMENTS.find((style) => style.down === down && style.compact === compact)?.liking ?? 0;
    const scale = Math.min(room.width / width, room.height / height);
    return liking * Math.min(scale, limit) * Math.min(scale, 1); // made smaller it is hard to read: that counts twice
  };
  return tried.reduce((best, plan) => (score(plan) > score(best) ? plan : best));
}

/** What can be folded into one card, by a key, what contains others before those: the learner's own lines, and calls of
 * the engine's functions. Each has at least two operations and is not all there is.
 * @param {Playback} playback @returns {Map<string, Group>} */
export function groupsOf(playback) {
  /** @type {Map<string, Group>} */
  const groups = new Map();
  /** @param {string} key @param {string} name @param {string} sort @param {number} member */
  const add = (key, name, sort, member) => {
    const group = groups.get(key) ?? { name, sort, members: [] };
    group.members.push(member);
    groups.set(key, group);
  };
  const lines = linesOf(playback);
  for (const node of playback.nodes) {
    const line = lines[node.id] ?? null;
    if (line !== null) add(`line ${line}`, playback.name(line), "lines", node.id);
    for (const call of node.calls ?? []) add(`call ${call}`, call, call.replace(/ \d+$/, ""), node.id);
  }
  const all = playback.nodes.filter(isOperation).length;
  return new Map(
    [...groups]
      .filter(([, { members }]) => members.length > 1 && members.length < all)
      .toSorted(([, one], [, other]) => other.members.length - one.members.length),
  );
}

/** For each operation the named node (or the result) whose line it is part of: nothing else uses it. null: none.
 * @param {Playback} playback */
function linesOf(playback) {
  /** @param {TraceNode} node */
  const isNamed = (node) => isOperation(node) && node.label !== "";
  if (!playback.nodes.some((node) => isNamed(node) && node.id !== playback.output)) return []; // there is one line
  /** @type {(number | null | undefined)[]} undefined: nobody uses it */
  const lines = playback.nodes.map(() => undefined);
  for (const node of playback.nodes.toReversed()) {
    if (isNamed(node) || node.id === playback.output) lines[node.id] = node.id;
    const line = lines[node.id] ?? null;
    for (const child of node.children) lines[child] = lines[child] === undefined ? line : same(lines[child], line);
  }
  return lines.map((line, id) => (isOperation(playback.nodes[id]) ? (line ?? null) : null));
}

/** @param {number | null | undefined} one @param {number | null | undefined} other */
function same(one, other) {
  return one === other ? one : null;
}

/** What the cards of a picture stand for. @param {Playback} playback @param {Set<string>} folded keys of groups */
export function itemsOf(playback, folded) {
  const groups = groupsOf(playback);
  const itemOf = playback.nodes.map((node) => `node-${node.id}`);
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
  for (const node of playback.nodes) {
    for (const child of node.children) users.set(child, (users.get(child) ?? new Set()).add(itemOf[node.id]));
  }
  for (const node of playback.nodes) {
    // A constant that only a folded group uses goes with it.
    if (isOperation(node) || node.requires_grad) continue;
    const [user, ...others] = users.get(node.id) ?? [];
    if (others.length === 0 && foldedAs.has(user)) itemOf[node.id] = user;
  }
  /** @type {Map<string, Item>} */
  const items = new Map();
  for (const node of playback.nodes) {
    const id = itemOf[node.id];
    const item = items.get(id) ?? { id, group: foldedAs.get(id)?.name ?? "", node: node.id, members: [] };
    item.members.push(node.id);
    if (item.group && node.op) item.node = node.id; // the last operation is what the group returns
    items.set(id, item);
  }
  return { items, itemOf };
}

/** A vector is one row, leading axes are stacked. @param {number[]} shape @returns {Grid} */
export function gridOf(shape) {
  const columns = shape.at(-1) ?? 1;
  const rows = shape.slice(0, -1).reduce((product, length) => product * length, 1);
  return {
    rows: Math.min(rows, MOST_CELLS),
    columns: Math.min(columns, MOST_CELLS),
    stride: columns,
    cropped: rows > MOST_CELLS || columns > MOST_CELLS,
  };
}

/** @param {Grid} grid */
function isNumbered({ rows, columns, cropped }) {
  return rows <= NUMBERED && columns <= NUMBERED && !cropped;
}

/** The size of a card, and what it says. It depends on names and shapes only.
 * @param {Playback} playback @param {Item} item @param {Omit<Style, "down">} style
 * @param {boolean} large of many cards, which have no room for the numbers of arrays @returns {Card} */
export function cardOf(playback, item, { compact, afar = false }, large = false) {
  const node = playback.nodes[item.node];
  const name = playback.name(node.id);
  const full = item.group ? `${item.group} (${item.members.length} nodes)` : playback.definition(node.id);
  const short = item.group || (node.op ? `${name}  ${node.op}` : name);
  const shape = node.shape.length ? ` ${shapeText(fullShape(node))}` : "";
  const title = shorten(compact ? short : full, compact ? 12 : 26) + shape;
  const textWidth = title.length * (compact ? 6.6 : 7.4) + 24;
  if (node.shape.length === 0) {
    const width = Math.max(textWidth, compact ? 72 : 124);
    return {
      title,
      full,
      width: Math.ceil(width),
      height: node.requires_grad ? (compact ? 54 : 66) : compact ? 38 : 46,
      grid: null,
    };
  }
  const grid = gridOf(node.shape);
  const numbers = !large && isNumbered(grid);
  const side = Math.max(3, Math.min(14, Math.floor((compact ? 44 : 64) / Math.max(grid.rows, grid.columns))));
  const row = afar ? 30 : compact ? 15 : 18;
  const cell = numbers ? { width: compact ? 46 : 52, height: row } : { width: side, height: side };
  const map = { width: grid.columns * cell.width, height: grid.rows * cell.height };
  const count = node.requires_grad ? 2 : 1;
  const head = compact ? 22 : 27;
  // Arrays with their numbers stand below each other, heat maps and what would be too high beside each other. Above
  // each is a word, below each heat map room for how many of its numbers are none.
  const below = numbers && !(afar && grid.rows > 2);
  const [wide, high] = below ? [1, count] : [count, 1];
  const edge = compact ? 4 : 8;
  const room = { width: Math.max(map.width, 46) + 2 * edge, height: map.height + (numbers ? 16 : 32) };
  const width = Math.ceil(Math.max(textWidth, wide * room.width + edge, compact ? 72 : 124));
  const height = head + high * room.height + 6;
  const maps = Array.from({ length: count }, (_, i) => ({
    x: (below ? 0 : (i - (count - 1) / 2) * room.width) - map.width / 2,
    y: -height / 2 + head + (below ? i * room.height : 0) + 14,
  }));
  return { title, full, width, height, grid: { ...grid, cell, numbers, maps } };
}

/** The drawing as Graphviz sees it: boxes of fixed size, named by numbers. No text of a learner is in it.
 * @param {Playback} playback @param {Set<string>} folded @param {Style} style @returns {Description} */
export function describe(playback, folded, style) {
  const { down, compact } = style;
  const { items, itemOf } = itemsOf(playback, folded);
  const large = items.size >= LARGE;
  const inches = (/** @type {number} */ pixels) => (pixels / PIXELS_PER_INCH).toFixed(4);
  /** @type {Map<string, Card>} */
  const cards = new Map();
  const between = large ? 0.5 : down ? 0.16 : 0.22;
  const ports = down ? "tailport=s headport=n" : "tailport=e headport=w";
  const lines = [
    "digraph {",
    `rankdir=${down ? "TB" : "LR"} nodesep=${compact ? 0.14 : 0.24} ranksep=${between}`,
    `node [shape=box fixedsize=true label=""] edge [arrowhead=none ${ports}]`,
  ];
  const numbers = new Map([...items.keys()].map((id, index) => [id, index]));
  for (const [id, item] of items) {
    const card = cardOf(playback, item, style, large);
    cards.set(id, card);
    lines.push(
      `${numbers.get(id)} [id="${numbers.get(id)}" width=${inches(card.width)} height=${inches(card.height)}]`,
    );
  }
  /** @type {Edge[]} */
  const edges = [];
  for (const node of playback.nodes) {
    node.children.forEach((child, operand) => {
      if (itemOf[child] !== itemOf[node.id]) edges.push({ id: `${node.id}-${operand}`, child, node: node.id });
    });
  }
  const depths = depthsOf(items, itemOf, edges);
  /** @param {number} child whose message it is: a number, or the shape of an array in its pill */
  const room = (child) => {
    const width = playback.nodes[child].shape.length ? 58 : 40;
    const table = `<table border="0" fixedsize="true" width="${width}" height="16"><tr><td></td></tr></table>`;
    return large ? "" : `label=<${table}>`;
  };
  edges.forEach(({ child, node }, index) => {
    const [from, to] = [itemOf[child], itemOf[node]];
    if (large && span(depths, from, to) > FAR) return;
    lines.push(`${numbers.get(from)} -> ${numbers.get(to)} [id="${index}" ${room(child)}]`);
  });
  lines.push("}");
  const { structure } = playback;
  return { structure, dot: lines.join("\n"), items, itemOf, cards, depths, edges, down, compact };
}

/** How many items stand before each, at least; one that needs no other stands right before the first that needs it.
 * @param {Map<string, Item>} items @param {string[]} itemOf @param {Edge[]} edges in the order of their nodes */
function depthsOf(items, itemOf, edges) {
  const depths = new Map([...items.keys()].map((id) => [id, 0]));
  for (const { child, node } of edges) {
    const [from, to] = [itemOf[child], itemOf[node]];
    depths.set(to, Math.max(depths.get(to) ?? 0, (depths.get(from) ?? 0) + 1));
  }
  const needs = new Set(edges.map(({ node }) => itemOf[node]));
  /** @type {Map<string, number>} */
  const first = new Map();
  for (const { child, node } of edges) {
    const [from, to] = [itemOf[child], itemOf[node]];
    if (!needs.has(from)) first.set(from, Math.min(first.get(from) ?? Infinity, (depths.get(to) ?? 0) - 1));
  }
  return new Map([...depths, ...first]);
}

/** @param {Map<string, number>} depths @param {string} from @param {string} to */
function span(depths, from, to) {
  return (depths.get(to) ?? 0) - (depths.get(from) ?? 0);
}

/** The plan that Graphviz's answer is. @param {Description} description @param {string} text @returns {Plan} */
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
    // "x,y x,y ...": where the curve begins, then three points for each of its parts
    const points = pos.split(" ").map((part) => point(part.replace(/^[es],/, "")));
    drawn.set(Number(id), { points, middle: lp ? point(lp) : null });
  }
  return placed(description, boxes, drawn, false);
}

/** A plan without Graphviz: a column for each depth, each card near those it was computed from. It takes no time.
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
    const size = (/** @type {string} */ id) => turned(sizeOf(cards, id), down);
    const breadth = Math.max(...column.map((id) => size(id).width));
    /** @param {string} id where it would like to be across the columns: in the middle of what it was computed from */
    const wish = (id) => {
      const ends = (before.get(id) ?? []).flatMap((other) => boxes.get(other) ?? []).map((box) => turn(box, down).y);
      return ends.length ? ends.reduce((sum, y) => sum + y, 0) / ends.length : Infinity;
    };
    const wishes = new Map(column.map((id) => [id, wish(id)]));
    const at = (/** @type {string} */ id) => wishes.get(id) ?? Infinity;
    let free = -Infinity;
    for (const id of column.toSorted((one, other) => (at(one) === at(other) ? 0 : at(one) - at(other)))) {
      const { height } = size(id);
      const middle = Number.isFinite(at(id)) ? Math.max(at(id), free + height / 2) : Math.max(free, 0) + height / 2;
      boxes.set(id, turn({ x: along + breadth / 2, y: middle }, down));
      free = middle + height / 2 + 24;
    }
    along += breadth + 60;
  }
  return placed(description, boxes, new Map(), true);
}

/** The whole plan, from the places of the cards and the edges that have been drawn: the others run straight to the next
 * card, or in a lane above or below all cards on their way. The lanes of one card are one.
 * @param {Description} description @param {Map<string, Point>} boxes
 * @param {Map<number, {points: Point[], middle: Point | null}>} drawn index of an edge -> how
 * @param {boolean} simple @returns {Plan} */
function placed(description, boxes, drawn, simple) {
  const { cards, edges, itemOf, depths, down } = description;
  const room = [...boxes].map(([id, box]) => ({ id, ...turn(box, down), ...turned(sizeOf(cards, id), down) }));
  const boxOf = new Map(room.map((box) => [box.id, box]));
  /** @param {string} id */
  const box = (id) => boxOf.get(id) ?? { id, x: 0, y: 0, width: 0, height: 0 };
  const centre = room.reduce((sum, { y }) => sum + y, 0) / room.length;
  /** @type {Map<string, {from: number, to: number}>} */
  const ranges = new Map();
  edges.forEach(({ child, node }, index) => {
    const [from, to] = [itemOf[child], itemOf[node]];
    if (drawn.has(index) || span(depths, from, to) === 1) return;
    const [start, end] = [box(from).x + box(from).width / 2, box(to).x - box(to).width / 2];
    const range = ranges.get(from) ?? { from: Infinity, to: -Infinity };
    ranges.set(from, { from: Math.min(range.from, start, end), to: Math.max(range.to, start, end) });
  });
  /** @type {Map<string, number>} */
  const lanes = new Map();
  const taken = room.map(({ x, y, width, height }) => ({
    from: x - width / 2,
    to: x + width / 2,
    y,
    half: height / 2,
  }));
  for (const [id, { from, to }] of [...ranges].toSorted(([, a], [, b]) => a.to - a.from - (b.to - b.from))) {
    const side = box(id).y < centre ? -1 : 1;
    const ends = taken.filter((one) => one.from <= to && one.to >= from).map(({ y, half }) => side * y + half);
    const y = side * (Math.max(...ends) + LANE);
    lanes.set(id, y);
    taken.push({ from, to, y, half: 0 });
  }
  const placedEdges = edges.map((edge, index) => {
    const known = drawn.get(index);
    if (known)
      return {
        ...edge,
        points: known.points,
        middle: known.middle ?? halfway(known.points),
        roomy: Boolean(known.middle),
      };
    const [tail, head] = [box(itemOf[edge.child]), box(itemOf[edge.node])];
    const start = { x: tail.x + tail.width / 2, y: tail.y };
    const end = { x: head.x - head.width / 2, y: head.y };
    const lane = lanes.get(tail.id);
    const straight = span(depths, tail.id, head.id) === 1 || lane === undefined;
    const points = (straight ? curve(start, end) : inLane(start, end, lane)).map((point) => turn(point, down));
    return { ...edge, points, middle: straight ? halfway(points) : points[3], roomy: false };
  });
  return fitted({ ...description, boxes, edges: placedEdges, simple, width: 0, height: 0 });
}

/** @param {Point} start @param {Point} end */
function curve(start, end) {
  const bend = Math.max(BEND, (end.x - start.x) / 2);
  return [start, { x: start.x + bend, y: start.y }, { x: end.x - bend, y: end.y }, end];
}

/** @param {Point} start @param {Point} end @param {number} y */
function inLane(start, end, y) {
  const [enter, leave] = [start.x + BEND, end.x - BEND];
  return [
    start,
    { x: enter, y: start.y },
    { x: start.x, y },
    { x: enter, y },
    { x: enter, y },
    { x: leave, y },
    { x: leave, y },
    { x: end.x, y },
    { x: leave, y: end.y },
    end,
  ];
}

/** The same plan with its top left corner at 0, 0. @param {Plan} plan @returns {Plan} */
function fitted(plan) {
  const corners = [...plan.boxes].flatMap(([id, { x, y }]) => {
    const { width, height } = sizeOf(plan.cards, id);
    return [
      { x: x - width / 2, y: y - height / 2 },
      { x: x + width / 2, y: y + height / 2 },
    ];
  });
  const { x, y, width, height } = around([...corners, ...plan.edges.flatMap(({ points }) => points)]);
  const moved = (/** @type {Point} */ point) => ({ x: point.x - x, y: point.y - y });
  return {
    ...plan,
    width,
    height,
    boxes: new Map([...plan.boxes].map(([id, box]) => [id, moved(box)])),
    edges: plan.edges.map((edge) => ({ ...edge, points: edge.points.map(moved), middle: moved(edge.middle) })),
  };
}

/** The box around points: its top left corner and its size. @param {Point[]} points @returns {Point & Size} */
export function around(points) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of points) {
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Where one is on a curve after a share of its length. A browser that is asked how long a path is first lays out all
 * that has changed on the page. @param {Point[]} points @returns {(share: number) => Point} */
export function measured([start, ...rest]) {
  const line = [{ ...start, reached: 0 }];
  for (let i = 0; i < rest.length; i += 3) {
    const [a, [b, c, d]] = [line[line.length - 1], rest.slice(i, i + 3)];
    for (let piece = 1; piece <= PIECES; piece += 1) {
      const [t, u] = [piece / PIECES, 1 - piece / PIECES];
      const x = u ** 3 * a.x + 3 * u * u * t * b.x + 3 * u * t * t * c.x + t ** 3 * d.x;
      const y = u ** 3 * a.y + 3 * u * u * t * b.y + 3 * u * t * t * c.y + t ** 3 * d.y;
      const last = line[line.length - 1];
      line.push({ x, y, reached: last.reached + Math.hypot(x - last.x, y - last.y) });
    }
  }
  const end = line[line.length - 1];
  return (share) => {
    const reached = share * end.reached;
    const next = line.findIndex((point) => point.reached >= reached);
    if (next <= 0) return next ? end : line[0];
    const [before, after] = [line[next - 1], line[next]];
    const part = (reached - before.reached) / (after.reached - before.reached);
    return { x: before.x + part * (after.x - before.x), y: before.y + part * (after.y - before.y) };
  };
}

/** The middle of the middle part of a curve. @param {Point[]} points @returns {Point} */
function halfway(points) {
  const parts = (points.length - 1) / 3;
  const [a, b, c, d] = points.slice(3 * Math.floor((parts - 1) / 2));
  if (parts % 2 === 0) return d;
  return { x: (a.x + 3 * b.x + 3 * c.x + d.x) / 8, y: (a.y + 3 * b.y + 3 * c.y + d.y) / 8 };
}

/** @param {Map<string, Card>} cards @param {string} id @returns {Size} */
function sizeOf(cards, id) {
  return cards.get(id) ?? { width: 0, height: 0 };
}

/** x along the direction of the graph, y across it; and back. @param {Point} point @param {boolean} down */
function turn({ x, y }, down) {
  return down ? { x: y, y: x } : { x, y };
}

/** @param {Size} size @param {boolean} down */
function turned({ width, height }, down) {
  return down ? { width: height, height: width } : { width, height };
}
