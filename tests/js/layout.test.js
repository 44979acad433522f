import assert from "node:assert/strict";
import { test } from "node:test";

import {
  arrangeByDepth,
  cardOf,
  describe,
  gridOf,
  groupsOf,
  isDrawable,
  itemsOf,
  openingFolds,
} from "../../static/player/layout.js";
import { shapeText } from "../../static/player/format.js";
import { TraceStates } from "../../static/player/states.js";
import { statesOf, traces } from "./traces.js";

const STYLES = [false, true].flatMap((down) => [false, true].map((compact) => ({ down, compact })));
const all = [
  ...Object.values(traces.named),
  ...traces.operations.map(({ data }) => data),
  ...traces.random.slice(0, 50).map(({ data }) => data),
].map((data) => new TraceStates(data));

test("every node has a box, every use of an operand an edge", () => {
  for (const states of all) {
    for (const style of STYLES) {
      const { dot, items, edges, cards } = describe(states, new Set(), style);
      assert.equal(items.size, states.nodes.length);
      assert.equal(dot.match(/^\d+ \[id=/gm)?.length, states.nodes.length);
      const uses = states.nodes.flatMap((node) =>
        node.children.map((child, operand) => ({ id: `${node.id}-${operand}`, child, node: node.id })),
      );
      assert.deepEqual(
        edges,
        uses.map((use, like) => ({ ...use, like })),
      );
      assert.equal(dot.match(/^\d+ -> \d+ \[id=/gm)?.length ?? 0, uses.length);
      uses.forEach(({ child, node }, i) => assert.ok(dot.includes(`\n${child} -> ${node} [id="${i}"`), dot));
      for (const [index, card] of [...cards.values()].entries()) {
        const size = `width=${(card.width / 72).toFixed(4)} height=${(card.height / 72).toFixed(4)}`;
        assert.ok(dot.includes(`\n${index} [id="${index}" ${size}]`), dot);
      }
    }
  }
});

test("the frame around the result is inside the drawing", () => {
  for (const states of all) {
    for (const style of STYLES) {
      const { boxes, cards, itemOf, width, height } = arrangeByDepth(describe(states, new Set(), style));
      const id = itemOf[states.output];
      const [{ x, y }, card] = [boxes.get(id) ?? { x: 0, y: 0 }, cards.get(id)];
      const frame = states.derived[states.output].kind === "output" ? 6 : 0;
      assert.ok(card && x + (card.width + frame) / 2 <= width && y + (card.height + frame) / 2 <= height);
      assert.ok(x - (card.width + frame) / 2 >= 0 && y - (card.height + frame) / 2 >= 0);
    }
  }
});

test("no text of a learner reaches Graphviz", () => {
  const data = structuredClone(traces.named.shared);
  const nasty = 'x"] ; evil [label=<b>';
  data.derived.forEach((node) => (node.name = nasty));
  data.nodes.forEach((node) => (node.label = nasty));
  const states = new TraceStates(data);
  for (const style of STYLES) assert.ok(!describe(states, new Set(), style).dot.includes("evil"));
});

test("the drawing depends on the structure alone", () => {
  const changed = structuredClone(traces.named.joined);
  for (const node of changed.nodes) node.value = JSON.parse(JSON.stringify(node.value).replaceAll(/\d+/g, "7"));
  for (const style of STYLES) {
    const [before, after] = [traces.named.joined, changed].map((data) =>
      describe(new TraceStates(data), new Set(), style),
    );
    assert.equal(before.dot, after.dot);
  }
});

test("a call of the engine with two operations can be folded into one card", () => {
  const states = statesOf("joined");
  const groups = groupsOf(states);
  assert.deepEqual([...groups.keys()], ["call mean 1"]);
  const { members } = groups.get("call mean 1") ?? assert.fail();
  const { items, itemOf } = itemsOf(states, new Set(groups.keys()));
  const group = items.get("group-call mean 1") ?? assert.fail();
  assert.equal(group.group, "mean 1");
  assert.equal(group.node, members.at(-1)); // the last operation is what the call returns
  const constants = states.nodes.filter((node) => !node.op && !node.requires_grad).map((node) => node.id);
  const inside = constants.filter((id) => itemOf[id] === "group-call mean 1");
  assert.deepEqual(
    group.members.toSorted((a, b) => a - b),
    [...members, ...inside].toSorted((a, b) => a - b),
  );
  assert.ok(inside.length > 0 && inside.length < constants.length); // the number of elements, not the factor 2
  const { edges } = describe(states, new Set(groups.keys()), STYLES[0]);
  assert.ok(edges.every((edge) => itemOf[edge.child] !== itemOf[edge.node]));
});

test("a line of the learner can be folded into one card, with the engine's calls in it", () => {
  const states = statesOf("lines");
  const groups = groupsOf(states);
  const named = [...groups.values()].map(({ name, sort, members }) => [name, sort, members.length]);
  assert.deepEqual(named, [
    ["h", "lines", 4],
    ["mean 1", "mean", 2],
    ["g", "lines", 2],
    ["out", "lines", 2],
  ]);
  const { items } = itemsOf(states, new Set(groups.keys()));
  const cards = [...items.values()].map(({ group, node }) => group || states.name(node));
  assert.deepEqual(cards.toSorted(), ["a", "b", "c", "g", "h", "k", "out"]);
  for (const { node, group } of items.values()) if (group) assert.equal(states.name(node), group);
});

test("lines of one name, as in a loop, are told apart by a number", () => {
  const names = [...groupsOf(statesOf("loop")).values()].map(({ name }) => name);
  assert.deepEqual(names.toSorted(), ["h", "h_2", "h_3"]);
});

test("a large graph opens folded, by lines or else by stretches; a small one does not", () => {
  for (const states of all) assert.deepEqual(openingFolds(states, groupsOf(states)), []);
  const sorts = Object.entries(traces.large).map(([name, data]) => {
    const states = new TraceStates(data);
    const groups = groupsOf(states);
    const keys = openingFolds(states, groups);
    assert.ok(isDrawable(states, new Set(keys)), name);
    assert.ok(!isDrawable(states, new Set()), name);
    for (const key of keys) assert.ok(isDrawable(states, new Set(keys.filter((other) => other !== key))), key);
    const members = keys.flatMap((key) => groups.get(key)?.members ?? []);
    assert.equal(new Set(members).size, members.length, "no operation is in two cards");
    return [name, new Set(keys.map((key) => groups.get(key)?.sort)), keys.length];
  });
  const expected = [["iterate", new Set(["lines"]), 74], ["tangle", new Set(["stretches"]), 20]]; // prettier-ignore
  assert.deepEqual(sorts, expected);
});

test("in a large graph no edge over many ranks is given to Graphviz", () => {
  const states = new TraceStates(traces.large.iterate);
  for (const style of STYLES) {
    const { dot, edges } = describe(states, new Set(), style);
    const given = dot.match(/^\d+ -> \d+ /gm)?.length ?? 0;
    assert.equal(edges.length, 4 * 74 + 3 * 74); // the chain, and three leaves that every line reads
    assert.ok(given < 4 * 74 + 3 * 8, String(given));
  }
});

test("a graph that is drawn by depth has all cards beside each other and all edges from card to card", () => {
  for (const states of [...all, ...Object.values(traces.large).map((data) => new TraceStates(data))]) {
    for (const style of STYLES) {
      const description = describe(states, new Set(), style);
      const { boxes, edges, width, height, itemOf, cards } = arrangeByDepth(description);
      const rooms = [...boxes].map(([id, { x, y }]) => ({ x, y, ...(cards.get(id) ?? assert.fail()) }));
      rooms.forEach((one, i) => {
        assert.ok(one.x - one.width / 2 >= -0.01 && one.x + one.width / 2 <= width + 0.01);
        assert.ok(one.y - one.height / 2 >= -0.01 && one.y + one.height / 2 <= height + 0.01);
        for (const other of rooms.slice(0, i)) {
          const apart =
            2 * Math.abs(one.x - other.x) >= one.width + other.width - 0.01 ||
            2 * Math.abs(one.y - other.y) >= one.height + other.height - 0.01;
          assert.ok(apart, "two cards lie on each other");
        }
      });
      assert.equal(edges.length, description.edges.length);
      for (const { child, node, points } of edges) {
        const [from, to] = [child, node].map((id) => boxes.get(itemOf[id]) ?? assert.fail());
        const along = style.down ? "x" : "y";
        assert.ok(Math.abs(points[0][along] - from[along]) < 0.01);
        assert.ok(Math.abs((points.at(-1)?.[along] ?? NaN) - to[along]) < 0.01);
        assert.equal((points.length - 1) % 3, 0);
      }
    }
  }
});

test("arrays are drawn up to 24 cells along an axis", () => {
  assert.deepEqual(gridOf([]), { rows: 1, columns: 1, stride: 1, cropped: false });
  assert.deepEqual(gridOf([3]), { rows: 1, columns: 3, stride: 3, cropped: false });
  assert.deepEqual(gridOf([2, 3, 4]), { rows: 6, columns: 4, stride: 4, cropped: false });
  assert.deepEqual(gridOf([30, 100]), { rows: 24, columns: 24, stride: 100, cropped: true });
});

test("a card has room for what is on it", () => {
  for (const states of all) {
    for (const style of [false, true].flatMap((compact) => [false, true].map((afar) => ({ compact, afar })))) {
      const { compact } = style;
      for (const item of itemsOf(states, new Set()).items.values()) {
        const node = states.nodes[item.node];
        const card = cardOf(states, item, style);
        const shape = node.shape.length ? ` ${shapeText(node.large?.shape ?? node.shape)}` : "";
        assert.ok(card.title.endsWith(shape) && card.title.length - shape.length <= (compact ? 12 : 26));
        assert.equal(card.full, states.definition(node.id));
        assert.equal(card.grid === null, node.shape.length === 0);
        if (!card.grid) continue;
        const { rows, columns, cell, numbers, maps } = card.grid;
        assert.equal(numbers, rows <= 4 && columns <= 4);
        if (style.afar && numbers)
          assert.ok(cell.height * (18 / 14) >= 40 && card.height * (18 / 14) <= 260, states.structure);
        assert.equal(maps.length, node.requires_grad ? 2 : 1);
        const [width, height] = [columns * cell.width, rows * cell.height];
        for (const { x, y } of maps) {
          assert.ok(x >= -card.width / 2 && x + width <= card.width / 2);
          assert.ok(y >= -card.height / 2 + 20 && y + height <= card.height / 2);
        }
        const [one, other] = maps;
        if (other) assert.ok(other.x - one.x >= width || other.y - one.y >= height);
      }
    }
  }
});

test("a card tells the shape in the program, not that of the cells that were kept", () => {
  const data = structuredClone(traces.named.joined);
  const node = data.nodes.find(({ shape }) => shape.length > 0) ?? assert.fail();
  node.large = { shape: [784, 128], min: 0, max: 1, mean: 0.5, not_finite: 0 };
  const states = new TraceStates(data);
  const item = itemsOf(states, new Set()).items.get(`node-${node.id}`) ?? assert.fail();
  const { title, grid } = cardOf(states, item, { compact: false });
  assert.ok(title.endsWith("(784, 128)"), title);
  assert.equal(grid?.columns, node.shape.at(-1)); // as many cells as there are
});
