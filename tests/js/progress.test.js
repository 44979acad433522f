import assert from "node:assert/strict";
import { test } from "node:test";

import { checksum, opened, packed } from "../../static/progress/file.js";

const KNOWN = ["first-gradient", "two-messages"];

test("a saved file is read again, whole", () => {
  const done = { "first-gradient": "2026-01-02", "two-messages": "2026-03-04" };
  assert.deepEqual(opened(packed(done, {}), KNOWN), { done, tasks: {}, said: "2 cards from the file." });
  const tasks = { "scalars/add": "2026-05-06" };
  const said = "2 cards and 1 task from the file.";
  assert.deepEqual(opened(packed(done, tasks), KNOWN), { done, tasks, said });
});

test("a card that no longer exists is told, and the others count", () => {
  const { done, said } = opened(packed({ "two-messages": "2026-03-04", gone: "2026-03-04" }, {}), KNOWN);
  assert.deepEqual(done, { "two-messages": "2026-03-04" });
  assert.equal(said, "1 card from the file. 1 of the file's cards is no longer here.");
});

test("a file from before there were tasks is read as it was", () => {
  const old = JSON.stringify({ lab: "tensor-ops-lab", version: 1, cards: { "two-messages": "2026-03-04" } });
  assert.deepEqual(opened(old, KNOWN), {
    done: { "two-messages": "2026-03-04" },
    tasks: {},
    said: "1 card from the file.",
  });
});

test("the checksum is that of lab/practice/summary.py, whatever the order, and tells what was changed", () => {
  // The same numbers stand in tests/unit/practice/test_summary.py.
  assert.equal(checksum({}, {}), "811c9dc5");
  const [cards, tasks] = [{ "two-messages": "2026-03-04" }, { "scalars/add": "2026-05-06", "scalars/é": "2026-01-02" }];
  assert.equal(checksum(cards, tasks), "e518c6fe");
  const turned = { "scalars/é": "2026-01-02", "scalars/add": "2026-05-06" };
  assert.equal(checksum(cards, turned), "e518c6fe");
  const edited = packed(cards, tasks).replace("2026-05-06", "2026-04-06");
  assert.match(opened(edited, KNOWN).said, /was changed after it was saved/);
  assert.deepEqual(opened(edited, KNOWN).done, cards);
});

test("what is no file of progress is one sentence, and nothing is lost", () => {
  for (const text of ["", "{", "[]", "null", "7", '{"cards": {}}', '{"lab": "tensor-ops-lab", "cards": 7}']) {
    const { done, said } = opened(text, KNOWN);
    assert.deepEqual(done, {});
    assert.match(said, /^This is no file of progress .* stays as it is\.$/);
  }
});

test("what is no day is left out", () => {
  for (const day of ["soon", 7, null, "2026-01-02<b>", {}]) {
    const text = JSON.stringify({ lab: "tensor-ops-lab", version: 1, cards: { "two-messages": day } });
    assert.deepEqual(opened(text, KNOWN).done, {});
  }
});
