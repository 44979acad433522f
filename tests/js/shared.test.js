import assert from "node:assert/strict";
import { test } from "node:test";

import { Draft } from "../../static/practice/draft.js";
import { SharedText } from "../../static/practice/shared.js";

/** @import { Channel, Version } from "../../static/practice/shared.js" */

/** A browser: what it keeps, and messages that arrive at each tab in their order, some time later. */
class Browser {
  constructor() {
    /** @type {Map<string, string>} */
    this.all = new Map();
    /** @type {Tab[]} */
    this.tabs = [];
  }

  storage() {
    const { all } = this;
    return {
      getItem: (/** @type {string} */ place) => all.get(place) ?? null,
      setItem: (/** @type {string} */ place, /** @type {string} */ text) => void all.set(place, text),
    };
  }

  open() {
    const tab = new Tab(this, String(this.tabs.length));
    this.tabs.push(tab);
    return tab;
  }

  settle() {
    while (this.tabs.some((tab) => tab.deliver()));
  }

  /** Everything that the learner can get back: what is in the editors, what is kept, and the earlier copies. */
  texts() {
    const draft = new Draft("scalars", () => this.storage());
    const copies = draft.copies().map(({ text }) => text);
    return [...copies, draft.text() ?? "", ...this.tabs.filter(({ there }) => there).map(({ text }) => text)];
  }
}

class Tab {
  /** @param {Browser} browser @param {string} name */
  constructor(browser, name) {
    this.browser = browser;
    this.there = true;
    /** @type {Version[]} */
    this.mail = [];
    this.draft = new Draft("scalars", () => browser.storage());
    this.text = this.draft.text() ?? "";
    const postMessage = (/** @type {Version} */ version) => {
      for (const tab of browser.tabs) if (tab !== this && tab.there) tab.mail.push(version);
    };
    /** @type {Channel} */
    this.channel = { postMessage, close: () => {}, onmessage: null };
    this.shared = new SharedText(
      this.draft,
      {
        take: (text) => void (this.text = text),
        diverged: (tab, text) => void this.draft.copy({ text, note: "written in another tab", tab }),
      },
      this.channel,
      name,
    );
  }

  /** @param {string} letter */
  type(letter) {
    this.text += letter;
    this.shared.write(this.text);
  }

  deliver() {
    const version = this.mail.shift();
    if (version) this.channel.onmessage?.call(/** @type {any} */ (this), /** @type {any} */ ({ data: version }));
    return Boolean(version);
  }

  close() {
    this.there = false;
    this.mail = [];
  }
}

test("what is typed in one tab is in the other, however late it hears of it", () => {
  const browser = new Browser();
  const [one, other] = [browser.open(), browser.open()];
  for (const letter of "abcdefghij") {
    one.type(letter);
    if ("cgh".includes(letter)) other.deliver();
  }
  browser.settle();
  assert.deepEqual([one.text, other.text, other.draft.text()], ["abcdefghij", "abcdefghij", "abcdefghij"]);
  other.type("k"); // and on in the other tab
  browser.settle();
  assert.equal(one.text, "abcdefghijk");
  assert.deepEqual(one.draft.copies(), []);
});

test("a tab never takes an older text", () => {
  const browser = new Browser();
  const [one, other] = [browser.open(), browser.open()];
  one.type("a");
  const [older] = other.mail;
  one.type("b");
  browser.settle();
  other.shared.receive(older);
  one.shared.receive(older);
  assert.deepEqual([one.text, other.text], ["ab", "ab"]);
});

test("two tabs that are typed in at once keep their own text, and that of the other under Earlier copies", () => {
  const browser = new Browser();
  const [one, other] = [browser.open(), browser.open()];
  for (let i = 0; i < 20; i++) {
    one.type("a");
    other.type("b");
    one.deliver();
    other.deliver();
  }
  browser.settle();
  assert.deepEqual([one.text, other.text], ["a".repeat(20), "b".repeat(20)]);
  const texts = one.draft.copies().map(({ text }) => text);
  assert.deepEqual(texts.sort(), ["a".repeat(20), "b".repeat(20)]); // one copy for each tab, not one for each letter
  other.text = "";
  other.type(one.text); // the learner takes one of them in both tabs, and both go on together
  browser.settle();
  one.type("c");
  browser.settle();
  assert.equal(other.text, `${"a".repeat(20)}c`);
});

test("a tab that slept does not write over what came meanwhile", () => {
  const browser = new Browser();
  const sleeping = browser.open();
  const other = browser.open();
  other.type("a");
  sleeping.mail = [];
  other.close();
  sleeping.shared.wake();
  assert.equal(sleeping.text, "a");
  const late = browser.open();
  late.type("b");
  sleeping.mail = [];
  late.close();
  sleeping.type("c"); // it did not even wake
  assert.ok(browser.texts().includes("ab"));
  assert.ok(browser.texts().includes("ac"));
});

test("whatever is typed where and whatever is heard when, no letter is lost", () => {
  let state = 1;
  const random = (/** @type {number} */ below) => (state = (state * 48271) % 2147483647) % below;
  for (let round = 0; round < 400; round++) {
    const browser = new Browser();
    browser.open();
    const typed = [];
    for (let step = 0; step < 60; step++) {
      const open = browser.tabs.filter(({ there }) => there);
      const tab = open[random(open.length)];
      const what = random(10);
      if (what < 5) {
        typed.push(String.fromCodePoint(0x4e00 + typed.length)); // each sign is typed once
        tab.type(typed[typed.length - 1]);
      } else if (what < 8) tab.deliver();
      else if (what < 9 && open.length < 4) browser.open();
      else if (open.length > 1 && !tab.mail.length) tab.close();
    }
    browser.settle();
    const all = browser.texts().join("");
    assert.deepEqual(
      typed.filter((letter) => !all.includes(letter)),
      [],
      `round ${round}`,
    );
  }
});

test("what is kept without a clock, or is just being written, is older than anything", () => {
  const browser = new Browser();
  browser.storage().setItem("tensor-ops-lab text scalars", "a");
  for (const clock of ["", "{", "7", '{"clock": {"0": 9}, "tab": "0", "hash": "00000000"}']) {
    browser.storage().setItem("tensor-ops-lab clock scalars", clock);
    assert.deepEqual(new Draft("scalars", () => browser.storage()).version(), { text: "a", clock: {}, tab: "" });
  }
});
