/** One text that is open in several tabs of a browser.
 *
 * Each tab counts its own changes. A text travels with a clock: how many changes of each tab it contains. So a tab can
 * tell a later text (it contains all of this tab's changes) from an older one, and from one that was written apart, in
 * which changes of this tab are missing. It takes a later text, ignores an older one, and hands on one written apart,
 * for somebody to keep: what was typed in two tabs at once cannot be one text. */

/** @import { Clock, Draft } from "./draft.js" */

/** @typedef {{tab: string, text: string, clock: Clock}} Version a text, the tab that wrote it, and what it contains */
/** @typedef {Pick<BroadcastChannel, "postMessage" | "close" | "onmessage">} Channel from a tab to all others */
/** @typedef {{take: (text: string) => void, apart: (tab: string, text: string) => void}} Listener */

const MAX_TABS = 30; // whose changes a clock counts: one that was closed long ago has nothing to say any more

export class SharedText {
  /** @param {Draft} draft @param {Listener} on @param {Channel} channel @param {string} tab a name that no other has */
  constructor(draft, on, channel = new BroadcastChannel(draft.place), tab = randomName()) {
    this.draft = draft;
    this.on = on;
    this.tab = tab;
    this.channel = channel;
    channel.onmessage = ({ data }) => this.hear(data);
    const { text, clock } = draft.version();
    this.text = text;
    this.clock = clock;
  }

  close() {
    this.channel.close();
  }

  /** The learner has changed the text in this tab. @param {string} text @returns {boolean} whether it is kept */
  write(text) {
    const there = this.draft.version(); // about to be replaced; a tab that slept has not heard of it
    if (there.text !== null && !contains(this.clock, there.clock)) this.on.apart(there.tab, there.text);
    this.text = text;
    const { [this.tab]: mine = 0, ...others } = this.clock;
    this.clock = Object.fromEntries([...Object.entries(others).slice(1 - MAX_TABS), [this.tab, mine + 1]]);
    this.channel.postMessage({ tab: this.tab, text, clock: this.clock });
    return this.draft.write(text, this.clock, this.tab);
  }

  /** A tab that slept, or was shown again, looks at what is kept. */
  wake() {
    const { tab, text, clock } = this.draft.version();
    if (text !== null) this.hear({ tab, text, clock });
  }

  /** Another tab has written. @param {Version} version */
  hear({ tab, text, clock }) {
    if (contains(this.clock, clock)) return;
    const later = contains(clock, this.clock);
    if (!later && text !== this.text) return this.on.apart(tab, text);
    this.clock = later ? clock : union(this.clock, clock);
    if (text !== this.text) this.on.take(text);
    this.text = text;
    // Both tabs came to the same text by different ways: the other learns that they are together again.
    if (!later) this.channel.postMessage({ tab: this.tab, text, clock: this.clock });
  }
}

/** @param {Clock} clock @param {Clock} other */
function contains(clock, other) {
  return Object.entries(other).every(([tab, changes]) => (clock[tab] ?? 0) >= changes);
}

/** @param {Clock} one @param {Clock} other @returns {Clock} */
function union(one, other) {
  const later = Object.entries(other).map(([tab, changes]) => [tab, Math.max(changes, one[tab] ?? 0)]);
  return { ...one, ...Object.fromEntries(later) };
}

function randomName() {
  return Math.random().toString(36).slice(2);
}
