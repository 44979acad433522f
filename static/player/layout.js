/** Where everything goes. Graphviz decides, once for each structure; numbers change nothing about it. */

import { shorten } from "./format.js";
import { isOperation } from "./playback.js";

/** @import { Graphviz, GraphvizLayout } from "../types.js" */
/** @import { Playback } from "./playback.js" */

/** @typedef {{x: number, y: number}} Point in pixels, y downwards */
/** @typedef {{width: number, height: number}} Size */

/** @typedef {object} Item what one card stands for: a node, or a folded group of nodes
 * @property {string} id
 * @property {string} group the call that is folded, or ""
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
 * @property {(Grid & {cell: number}) | null} grid of an array, with the pixels of a cell */

/** @typedef {object} Edge
 * @property {string} id "7-0" leads to operand 0 of node 7
 * @property {number} child
 * @property {number} node */

/** @typedef {Edge & {path: string, middle: Point | null}} PlacedEdge where it goes; room for its message, if any */

/** @typedef {object} Description
 * @property {string} structure of the trace that it is made for
 * @property {string} dot
 * @property {Map<string, Item>} items
 * @property {string[]} itemOf node -> item
 * @property {Map<string, Card>} cards
 * @property {Edge[]} edges
 * @property {boolean} compact */

/** @typedef {Omit<Description, "edges"> & Size & {boxes: Map<string, Point>, edges: PlacedEdge[]}} Plan
 * the middle of each card, and where the edges go */

const PIXELS_PER_INCH = 72;
const LARGE = 48; // items from which on messages get no room of their own
const MOST_CELLS = 24; // of a heat map on a card, along one axis
const ARRANGEMENTS = [
  { down: false, compact: false, liking: 1 },
  { down: true, compact: false, liking: 0.95 },
  { down: false, compact: true, liking: 0.85 },
  { down: true, compact: true, liking: 0.82 },
];

/** @type {Promise<Graphviz> | undefined} */
let loading;

/** Graphviz as WebAssembly, loaded once. @param {string} url */
function loadGraphviz(url) {
  loading ??= import(url).then((module) => module.Graphviz.load());
  return loading;
}

/** Calls of the engine's functions that made at least two operations: what can be folded into one card.
 * @param {Playback} playback */
export function groupsOf(playback) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (const node of playback.nodes) {
    for (const call of node.calls ?? []) groups.set(call, [...(groups.get(call) ?? []), node.id]);
  }
  return new Map([...groups].filter(([, members]) => members.length > 1));
}

