/** The learner's progress: cards done, tasks passed and what else the progress file holds. It is stored only in this
 * browser and in the file that the learner saves. */

import { isCurrentPage } from "../current_page.js";
import { checked, checkedObjects, STUMBLE } from "./file.js";

/** @import { ShownNote } from "../types.js" */
/** @import { Done, Stumble } from "./file.js" */

const NAME = "tensor-ops-lab progress";
const TASKS = "tensor-ops-lab tasks";
const STUMBLES = "tensor-ops-lab stumbles";
const LEARNER = "tensor-ops-lab name";
/** Event: a card was done or a task passed. */
export const CHANGED = "tensor-ops-lab-progress";
/** Event: the player has reached the end of a backward pass. */
export const END = "tensor-ops-lab-end";

/** @type {Pick<ShownNote, "path" | "atEnd">} a page, and its cards that are done at the end of its player's pass */
let waiting = { path: "", atEnd: [] };
addEventListener(END, () => isCurrentPage(waiting.path) && complete(waiting.atEnd));

/** Store the progress that the server has noted on this page. @param {ShownNote} shown */
export function note({ path, done, tasks, atEnd, stumbles }) {
  waiting = { path, atEnd };
  complete(done);
  complete(tasks, TASKS);
  const [before, day] = [stumblesDone(), today()];
  const isNew = (/** @type {[string, any]} */ [task, { check, mistake }]) =>
    before[task]?.check !== check || before[task].mistake !== mistake;
  const fresh = Object.entries(stumbles).filter(isNew);
  if (fresh.length)
    write({ ...before, ...Object.fromEntries(fresh.map(([task, one]) => [task, { ...one, day }])) }, STUMBLES);
}

/** Return the cards that are done, and when. @returns {Done} */
export function cardsDone() {
  return checked(read(NAME));
}

/** Return the tasks that are passed, and when. @returns {Done} */
export function tasksDone() {
  return checked(read(TASKS));
}

/** Return the latest failure in each task. @returns {Record<string, Stumble>} */
export function stumblesDone() {
  return checkedObjects(read(STUMBLES), STUMBLE);
}

/** Return the learner's name as typed, or "". @returns {string} */
export function learner() {
  return readText(LEARNER);
}

/** Store the learner's name. @param {string} name */
export function setLearner(name) {
  writeText(LEARNER, name);
}

/** Add the progress from a file; what is stored already keeps its day.
 * @param {{cards: Done, tasks?: Done, stumbles?: Record<string, Stumble>, name?: string}} more */
export function add({ cards, tasks = {}, stumbles = {}, name = "" }) {
  if (!learner()) setLearner(name);
  write({ ...stumbles, ...stumblesDone() }, STUMBLES);
  write({ ...tasks, ...tasksDone() }, TASKS);
  write({ ...cards, ...cardsDone() });
}

/** Record as done today the keys that are not done yet, and mark the task above the page. @param {string[]} keys */
function complete(keys, name = NAME) {
  for (const key of keys) document.querySelector(`.st-key-card-task-${CSS.escape(key)}`)?.setAttribute("data-done", "");
  const done = checked(read(name));
  const fresh = keys.filter((key) => !(key in done));
  if (!fresh.length) return;
  const day = today();
  write({ ...done, ...Object.fromEntries(fresh.map((key) => [key, day])) }, name);
}

/** Return today's date, such as 2026-01-31. */
function today() {
  return new Date().toISOString().slice(0, 10);
}

/** Return a stored object. @param {string} name @returns {unknown} */
function read(name) {
  try {
    return JSON.parse(readText(name) || "{}");
  } catch {
    return {};
  }
}

/** Store an object and announce the change. @param {object} value */
function write(value, name = NAME) {
  writeText(name, JSON.stringify(value));
  dispatchEvent(new CustomEvent(CHANGED));
}

/** Return a stored text, or "". @param {string} name */
function readText(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

/** Store a text; a browser that blocks storage keeps none. @param {string} name @param {string} text */
function writeText(name, text) {
  try {
    localStorage.setItem(name, text);
  } catch {
    // nothing is kept
  }
}
