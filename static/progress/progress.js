/** Which cards of the path are done, and which tasks are passed. Only this browser knows, and the file that the visitor
 * saves. */

import { checked } from "./file.js";

/** @import { Component } from "../types.js" */
/** @import { Done } from "./file.js" */

const NAME = "tensor-ops-lab progress";
const TASKS = "tensor-ops-lab tasks";
/** A card has been done, or a task passed. */
export const CHANGED = "tensor-ops-lab-progress";
/** The player has been moved to the end of a backward pass. */
export const END = "tensor-ops-lab-end";

/** @type {string[]} cards that the end of the pass on this page completes */
let waiting = [];
addEventListener(END, () => complete(waiting));

/** The page has been computed: these cards are done, and these will be at the end of the player's pass.
 * @param {Component<HTMLElement>} component */
export function note({ data }) {
  const { done, tasks, atEnd } = JSON.parse(new TextDecoder().decode(data));
  waiting = atEnd;
  complete(done);
  complete(tasks, TASKS);
}

/** The cards that are done, and when. @returns {Done} */
export function cardsDone() {
  return read();
}

/** The tasks that are passed, and when. @returns {Done} */
export function tasksDone() {
  return read(TASKS);
}

/** What a file has besides, with the days of what is done already. @param {Done} cards @param {Done} [tasks] */
export function add(cards, tasks = {}) {
  write({ ...tasks, ...tasksDone() }, TASKS);
  write({ ...cards, ...cardsDone() });
}

/** No card is done any more. */
export function forgetCards() {
  write({});
}

/** @param {string[]} keys */
function complete(keys, name = NAME) {
  const done = read(name);
  const fresh = keys.filter((key) => !(key in done));
  if (!fresh.length) return;
  const today = new Date().toISOString().slice(0, 10);
  write({ ...done, ...Object.fromEntries(fresh.map((key) => [key, today])) }, name);
}

/** @returns {Done} */
function read(name = NAME) {
  try {
    return checked(JSON.parse(localStorage.getItem(name) ?? "{}"));
  } catch {
    return {};
  }
}

/** @param {Done} done */
function write(done, name = NAME) {
  try {
    localStorage.setItem(name, JSON.stringify(done));
  } catch {
    // the browser keeps nothing for this site: then nothing is done
  }
  dispatchEvent(new CustomEvent(CHANGED));
}
