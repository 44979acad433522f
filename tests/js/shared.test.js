import assert from "node:assert/strict";
import { test } from "node:test";

import { Draft } from "../../static/practice/draft.js";
import { SharedText } from "../../static/practice/shared.js";

/** @import { Change, Channel } from "../../static/practice/shared.js" */

/** A browser: what it keeps, and messages that arrive at each tab in their order, some time later. */
class Browser {
  constructor() {
    /** @type {Map<string, string>} */
    this.all = new Map();
    /** @type {Tab[]} */
    this.tabs = [];
    this.time = 0;
  }

  storage() {
    const { all } = this;
    return {
      getItem: (/** @type {string} */ place) => all.get(place) ?? null,
      setItem: (/** @type {string} */ place, /** @type {string} */ text) => void all.set(place, text),
    };
  }

  open() {
    const tab = new Tab(this);
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
  /** @param {Browser} browser */
  constructor(browser) {
    this.browser = browser;
    this.there = true;
    /** @type {Change[]} */
    this.mail = [];
    this.draft = new Draft("scalars", () => browser.storage());
    this.text = this.draft.text() ?? "";
    const postMessage = (/** @type {Change} */ change) => {
      for (const tab of browser.tabs) if (tab !== this && tab.there) tab.mail.push(change);
    };
    /** @type {Channel} */
    this.channel = { postMessage, close: () => {}, onmessage: null };
    this.shared = new SharedText(
      this.draft,
      {
        take: (text) => void (this.text = text),
        replaced: (text) => void this.draft.copy({ text }),
      },
      this.channel,
      () => browser.time++,
    );
  }

  /** @param {string} letter */
  type(letter) {
    this.text += letter;
    this.shared.write(this.text);
  }

  deliver() {
    const change = this.mail.shift();
    if (change) this.channel.onmessage?.call(/** @type {any} */ (this), /** @type {any} */ ({ data: change }));
    return Boolean(change);
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

test("of two texts typed at once the newer wins, and the other is under Earlier copies", () => {
  const browser = new Browser();
  const [one, other] = [browser.open(), browser.open()];
  one.type("a");
  other.type("b");
  browser.settle();
  assert.deepEqual([one.text, other.text, one.draft.text()], ["b", "b", "b"]);
  assert.deepEqual(
    one.draft.copies().map(({ text }) => text),
    ["a"],
  );
  one.type("c");
  browser.settle();
  assert.equal(other.text, "bc");
});

test("two changes in the same millisecond are in the same order in both tabs", () => {
  const browser = new Browser();
  const [one, other] = [browser.open(), browser.open()];
  one.type("a");
  browser.time = 0;
  other.type("b");
  browser.settle();
  assert.equal(one.text, other.text);
  assert.ok(["a", "b"].every((letter) => browser.texts().includes(letter)));
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
