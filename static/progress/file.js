/** The file that holds a learner's progress, as lab/practice/progress_file.py reads and writes it, too. */

import { hashed } from "./hash.js";

/** @typedef {Record<string, string>} Done a card's key -> the day on which it was done; or "scalars/add", a task's */
/** A learner's file of one course: as it was last, and the text that passed the most tasks, and how many.
 * @typedef {{text: string, best: string, passed: number}} Work */
/** What went wrong last in a task: the name of its check, and the key of the known mistake or "".
 * @typedef {{check: string, mistake: string, day: string}} Stumble */
/** @typedef {{got: number, most: number}} Score points */
/** @typedef {"" | "unsigned" | "changed"} Doubt of a file without a checksum, or one that was edited, at any time */
/** @typedef {{name: string, cards: Done, tasks: Done, texts: Record<string, Work>, stumbles: Record<string, Stumble>,
 *   scores: Record<string, Score>, doubt: Doubt}} Progress */

export const MAX_BYTES = 4_000_000;
export const MAX_NAME = 80; // characters
const VERSION = 2; // the first had neither texts nor a name

/** @param {unknown} found @returns {Done} what of it is a key and a day of the calendar */
export function checked(found) {
  return Object.fromEntries(entries(found).flatMap(([key, day]) => (isDay(day) ? [[key, String(day)]] : [])));
}

/** @param {unknown} found @param {Record<string, "string" | "number">} fields what each object must have
 * @returns {Record<string, any>} */
export function checkedObjects(found, fields) {
  const fits = (/** @type {any} */ one) =>
    one &&
    Object.entries(fields).every(([name, kind]) => typeof one[name] === kind) &&
    Object.values(one).every((value) => typeof value !== "number" || (Number.isInteger(value) && value >= 0));
  return Object.fromEntries(entries(found).filter(([, one]) => fits(one)));
}

const WORK = /** @type {const} */ ({ text: "string", best: "string", passed: "number" });
export const STUMBLE = /** @type {const} */ ({ check: "string", mistake: "string", day: "string" });
export const SCORE = /** @type {const} */ ({ got: "number", most: "number" });

/** What a file of progress holds. Those of the first version are read, too; a file without tasks is older still.
 * @param {string} text @param {string[]} known keys of cards
 * @returns {{progress: Progress | null, said: string}} null for what is no such file */
export function opened(text, known) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    found = null;
  }
  if (!found || found.lab !== "tensor-ops-lab" || !found.cards || typeof found.cards !== "object") {
    return {
      progress: null,
      said: "This is no file of progress from this lab. What you have done stays as it is.",
    };
  }
  const all = checked(found.cards);
  const cards = Object.fromEntries(Object.entries(all).filter(([key]) => known.includes(key)));
  const [count, gone] = [Object.keys(cards).length, Object.keys(all).length - Object.keys(cards).length];
  const rest = gone ? ` ${gone} of the file's cards ${gone === 1 ? "is" : "are"} no longer here.` : "";
  const tasks = checked(found.tasks);
  const passed = Object.keys(tasks).length;
  const also = passed ? ` and ${passed} ${passed === 1 ? "task" : "tasks"}` : "";
  const doubt = doubtOf(found, all, tasks);
  const progress = {
    name: typeof found.name === "string" ? found.name.slice(0, MAX_NAME).trim() : "",
    cards,
    tasks,
    texts: checkedObjects(found.texts, WORK),
    stumbles: checkedObjects(found.stumbles, STUMBLE),
    scores: checkedObjects(found.scores, SCORE),
    doubt,
  };
  const edited = " It was changed after it was saved. What you save from now on says so.";
  const said = `${count} ${count === 1 ? "card" : "cards"}${also} from the file.${rest}`;
  return { progress, said: said + (doubt === "changed" ? edited : "") };
}

/** @param {Progress} progress @returns {string} */
export function packed(progress) {
  const { name, cards, tasks, texts, stumbles, scores, doubt } = progress;
  const file = { lab: "tensor-ops-lab", version: VERSION, name, cards, tasks, texts, stumbles, scores, doubt };
  return JSON.stringify({ ...file, checksum: checksumOf(file) }, null, 1);
}

/** What tells that a file was changed after it was saved: a hint, not a proof, for anybody can compute it. It is the
 * hash of a line for each text and number of the file, but for the checksum's own.
 * @param {Record<string, unknown>} file @returns {string} */
export function checksumOf(file) {
  const all = Object.entries(file).flatMap(([key, value]) => (key === "checksum" ? [] : lines(key, value)));
  return hashed(all.sort().join(""));
}

/** The checksum of a file of the first version.
 * @param {Done} done @param {Done} tasks @returns {string} */
export function checksum(done, tasks) {
  const all = (/** @type {string} */ kind, /** @type {Done} */ some) =>
    Object.entries(some).map(([key, day]) => `${kind} ${key} ${day}\n`);
  return hashed([...all("card", done), ...all("task", tasks)].sort().join(""));
}

/** The worse of two doubts. @param {Doubt} one @param {Doubt} other @returns {Doubt} */
export function worse(one, other) {
  return [one, other].includes("changed") ? "changed" : one || other;
}

/** @param {any} found @param {Done} cards @param {Done} tasks @returns {Doubt} */
function doubtOf(found, cards, tasks) {
  if (found.version !== VERSION) {
    if ("checksum" in found) return found.checksum === checksum(cards, tasks) ? "" : "changed";
    return Object.keys(tasks).length ? "unsigned" : "";
  }
  const carried = ["", "unsigned"].includes(found.doubt) ? found.doubt : "changed";
  return found.checksum === checksumOf(found) ? carried : "changed";
}

/** @param {string} path @param {unknown} value @returns {string[]} */
function lines(path, value) {
  if (value && typeof value === "object")
    return Object.entries(value).flatMap(([key, one]) => lines(`${path}/${key}`, one));
  return [`${path} ${typeof value === "string" || typeof value === "number" ? value : "?"}\n`];
}

/** @param {unknown} found @returns {[string, unknown][]} */
function entries(found) {
  return found && typeof found === "object" && !Array.isArray(found) ? Object.entries(found) : [];
}

/** Is it a day of the calendar, "2026-01-31", in a year in which somebody may learn? @param {unknown} text */
function isDay(text) {
  if (typeof text !== "string") return false;
  const day = new Date(`${text}T00:00:00Z`);
  return /^20\d\d-\d\d-\d\d$/.test(text) && !Number.isNaN(day.valueOf()) && day.toISOString().startsWith(text);
}
