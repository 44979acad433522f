import assert from "node:assert/strict";
import { test } from "node:test";

import { Draft } from "../../static/practice/draft.js";
import { bringTexts, textsToSave } from "../../static/practice/transfer.js";
import { fileText, openFile } from "../../static/progress/file.js";
import { hashed } from "../../static/progress/hash.js";

/** @import { Progress } from "../../static/progress/file.js" */

const KNOWN = ["first-gradient", "two-messages"];
/** @type {Progress} */
const NONE = { name: "", cards: {}, tasks: {}, texts: {}, stumbles: {} };
const PROGRESS = {
  ...NONE,
  name: "李小龍 é",
  cards: { "first-gradient": "2026-01-02", "two-messages": "2026-03-04" },
  tasks: { "scalars/add": "2026-05-06" },
  texts: { scalars: { text: "a = 1\n", best: "# ü 𝔘\n", passed: 2 } },
  stumbles: { "scalars/mul": { check: "A product", mistake: "sign", day: "2026-05-06" } },
};

test("a saved file is read again, whole", () => {
  const { progress, message } = openFile(fileText(PROGRESS), KNOWN);
  assert.deepEqual(progress, PROGRESS);
  assert.equal(message, "2 cards and 1 task from the file.");
});

test("the hash of a text is that of lab/practice/progress_file.py", () => {
  // The same number stands in tests/unit/practice/test_class_summary.py.
  assert.equal(hashed("李小龍 é 𝔘 \ud800"), "6a98d304");
});

test("a card that no longer exists is told, and the others count", () => {
  const { progress, message } = openFile(
    fileText({ ...NONE, cards: { "two-messages": "2026-03-04", gone: "2026-03-04" } }),
    KNOWN,
  );
  assert.deepEqual(progress?.cards, { "two-messages": "2026-03-04" });
  assert.equal(message, "1 card from the file. 1 of the file's cards is no longer here.");
});

test("a text that is no progress file gives one sentence, and nothing is lost", () => {
  for (const text of ["", "{", "[]", "null", "7", '{"cards": {}}', '{"lab": "tensor-ops-lab", "cards": 7}']) {
    const { progress, message } = openFile(text, KNOWN);
    assert.equal(progress, null);
    assert.match(message, /^This is not a progress file .* has not changed\.$/);
  }
});

test("what is no day of the calendar is left out", () => {
  for (const day of ["soon", 7, null, "2026-01-02<b>", {}, "9999-99-99", "2026-02-30", "9999-12-31"]) {
    const text = JSON.stringify({ lab: "tensor-ops-lab", cards: { "two-messages": day } });
    assert.deepEqual(openFile(text, KNOWN).progress?.cards, {});
  }
});

test("texts that are none are left out", () => {
  const texts = {
    scalars: { text: 7, best: "", passed: 1 },
    tensors: { text: "", best: "", passed: -1 },
    functions: null,
  };
  const file = { ...NONE, lab: "tensor-ops-lab", texts };
  const { progress } = openFile(JSON.stringify(file), KNOWN);
  assert.deepEqual(progress?.texts, {});
});

/** A browser with room for everything. */
function browser() {
  /** @type {Map<string, string>} */
  const all = new Map();
  const storage = {
    getItem: (/** @type {string} */ place) => all.get(place) ?? null,
    setItem: (/** @type {string} */ place, /** @type {string} */ text) => void all.set(place, text),
  };
  return (/** @type {string} */ course) => new Draft(course, () => storage);
}

const COURSES = [
  { key: "scalars", title: "Scalars" },
  { key: "tensors", title: "Tensors" },
];

test("the code goes from one browser to another, the finished engine, too", () => {
  const [school, home] = [browser(), browser()];
  const draft = school("scalars");
  draft.copy({ text: "finished", passed: 8 });
  draft.write("half done");
  const texts = textsToSave(["scalars", "tensors"], school);
  assert.deepEqual(texts, { scalars: { text: "half done", best: "finished", passed: 8 } });
  assert.deepEqual(bringTexts(texts, COURSES, home), { brought: ["Scalars"], copied: [] });
  assert.equal(home("scalars").text(), "half done");
  assert.equal(home("scalars").finished(8), "finished");
  assert.deepEqual(textsToSave(["scalars"], home), texts);
});

test("a text that is here already stays, and that of the file is among its copies", () => {
  const [school, home] = [browser(), browser()];
  school("scalars").write("there");
  home("scalars").write("here");
  const texts = textsToSave(["scalars"], school);
  for (let i = 0; i < 2; i++) assert.deepEqual(bringTexts(texts, COURSES, home), { brought: [], copied: ["Scalars"] });
  assert.equal(home("scalars").text(), "here");
  const copies = home("scalars").copies();
  assert.deepEqual(
    copies.map(({ text }) => text),
    ["there"],
  );
});
