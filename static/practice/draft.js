/** A learner's text in the browser's storage, and dated copies of it. */

import { hashed } from "../progress/hash.js";

/** A dated copy of a text.
 * @typedef {{when: string, text: string, note: string, passed: number}} Copy
 *   note: a remark that the learner reads
 *   passed: number of the course's first tasks that this text passes; 0 if unknown */

const MAX_COPIES = 40; // of one text
const MAX_CHARACTERS = 1_000_000; // in all copies of one text; browsers keep about 5 million for a site

/** @typedef {Pick<Storage, "getItem" | "setItem">} Store */

/** A named text in the browser's storage and its copies. */
export class Draft {
  /** @param {string} name of the text: "scalars"
   * @param {() => Store} storage a function, as a browser that blocks storage throws on access */
  constructor(name, storage = () => localStorage) {
    this.storage = storage;
    this.place = `tensor-ops-lab text ${name}`;
    this.copiesPlace = `tensor-ops-lab copies ${name}`;
  }

  /** Return the text; null if there is none. @returns {string | null} */
  text() {
    try {
      return this.storage().getItem(this.place);
    } catch {
      return null;
    }
  }

  /** Store the text; delete older copies if the browser has no room.
   * @param {string} text @returns {boolean} whether the text was stored */
  write(text) {
    for (let copies = this.copies(); ; copies = copies.slice(Math.ceil(copies.length / 2))) {
      if (put(this.storage, this.place, text)) return true;
      if (!copies.length) return false;
      put(this.storage, this.copiesPlace, JSON.stringify(copies.slice(Math.ceil(copies.length / 2))));
    }
  }

  /** Return the copies, oldest first. @returns {Copy[]} */
  copies() {
    let found;
    try {
      found = JSON.parse(this.storage().getItem(this.copiesPlace) ?? "[]");
    } catch {
      found = [];
    }
    const fits = (/** @type {Copy} */ one) =>
      one && [one.when, one.text, one.note].every((part) => typeof part === "string") && Number.isInteger(one.passed);
    return Array.isArray(found) ? found.filter(fits) : [];
  }

  /** Store a copy. If the last copy has the same text, only its note changes.
   * @param {Partial<Copy> & {text: string}} copy @returns {boolean} whether it was stored */
  copy({ text, note = "", passed = 0 }) {
    const copies = this.copies();
    const last = copies.at(-1);
    if (last?.text === text) copies[copies.length - 1] = { ...last, note: note || last.note };
    else copies.push({ when: new Date().toISOString(), text, note, passed });
    return this.store(copies);
  }

  /** Add the result of a check to the latest copy of its text.
   * @param {string} hash hash of the text @param {string} note @param {number} passed */
  addResult(hash, note, passed) {
    const copies = this.copies();
    const checked = copies.findLast(({ text }) => hashed(text) === hash);
    if (!checked || (checked.note === note && checked.passed === passed)) return;
    Object.assign(checked, { note, passed });
    this.store(copies);
  }

  /** Return the latest copy that passed all tasks, or the text in the editor if none did.
   * @param {number} tasks number of tasks in the course @returns {string | null} */
  finished(tasks) {
    return this.copies().findLast(({ passed }) => passed === tasks)?.text ?? this.text();
  }

  /** Store the latest copies that fit. @param {Copy[]} all @returns {boolean} whether at least the last was stored */
  store(all) {
    for (let copies = bounded(all); copies.length; copies = copies.slice(1))
      if (put(this.storage, this.copiesPlace, JSON.stringify(copies))) return true;
    return false;
  }
}

/** Return the latest copies within the limits, the last one in any case. @param {Copy[]} copies */
function bounded(copies) {
  let characters = 0;
  const from = copies.findLastIndex((one, at) => {
    characters += one.text.length;
    return at < copies.length - 1 && (characters > MAX_CHARACTERS || copies.length - at > MAX_COPIES);
  });
  return copies.slice(from + 1);
}

/** Store a text; return whether that worked. @param {() => Store} storage @param {string} place @param {string} text */
function put(storage, place, text) {
  try {
    storage().setItem(place, text);
    return true;
  } catch {
    return false; // no room, or storage is blocked
  }
}
