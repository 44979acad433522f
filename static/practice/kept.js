/** What the browser keeps of a text that a learner writes: the text itself, and copies of it with their times. */

/** @import { OnDisk } from "../types.js" */
/** @typedef {{when: string, text: string, note: string}} Copy note: what is worth knowing of it: "3 of 8 tasks" */

const MOST = 40; // copies of one text
const MOST_CHARACTERS = 1_000_000; // in all copies of one text; browsers keep about 5 million for a site

/** @typedef {Pick<Storage, "getItem" | "setItem">} Store */

export class Kept {
  /** @param {string} name of the text: "scalars"
   * @param {() => Store} storage a function: a browser that may keep nothing for a site throws as it is asked */
  constructor(name, storage = () => localStorage) {
    this.storage = storage;
    /** where the text is */
    this.place = `tensor-ops-lab text ${name}`;
    this.copiesPlace = `tensor-ops-lab copies ${name}`;
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

  /** Older copies go where the browser has no room. @param {string} text @returns {boolean} whether it is kept */
  write(text) {
    for (let copies = this.copies(); ; copies = copies.slice(Math.ceil(copies.length / 2))) {
      if (put(this.storage, this.place, text)) return true;
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
    return Array.isArray(found) ? found.filter(fits) : [];
  }

  /** Keep a copy. One like the last only renews that one's note. @param {Copy} copy @returns {boolean} is it kept? */
  copy(copy) {
    let copies = this.copies();
    const last = copies.at(-1);
    if (last?.text === copy.text) copies[copies.length - 1] = { ...last, note: copy.note || last.note };
    else copies.push(copy);
    copies = bounded(copies);
    for (; copies.length; copies = copies.slice(1))
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
