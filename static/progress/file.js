/** The file that holds a visitor's progress. */

/** @typedef {Record<string, string>} Done a card's key -> the day on which it was done; or "scalars/add", a task's */

const VERSION = 1;

/** @param {unknown} found @returns {Done} what of it is a key and a day */
export function checked(found) {
  const entries = found && typeof found === "object" && !Array.isArray(found) ? Object.entries(found) : [];
  return Object.fromEntries(entries.filter(([, day]) => typeof day === "string" && /^\d{4}-\d\d-\d\d$/.test(day)));
}

/** What a file of progress holds. A file without tasks is an older one.
 * @param {string} text @param {string[]} known keys of cards @returns {{done: Done, tasks: Done, said: string}} */
export function opened(text, known) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    found = null;
  }
  if (!found || found.lab !== "tensor-ops-lab" || !found.cards || typeof found.cards !== "object") {
    return {
      done: {},
      tasks: {},
      said: "This is no file of progress from this lab. What you have done stays as it is.",
    };
  }
  const all = checked(found.cards);
  const done = Object.fromEntries(Object.entries(all).filter(([key]) => known.includes(key)));
  const [count, gone] = [Object.keys(done).length, Object.keys(all).length - Object.keys(done).length];
  const rest = gone ? ` ${gone} of the file's cards ${gone === 1 ? "is" : "are"} no longer here.` : "";
  const tasks = checked(found.tasks);
  const passed = Object.keys(tasks).length;
  const also = passed ? ` and ${passed} ${passed === 1 ? "task" : "tasks"}` : "";
  const changed = "checksum" in found && found.checksum !== checksum(all, tasks);
  const doubt = changed ? " It does not fit its checksum: it was changed after it was saved." : "";
  return { done, tasks, said: `${count} ${count === 1 ? "card" : "cards"}${also} from the file.${rest}${doubt}` };
}

/** What tells that a file was changed after it was saved: a hint, not a proof, for anybody can compute it. It is the
 * 32-bit FNV-1a hash of a line for each deed, as lab/practice/summary.py computes it. (The browser's own hashes are
 * only there where the lab comes by https or from this machine.)
 * @param {Done} done @param {Done} tasks @returns {string} */
export function checksum(done, tasks) {
  const lines = (/** @type {string} */ kind, /** @type {Done} */ some) =>
    Object.entries(some).map(([key, day]) => `${kind} ${key} ${day}\n`);
  let hashed = 0x811c9dc5;
  for (const byte of new TextEncoder().encode([...lines("card", done), ...lines("task", tasks)].sort().join("")))
    hashed = Math.imul(hashed ^ byte, 0x01000193) >>> 0;
  return hashed.toString(16).padStart(8, "0");
}

/** @param {Done} done @param {Done} tasks @returns {string} */
export function packed(done, tasks) {
  const file = { lab: "tensor-ops-lab", version: VERSION, cards: done, tasks, checksum: checksum(done, tasks) };
  return JSON.stringify(file, null, 1);
}
