/** Reads and writes a learner's progress file, like lab/practice/progress_file.py. */

/** @typedef {Record<string, string>} Done key of a card, or of a task: "scalars/add" -> the day it was done */
/** A learner's code of one course: the latest text, the text that passed the most tasks, and their number.
 * @typedef {{text: string, best: string, passed: number}} Work */
/** The latest failure in a task: the name of the check, and the key of the known mistake or "".
 * @typedef {{check: string, mistake: string, day: string}} Stumble */
/** @typedef {{name: string, cards: Done, tasks: Done, texts: Record<string, Work>,
 *   stumbles: Record<string, Stumble>}} Progress */

export const MAX_BYTES = 4_000_000;
export const MAX_NAME_CHARACTERS = 80;

/** Return the entries with a valid date. @param {unknown} found @returns {Done} */
export function checked(found) {
  return Object.fromEntries(entries(found).flatMap(([key, day]) => (isDay(day) ? [[key, String(day)]] : [])));
}

/** Return the entries that are objects with these fields and whole numbers from 0.
 * @param {unknown} found @param {Record<string, "string" | "number">} fields @returns {Record<string, any>} */
export function checkedObjects(found, fields) {
  const fits = (/** @type {any} */ one) =>
    one &&
    Object.entries(fields).every(([name, kind]) => typeof one[name] === kind) &&
    Object.values(one).every((value) => typeof value !== "number" || (Number.isInteger(value) && value >= 0));
  return Object.fromEntries(entries(found).filter(([, one]) => fits(one)));
}

const WORK = /** @type {const} */ ({ text: "string", best: "string", passed: "number" });
export const STUMBLE = /** @type {const} */ ({ check: "string", mistake: "string", day: "string" });

/** Read a progress file.
 * @param {string} text @param {string[]} known keys of the lab's cards
 * @returns {{progress: Progress | null, message: string}} null if it is not a progress file */
export function openFile(text, known) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    found = null;
  }
  if (!found || found.lab !== "tensor-ops-lab" || !found.cards || typeof found.cards !== "object") {
    return { progress: null, message: "This is not a progress file from this lab. Your progress has not changed." };
  }
  const all = checked(found.cards);
  const cards = Object.fromEntries(Object.entries(all).filter(([key]) => known.includes(key)));
  const [count, gone] = [Object.keys(cards).length, Object.keys(all).length - Object.keys(cards).length];
  const rest = gone ? ` ${gone} of the file's cards ${gone === 1 ? "is" : "are"} no longer here.` : "";
  const tasks = checked(found.tasks);
  const passed = Object.keys(tasks).length;
  const also = passed ? ` and ${passed} ${passed === 1 ? "task" : "tasks"}` : "";
  const progress = {
    name: typeof found.name === "string" ? found.name.slice(0, MAX_NAME_CHARACTERS).trim() : "",
    cards,
    tasks,
    texts: checkedObjects(found.texts, WORK),
    stumbles: checkedObjects(found.stumbles, STUMBLE),
  };
  return { progress, message: `${count} ${count === 1 ? "card" : "cards"}${also} from the file.${rest}` };
}

/** Return the text of a progress file. @param {Progress} progress @returns {string} */
export function fileText(progress) {
  return JSON.stringify({ lab: "tensor-ops-lab", ...progress }, null, 1);
}

/** Return the entries of an object; none for anything else. @param {unknown} found @returns {[string, unknown][]} */
function entries(found) {
  return found && typeof found === "object" && !Array.isArray(found) ? Object.entries(found) : [];
}

/** Return whether a text is a date of this century, such as "2026-01-31". @param {unknown} text */
function isDay(text) {
  if (typeof text !== "string") return false;
  const day = new Date(`${text}T00:00:00Z`);
  return /^20\d\d-\d\d-\d\d$/.test(text) && !Number.isNaN(day.valueOf()) && day.toISOString().startsWith(text);
}
