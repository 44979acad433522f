import assert from "node:assert/strict";
import { test } from "node:test";

import { cardOf, describe, gridOf, groupsOf, itemsOf } from "../../static/player/layout.js";
import { Playback } from "../../static/player/playback.js";
import { playbackOf, traces } from "./traces.js";

const STYLES = [false, true].flatMap((down) => [false, true].map((compact) => ({ down, compact })));
const all = [
  ...Object.values(traces.named),
  ...traces.operations.map(({ data }) => data),
  ...traces.random.slice(0, 50).map(({ data }) => data),
].map((data) => new Playback(data));

test("every node has a box, every use of an operand an edge", () => {
  for (const playback of all) {
    for (const style of STYLES) {
      const { dot, items, edges, cards } = describe(playback, new Set(), style);
      assert.equal(items.size, playback.nodes.length);
      assert.equal(dot.match(/^\d+ \[id=/gm)?.length, playback.nodes.length);
      const uses = playback.nodes.flatMap((node) =>
        node.children.map((child, operand) => ({ id: `${node.id}-${operand}`, child, node: node.id })),
      );
      assert.deepEqual(edges, uses);
      assert.equal(dot.match(/^\d+ -> \d+ \[id=/gm)?.length ?? 0, uses.length);
      uses.forEach(({ child, node }, i) => assert.ok(dot.includes(`\n${child} -> ${node} [id="${i}"`), dot));
      for (const [index, card] of [...cards.values()].entries()) {
        const size = `width=${(card.width / 72).toFixed(4)} height=${(card.height / 72).toFixed(4)}`;
        assert.ok(dot.includes(`\n${index} [id="${index}" ${size}]`), dot);
      }
    }
  }
});

test("no text of a learner reaches Graphviz", () => {
  const data = structuredClone(traces.named.shared);
  const nasty = 'x"] ; evil [label=<b>';
  data.derived.forEach((node) => (node.name = nasty));
  data.nodes.forEach((node) => (node.label = nasty));
  const playback = new Playback(data);
  for (const style of STYLES) assert.ok(!describe(playback, new Set(), style).dot.includes("evil"));
});

test("the drawing depends on the structure alone", () => {
  const changed = structuredClone(traces.named.joined);
  for (const node of changed.nodes) node.value = JSON.parse(JSON.stringify(node.value).replaceAll(/\d+/g, "7"));
  for (const style of STYLES) {
    const [before, after] = [traces.named.joined, changed].map((data) =>
      describe(new Playback(data), new Set(), style),
    );
    assert.equal(before.dot, after.dot);
  }
});

test("a call of the engine with two operations can be folded into one card", () => {
  const playback = playbackOf("joined");
  const groups = groupsOf(playback);
  assert.deepEqual([...groups.keys()], ["call mean 1"]);
  const { members } = groups.get("call mean 1") ?? assert.fail();
  const { items, itemOf } = itemsOf(playback, new Set(groups.keys()));
  const group = items.get("group-call mean 1") ?? assert.fail();
  assert.equal(group.group, "mean 1");
  assert.equal(group.node, members.at(-1)); // the last operation is what the call returns
  const constants = playback.nodes.filter((node) => !node.op && !node.requires_grad).map((node) => node.id);
  const inside = constants.filter((id) => itemOf[id] === "group-call mean 1");
  assert.deepEqual(
    group.members.toSorted((a, b) => a - b),
    [...members, ...inside].toSorted((a, b) => a - b),
  );
  assert.ok(inside.length > 0 && inside.length < constants.length); // the number of elements, not the factor 2
  const { edges } = describe(playback, new Set(groups.keys()), STYLES[0]);
  assert.ok(edges.every((edge) => itemOf[edge.child] !== itemOf[edge.node]));
});

test("arrays are drawn up to 24 cells along an axis", () => {
  assert.deepEqual(gridOf([]), { rows: 1, columns: 1, stride: 1, cropped: false });
  assert.deepEqual(gridOf([3]), { rows: 1, columns: 3, stride: 3, cropped: false });
  assert.deepEqual(gridOf([2, 3, 4]), { rows: 6, columns: 4, stride: 4, cropped: false });
  assert.deepEqual(gridOf([30, 100]), { rows: 24, columns: 24, stride: 100, cropped: true });
});

test("a card has room for what is on it", () => {
  for (const playback of all) {
    for (const compact of [false, true]) {
      for (const item of itemsOf(playback, new Set()).items.values()) {
        const node = playback.nodes[item.node];
        const card = cardOf(playback, item, compact);
        assert.ok(card.title.length <= (compact ? 12 : 26));
        assert.equal(card.full, playback.definition(node.id));
        assert.equal(card.grid === null, node.shape.length === 0);
        if (!card.grid) continue;
        const maps = node.requires_grad ? 2 : 1;
        assert.ok(card.grid.columns * card.grid.cell * maps < card.width);
        assert.ok(card.grid.rows * card.grid.cell < card.height);
      }
    }
  }
});
