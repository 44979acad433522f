/** Where everything goes. Graphviz decides, once for each structure; numbers change nothing about it. */

import { shorten } from "./format.js";

const PIXELS_PER_INCH = 72;
const LARGE = 48; // items from which on messages get no room of their own
const MOST_CELLS = 24; // of a heat map on a card, along one axis

let loading;

/** Graphviz as WebAssembly, loaded once. @param {string} url */
export function loadGraphviz(url) {
  loading ??= import(url).then((module) => module.Graphviz.load());
  return loading;
}

/** Calls of the engine's functions that made at least two operations: what can be folded into one card.
 * @param {import("./playback.js").Playback} playback @returns {Map<string, number[]>} */
export function groupsOf(playback) {
  const groups = new Map();
  for (const node of playback.nodes) {
    for (const call of node.calls ?? []) groups.set(call, [...(groups.get(call) ?? []), node.id]);
  }
  return new Map([...groups].filter(([, members]) => members.length > 1));
}

/** The cards of a picture: a node, or a folded group of nodes.
 * @param {import("./playback.js").Playback} playback @param {Set<string>} folded
 * @returns {{items: Map<string, {id: string, group: string, node: number, members: number[]}>, itemOf: string[]}} */
export function itemsOf(playback, folded) {
  const itemOf = playback.nodes.map((node) => {
    const call = (node.calls ?? []).find((name) => folded.has(name));
    return call ? `group-${call.replaceAll(" ", "-")}` : `node-${node.id}`;
  });
  for (const node of playback.nodes) {
    // A constant that only a folded group uses goes with it.
    if (node.op || node.requires_grad) continue;
    const users = new Set(
      playback.nodes.filter((other) => other.children.includes(node.id)).map((other) => itemOf[other.id]),
    );
    if (users.size === 1 && [...users][0].startsWith("group-")) itemOf[node.id] = [...users][0];
  }
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

/** Rows and columns in which an array is drawn: a vector is one row, leading axes are stacked. @param {number[]} shape */
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
 * @param {import("./playback.js").Playback} playback @param {{id: string, group: string, node: number, members: number[]}} item
 * @param {boolean} compact */
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
 * @param {import("./playback.js").Playback} playback @param {Set<string>} folded
 * @param {{down: boolean, compact: boolean}} style from the top downwards instead of from left to right; small cards */
export function describe(playback, folded, { down, compact }) {
  const { items, itemOf } = itemsOf(playback, folded);
  const inches = (pixels) => (pixels / PIXELS_PER_INCH).toFixed(4);
  const cards = new Map();
  const lines = [
    "digraph {",
    `rankdir=${down ? "TB" : "LR"} nodesep=${compact ? 0.14 : 0.24} ranksep=${items.size >= LARGE ? 0.5 : down ? 0.16 : 0.22}`,
    `node [shape=box fixedsize=true label=""] edge [arrowhead=none ${down ? "tailport=s headport=n" : "tailport=e headport=w"}]`,
  ];
  const numbers = new Map([...items.keys()].map((id, index) => [id, index]));
  for (const [id, item] of items) {
    const card = cardOf(playback, item, compact);
    cards.set(id, card);
    lines.push(
      `${numbers.get(id)} [id="${numbers.get(id)}" width=${inches(card.width)} height=${inches(card.height)}]`,
    );
  }
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
  return { dot: lines.join("\n"), items, itemOf, cards, edges, compact };
}

/** The layout, of the four styles, in which the window shows the graph largest; small cards only where they help.
 * @param {import("./playback.js").Playback} playback @param {Set<string>} folded @param {string} graphvizUrl
 * @param {{width: number, height: number}} window */
export async function layout(playback, folded, graphvizUrl, window) {
  const graphviz = await loadGraphviz(graphvizUrl);
  let best = null;
  for (const [down, compact, liking] of [
    [false, false, 1],
    [true, false, 0.95],
    [false, true, 0.85],
    [true, true, 0.82],
  ]) {
    const plan = arrange(graphviz, describe(playback, folded, { down, compact }));
    const scale = Math.min(window.width / plan.width, window.height / plan.height, 1);
    if (!best || scale * liking > best.score) best = { ...plan, score: scale * liking };
  }
  return best;
}

/** Positions in pixels, y downwards. */
function arrange(graphviz, description) {
  const answer = JSON.parse(graphviz.layout(description.dot, "json", "dot"));
  const [, , width, height] = answer.bb.split(",").map(Number);
  const point = (text) => {
    const [x, y] = text.split(",").map(Number);
    return [x, height - y];
  };
  const ids = [...description.items.keys()];
  const boxes = new Map();
  for (const box of answer.objects ?? []) {
    const [x, y] = point(box.pos);
    boxes.set(ids[Number(box.id)], { x, y });
  }
  const edges = (answer.edges ?? []).map((edge) => {
    const [start, ...controls] = edge.pos.split(" ").map((part) => point(part.replace(/^[es],/, "")));
    const curves = [];
    for (let i = 0; i < controls.length; i += 3)
      curves.push(
        `C${controls
          .slice(i, i + 3)
          .map((p) => p.join(" "))
          .join(" ")}`,
      );
    const middle = edge.lp ? point(edge.lp) : null;
    return { ...description.edges[Number(edge.id)], path: `M${start.join(" ")}${curves.join("")}`, middle };
  });
  return { ...description, width, height, boxes, edges };
}
