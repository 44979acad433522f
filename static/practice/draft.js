/** What the browser keeps of a text that a learner writes: the text itself, and copies of it with their times. */

import { hashed } from "../progress/hash.js";

/** @import { OnDisk } from "../types.js" */
/** A text as it was at a time.
 * @typedef {{when: string, text: string, note: string, passed: number, tab?: string}} Copy
 *   note: what is worth knowing of it, for the reader
 *   passed: how many tasks of its course this text passes, in their order; 0 where that is not known
 *   tab: which other tab it was written in, at the same time as the text here */
/** @typedef {Record<string, number>} Clock a tab -> how many of its changes are in a text */

const MOST = 40; // copies of one text
const MOST_CHARACTERS = 1_000_000; // in all copies of one text; browsers keep about 5 million for a site

/** @typedef {Pick<Storage, "getItem" | "setItem">} Store */

export class Draft {
  /** @param {string} name of the text: "scalars"
   * @param {() => Store} storage a function: a browser that may keep nothing for a site throws as it is asked */
  constructor(name, storage = () => localStorage) {
    this.storage = storage;
    /** where the text is */
    this.place = `tensor-ops-lab text ${name}`;
    this.copiesPlace = `tensor-ops-lab copies ${name}`;
    this.clockPlace = `tensor-ops-lab clock ${name}`;
    this.filePlace = `tensor-ops-lab file ${name}`;
  }

  /** @returns {string | null} null where there is none */
  text() {
    try {
      return this.storage().getItem(this.place);
    } catch {
      return null;
    }
  }

  /** The text with its clock, and the tab that wrote it: an empty clock where nobody counted, or where another tab is
   * just writing. @returns {{text: string | null, clock: Clock, tab: string}} */
  version() {
    const text = this.text();
    try {
      const { clock, tab, hash } = JSON.parse(this.storage().getItem(this.clockPlace) ?? "");
      if (text !== null && hash === hashed(text)) return { text, clock, tab };
    } catch {
      // as where there is none
    }
    return { text, clock: {}, tab: "" };
  }

  /** Older copies go where the browser has no room.
   * @param {string} text @param {Clock} [clock] @param {string} [tab] that writes it
   * @returns {boolean} whether the text is kept */
  write(text, clock, tab) {
    for (let copies = this.copies(); ; copies = copies.slice(Math.ceil(copies.length / 2))) {
      if (put(this.storage, this.place, text)) {
        if (clock) put(this.storage, this.clockPlace, JSON.stringify({ clock, tab, hash: hashed(text) }));
        return true;
      }
      if (!copies.length) return false;
      put(this.storage, this.copiesPlace, JSON.stringify(copies.slice(Math.ceil(copies.length / 2))));
    }
  }

  /** The oldest first. @returns {Copy[]} */
  copies() {
    let found;
    try {
      found = JSON.parse(this.storage().getItem(this.copiesPlace) ?? "[]");
    } catch {
      found = [];
    }
    const fits = (/** @type {Copy} */ one) =>
      one && [one.when, one.text, one.note].every((part) => typeof part === "string");
    return Array.isArray(found) ? found.filter(fits).map(counted) : [];
  }

  /** Keep a copy. One like the last only renews that one's note; of what another tab writes at the same time only the
   * latest is kept. @param {Partial<Copy> & {text: string}} copy @returns {boolean} is it kept? */
  copy({ text, note = "", passed = 0, tab }) {
    const copies = this.copies().filter((one) => !tab || one.tab !== tab);
    const last = copies.at(-1);
    if (last?.text === text) copies[copies.length - 1] = { ...last, note: note || last.note };
    else copies.push({ when: new Date().toISOString(), text, note, passed, ...(tab ? { tab } : {}) });
    return this.keep(copies);
  }

  /** A check is done: what it found goes to the latest copy of its text.
   * @param {string} hash of the text @param {string} note @param {number} passed */
  found(hash, note, passed) {
    const copies = this.copies();
    const checked = copies.findLast(({ text }) => hashed(text) === hash);
    if (!checked || (checked.note === note && checked.passed === passed)) return;
    Object.assign(checked, { note, passed });
    this.keep(copies);
  }

  /** The text to work with: the latest that passed all tasks, else the one in the editor.
   * @param {number} tasks of the course @returns {string | null} */
  finished(tasks) {
    return this.copies().findLast(({ passed }) => passed === tasks)?.text ?? this.text();
  }

  /** @param {Copy[]} all @returns {boolean} is the latest of them kept? */
  keep(all) {
    for (let copies = bounded(all); copies.length; copies = copies.slice(1))
      if (put(this.storage, this.copiesPlace, JSON.stringify(copies))) return true;
    return false;
  }

  /** The file on the disk that this text last was the same as. @returns {OnDisk} */
  file() {
    try {
      const { stamp, text } = JSON.parse(this.storage().getItem(this.filePlace) ?? "");
      return { stamp: String(stamp), text: String(text) };
    } catch {
      return { stamp: "", text: "" };
    }
  }

  /** @param {OnDisk} file */
  agree(file) {
    put(this.storage, this.filePlace, JSON.stringify(file));
  }
}

/** A copy as it is kept today. Those of an earlier version said only in their note that all tasks were passed.
 * @param {Copy} copy @returns {Copy} */
function counted(copy) {
  if (Number.isInteger(copy.passed)) return copy;
  return { ...copy, passed: Number(/^All (\d+) tasks are passed\.$/.exec(copy.note)?.[1] ?? 0) };
}

/** The latest copies that there is room for, and the last one in any case. @param {Copy[]} copies */
function bounded(copies) {
  let characters = 0;
  const from = copies.findLastIndex((one, at) => {
    characters += one.text.length;
    return at < copies.length - 1 && (characters > MOST_CHARACTERS || copies.length - at > MOST);
  });
  return copies.slice(from + 1);
}

/** @param {() => Store} storage @param {string} place @param {string} text */
function put(storage, place, text) {
  try {
    storage().setItem(place, text);
    return true;
  } catch {
    return false; // no room, or a browser that keeps nothing for this site
  }
}