/** What the cards of a picture stand for. @param {Playback} playback @param {Set<string>} folded */
export function itemsOf(playback, folded) {
  const itemOf = playback.nodes.map((node) => {
    const call = (node.calls ?? []).find((name) => folded.has(name));
    return call ? `group-${call.replaceAll(" ", "-")}` : `node-${node.id}`;
  });
  for (const node of playback.nodes) {
    // A constant that only a folded group uses goes with it.
    if (isOperation(node) || node.requires_grad) continue;
    const users = new Set(
      playback.nodes.filter((other) => other.children.includes(node.id)).map((other) => itemOf[other.id]),
    );
    if (users.size === 1 && [...users][0].startsWith("group-")) itemOf[node.id] = [...users][0];
  }
  /** @type {Map<string, Item>} */
  const items = new Map();
  for (const node of playback.nodes) {
    const id = itemOf[node.id];
    const item = items.get(id) ?? { id, group: "", node: node.id, members: [] };
    item.members.push(node.id);
    if (id.startsWith("group-")) {
      item.group = (node.calls ?? []).find((name) => folded.has(name)) ?? item.group;
      if (node.op) item.node = node.id; // the last operation is what the group returns
    }
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

/** The size of a card, and what it says. It depends on names and shapes only.
 * @param {Playback} playback @param {Item} item @param {boolean} compact @returns {Card} */
export function cardOf(playback, item, compact) {
  const node = playback.nodes[item.node];
  const name = playback.name(node.id);
  const full = item.group ? `${item.group} (${item.members.length} nodes)` : playback.definition(node.id);
  const short = item.group || (node.op ? `${name}  ${node.op}` : name);
  const title = shorten(compact ? short : full, compact ? 12 : 26);
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
  const cell = Math.max(3, Math.min(14, Math.floor((compact ? 44 : 64) / Math.max(grid.rows, grid.columns))));
  const mapWidth = grid.columns * cell;
  const maps = node.requires_grad ? 2 : 1;
  return {
    title,
    full,
    width: Math.ceil(Math.max(textWidth, maps * Math.max(mapWidth, 40) + 16 * (maps - 1) + 24, compact ? 72 : 124)),
    height: 48 + grid.rows * cell,
    grid: { ...grid, cell },
  };
}

/** The drawing as Graphviz sees it: boxes of fixed size, named by numbers. No text of a learner is in it.
 * @param {Playback} playback @param {Set<string>} folded
 * @param {{down: boolean, compact: boolean}} style from the top downwards instead of from left to right; small cards
 * @returns {Description} */
export function describe(playback, folded, { down, compact }) {
  const { items, itemOf } = itemsOf(playback, folded);
  const inches = (/** @type {number} */ pixels) => (pixels / PIXELS_PER_INCH).toFixed(4);
  /** @type {Map<string, Card>} */
  const cards = new Map();
  const between = items.size >= LARGE ? 0.5 : down ? 0.16 : 0.22;
  const ports = down ? "tailport=s headport=n" : "tailport=e headport=w";
  const lines = [
    "digraph {",
    `rankdir=${down ? "TB" : "LR"} nodesep=${compact ? 0.14 : 0.24} ranksep=${between}`,
    `node [shape=box fixedsize=true label=""] edge [arrowhead=none ${ports}]`,
  ];
  const numbers = new Map([...items.keys()].map((id, index) => [id, index]));
  for (const [id, item] of items) {
    const card = cardOf(playback, item, compact);
    cards.set(id, card);
    lines.push(
      `${numbers.get(id)} [id="${numbers.get(id)}" width=${inches(card.width)} height=${inches(card.height)}]`,
    );
  }
  /** @type {Edge[]} */
  const edges = [];
  const room =
    items.size >= LARGE
      ? ""
      : 'label=<<table border="0" fixedsize="true" width="40" height="16"><tr><td></td></tr></table>>';
  for (const node of playback.nodes) {
    node.children.forEach((child, operand) => {
      if (itemOf[child] === itemOf[node.id]) return;
      lines.push(`${numbers.get(itemOf[child])} -> ${numbers.get(itemOf[node.id])} [id="${edges.length}" ${room}]`);
      edges.push({ id: `${node.id}-${operand}`, child, node: node.id });
    });
  }
  lines.push("}");
  return { structure: playback.structure, dot: lines.join("\n"), items, itemOf, cards, edges, compact };
}

/** The layout, of the four styles, in which the window shows the graph largest; small cards only where they help.
 * @param {Playback} playback @param {Set<string>} folded @param {string} graphvizUrl @param {Size} room
 * @returns {Promise<Plan>} */
export async function layout(playback, folded, graphvizUrl, room) {
  const graphviz = await loadGraphviz(graphvizUrl);
  const plans = ARRANGEMENTS.map(({ liking, ...style }) => {
    const plan = arrange(graphviz, describe(playback, folded, style));
    return { plan, score: liking * Math.min(room.width / plan.width, room.height / plan.height, 1) };
  });
  return plans.reduce((best, other) => (other.score > best.score ? other : best)).plan;
}

/** @param {Graphviz} graphviz @param {Description} description @returns {Plan} */
function arrange(graphviz, description) {
  /** @type {GraphvizLayout} */
  const answer = JSON.parse(graphviz.layout(description.dot, "json", "dot"));
  const [, , width, height] = answer.bb.split(",").map(Number);
  /** @param {string} text @returns {Point} */
  const point = (text) => {
    const [x, y] = text.split(",").map(Number);
    return { x, y: height - y };
  };
  const ids = [...description.items.keys()];
  const boxes = new Map((answer.objects ?? []).map((box) => [ids[Number(box.id)], point(box.pos)]));
  const edges = (answer.edges ?? []).map(({ id, pos, lp }) => {
    // "x,y x,y ...": where the curve begins, then three points for each of its parts
    const [start, ...rest] = pos.split(" ").map((part) => point(part.replace(/^[es],/, "")));
    const path = `M${start.x} ${start.y}C${rest.map(({ x, y }) => `${x} ${y}`).join(" ")}`;
    return { ...description.edges[Number(id)], path, middle: lp ? point(lp) : null };
  });
  return { ...description, width, height, boxes, edges };
}
