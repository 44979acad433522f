/** Keeps one text in step in all tabs of a browser that have it open: the newest text wins.
 *
 * Each change says which text it was made to. A tab that has another one by then hands that over, to be stored as a
 * copy, before it takes the newer text: so what was typed in two tabs at once is not lost. */

/** @import { Draft } from "./draft.js" */

/** A change: the text before and after it, the time in milliseconds, and the tab that made it.
 * @typedef {{before: string | null, text: string, when: number, tab: string}} Change */
/** @typedef {Pick<BroadcastChannel, "postMessage" | "close" | "onmessage">} Channel sends to all other tabs */
/** take: show the newer text; replaced: store a text that the newer one does not contain
 * @typedef {{take: (text: string) => void, replaced: (text: string) => void}} Listener */

/** The text as one tab has it. */
export class SharedText {
  /** @param {Draft} draft @param {Listener} on @param {Channel} channel @param {() => number} now */
  constructor(draft, on, channel = new BroadcastChannel(draft.place), now = Date.now) {
    this.draft = draft;
    this.on = on;
    this.channel = channel;
    this.now = now;
    this.tab = Math.random().toString(36);
    this.text = draft.text();
    this.when = 0; // of the change that made this text
    channel.onmessage = ({ data }) => this.receive(data);
  }

  close() {
    this.channel.close();
  }

  /** Store and send a change made in this tab. @param {string} text @returns {boolean} whether it is stored */
  write(text) {
    const there = this.draft.text(); // about to be replaced; this tab may not have heard of it
    if (there !== null && there !== this.text) this.on.replaced(there);
    this.when = this.now();
    this.channel.postMessage({ before: this.text, text, when: this.when, tab: this.tab });
    this.text = text;
    return this.draft.write(text);
  }

  /** Take the stored text, after this tab was asleep or hidden. */
  wake() {
    const there = this.draft.text();
    if (there !== null && there !== this.text) this.take(there, this.now());
  }

  /** Take a change from another tab, unless the text here is newer. @param {Change} change */
  receive({ before, text, when, tab }) {
    if (when < this.when || (when === this.when && tab < this.tab)) return;
    if (this.text !== null && this.text !== before && this.text !== text) this.on.replaced(this.text);
    this.take(text, when);
  }

  /** @param {string} text @param {number} when */
  take(text, when) {
    this.when = when;
    if (text !== this.text) this.on.take(text);
    this.text = text;
  }
}
