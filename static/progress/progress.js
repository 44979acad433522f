/** What the learner keeps: which cards of the path are done, which tasks are passed, and what else their file of
 * progress holds. Only this browser knows, and the file that they save. */

import { checked, checkedObjects, SCORE, STUMBLE, worse } from "./file.js";

/** @import { Component } from "../types.js" */
/** @import { Done, Doubt, Score, Stumble } from "./file.js" */

const NAME = "tensor-ops-lab progress";
const TASKS = "tensor-ops-lab tasks";
const STUMBLES = "tensor-ops-lab stumbles";
const SCORES = "tensor-ops-lab scores";
const LEARNER = "tensor-ops-lab name";
const DOUBT = "tensor-ops-lab doubt";
/** A card has been done, or a task passed. */
export const CHANGED = "tensor-ops-lab-progress";
/** The player has been moved to the end of a backward pass. */
export const END = "tensor-ops-lab-end";

/** @type {string[]} cards that the end of the pass on this page completes */
let waiting = [];
addEventListener(END, () => complete(waiting));

/** @type {Map<string, string>} what a browser that keeps nothing for this site knows until it is closed */
const visit = new Map();

/** The page has been computed: these cards are done, and these will be at the end of the player's pass.
 * @param {Component<HTMLElement>} component */
export function note({ data }) {
  const { done, tasks, atEnd, stumbles, scores } = JSON.parse(new TextDecoder().decode(data));
  waiting = atEnd;
  complete(done);
  complete(tasks, TASKS);
  const [before, day] = [stumblesDone(), today()];
  const isNew = (/** @type {[string, any]} */ [task, { check, mistake }]) =>
    before[task]?.check !== check || before[task].mistake !== mistake;
  const fresh = Object.entries(stumbles).filter(isNew);
  if (fresh.length)
    write({ ...before, ...Object.fromEntries(fresh.map(([task, one]) => [task, { ...one, day }])) }, STUMBLES);
  if (Object.keys(scores).some((graph) => !(graph in scoresDone()))) write({ ...scores, ...scoresDone() }, SCORES);
}

/** The cards that are done, and when. @returns {Done} */
export function cardsDone() {
  return checked(read(NAME));
}

/** The tasks that are passed, and when. @returns {Done} */
export function tasksDone() {
  return checked(read(TASKS));
}

/** What went wrong last in each task. @returns {Record<string, Stumble>} */
export function stumblesDone() {
  return checkedObjects(read(STUMBLES), STUMBLE);
}

/** The points of each graph of Predict. @returns {Record<string, Score>} */
export function scoresDone() {
  return checkedObjects(read(SCORES), SCORE);
}

/** The learner's name, as they gave it. @returns {string} */
export function learner() {
  return readText(LEARNER);
}

/** @param {string} name */
export function setLearner(name) {
  writeText(LEARNER, name);
}

/** Does some of it come from a file that was edited? @returns {Doubt} */
export function doubt() {
  return /** @type {Doubt} */ (readText(DOUBT));
}

/** What a file has besides, with the days of what is done already.
 * @param {{cards: Done, tasks?: Done, stumbles?: Record<string, Stumble>, scores?: Record<string, Score>,
 *   name?: string, doubt?: Doubt}} more */
export function add({ cards, tasks = {}, stumbles = {}, scores = {}, name = "", doubt: more = "" }) {
  if (!learner()) setLearner(name);
  writeText(DOUBT, worse(doubt(), more));
  write({ ...stumbles, ...stumblesDone() }, STUMBLES);
  write({ ...scores, ...scoresDone() }, SCORES);
  write({ ...tasks, ...tasksDone() }, TASKS);
  write({ ...cards, ...cardsDone() });
}

/** No card is done any more. */
export function forgetCards() {
  write({});
}

/** @param {string[]} keys */
function complete(keys, name = NAME) {
  const done = checked(read(name));
  const fresh = keys.filter((key) => !(key in done));
  if (!fresh.length) return;
  const day = today();
  write({ ...done, ...Object.fromEntries(fresh.map((key) => [key, day])) }, name);
}

function today() {
  return new Date().toISOString().slice(0, 10);
}

/** @param {string} name @returns {unknown} */
function read(name) {
  try {
    return JSON.parse(readText(name) || "{}");
  } catch {
    return {};
  }
}

/** @param {object} value */
function write(value, name = NAME) {
  writeText(name, JSON.stringify(value));
  dispatchEvent(new CustomEvent(CHANGED));
}

/** @param {string} name */
function readText(name) {
  try {
    return visit.get(name) ?? localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} name @param {string} text */
function writeText(name, text) {
  try {
    localStorage.setItem(name, text);
    visit.delete(name);
  } catch {
    visit.set(name, text);
  }
}
