/** Keeps one text in step in all tabs of a browser that have it open.
 *
 * Each tab counts its own changes. A text carries a vector clock: how many changes of each tab it contains. So a tab
 * can tell a later text, with all of its own changes, from an older one and from a diverged one, which lacks some of
 * its changes and has others. It takes a later text, ignores an older one, and hands over a diverged one to be
 * stored as a copy: what was typed in two tabs at once cannot become one text. */

/** @import { Clock, Draft } from "./draft.js" */

/** @typedef {{tab: string, text: string, clock: Clock}} Version a text, its tab and its clock */
/** @typedef {Pick<BroadcastChannel, "postMessage" | "close" | "onmessage">} Channel sends to all other tabs */
/** @typedef {{take: (text: string) => void, diverged: (tab: string, text: string) => void}} Listener */

const MAX_TABS = 30; // in a clock: tabs that were closed long ago no longer matter

/** The text as one tab has it. */
export class SharedText {
  /** @param {Draft} draft @param {Listener} on @param {Channel} channel @param {string} tab a unique name */
  constructor(draft, on, channel = new BroadcastChannel(draft.place), tab = randomName()) {
    this.draft = draft;
    this.on = on;
    this.tab = tab;
    this.channel = channel;
    channel.onmessage = ({ data }) => this.receive(data);
    const { text, clock } = draft.version();
    this.text = text;
    this.clock = clock;
  }

  close() {
    this.channel.close();
  }

  /** Store and send a change made in this tab. @param {string} text @returns {boolean} whether it is stored */
  write(text) {
    const there = this.draft.version(); // about to be replaced; a sleeping tab may have missed it
    if (there.text !== null && !contains(this.clock, there.clock)) this.on.diverged(there.tab, there.text);
    this.text = text;
    const { [this.tab]: mine = 0, ...others } = this.clock;
    this.clock = Object.fromEntries([...Object.entries(others).slice(1 - MAX_TABS), [this.tab, mine + 1]]);
    this.channel.postMessage({ tab: this.tab, text, clock: this.clock });
    return this.draft.write(text, this.clock, this.tab);
  }

  /** Compare with the stored text, after this tab was asleep or hidden. */
  wake() {
    const { tab, text, clock } = this.draft.version();
    if (text !== null) this.receive({ tab, text, clock });
  }

  /** Take, ignore or hand over a text from another tab. @param {Version} version */
  receive({ tab, text, clock }) {
    if (contains(this.clock, clock)) return;
    const later = contains(clock, this.clock);
    if (!later && text !== this.text) return this.on.diverged(tab, text);
    this.clock = later ? clock : union(this.clock, clock);
    if (text !== this.text) this.on.take(text);
    this.text = text;
    // Both tabs reached the same text in different ways: tell the other that they agree again.
    if (!later) this.channel.postMessage({ tab: this.tab, text, clock: this.clock });
  }
}

/** Tell whether a clock counts every change of the other. @param {Clock} clock @param {Clock} other */
function contains(clock, other) {
  return Object.entries(other).every(([tab, changes]) => (clock[tab] ?? 0) >= changes);
}

/** Return a clock that counts the changes of both. @param {Clock} one @param {Clock} other @returns {Clock} */
function union(one, other) {
  const later = Object.entries(other).map(([tab, changes]) => [tab, Math.max(changes, one[tab] ?? 0)]);
  return { ...one, ...Object.fromEntries(later) };
}

/** Return a random identifier. */
function randomName() {
  return Math.random().toString(36).slice(2);
}
