/** What a learner has brought (a table, a drawn digit, earlier runs), kept in their own browser and sent to the page
 * after a reload. Each tab has a record of its own, so that no tab overwrites another's; a new tab starts with a copy
 * of the newest. A browser that stores nothing for a site keeps nothing. */

import { isCurrentPage } from "../current_page.js";

/** @import { Component } from "../types.js" */
/** @typedef {Record<string, string>} Parts name -> text */

const MAX_TABS = 8; // whose records are kept
const PLACE = "tensor-ops-lab tab"; // in sessionStorage, which a reload keeps: the name of the tab's record

/** Return the name of this tab's record. */
function ownName() {
  const name = sessionStorage.getItem(PLACE) ?? Math.random().toString(36).slice(2);
  sessionStorage.setItem(PLACE, name);
  return name;
}

/** Return the result of a request. @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const answer = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Return the records of all tabs, {tab, time, parts}. @returns {Promise<IDBObjectStore>} */
async function records() {
  const opening = indexedDB.open("tensor-ops-lab", 1);
  opening.onupgradeneeded = () =>
    opening.result.createObjectStore("tabs", { keyPath: "tab" }).createIndex("time", "time");
  const database = await answer(opening);
  const found = database.transaction("tabs", "readwrite").objectStore("tabs");
  database.close(); // once the transaction is over
  return found;
}

/** Return what is kept for this tab. @returns {Promise<Parts>} */
export async function kept() {
  const own = ownName();
  const found = await records();
  const record = await answer(found.get(own));
  if (record) return record.parts;
  const newest = await answer(found.index("time").openCursor(null, "prev"));
  if (newest) await answer(found.put({ ...newest.value, tab: own, time: Date.now() }));
  return newest ? newest.value.parts : {};
}

/** Keep parts, in place of earlier ones of the same names. @param {Parts} parts */
export async function keep(parts) {
  const own = ownName();
  const found = await records();
  const before = await answer(found.get(own));
  await answer(found.put({ tab: own, time: Date.now(), parts: { ...before?.parts, ...parts } }));
  const names = await answer(found.index("time").getAllKeys()); // the oldest first
  for (const name of names.slice(0, -MAX_TABS)) found.delete(name);
}

let session = ""; // the page's session that was sent what is kept
let stored = ""; // the last change that was made

/** Send a new session what is kept, and make the change that the page asks for: new parts, or null to forget all.
 * @param {Component<HTMLElement>} component */
export function show({ data, setStateValue, setTriggerValue }) {
  /** @type {{session: string, change: string, parts: Parts | null}} */
  const asked = JSON.parse(new TextDecoder().decode(data ?? undefined));
  if (asked.session !== session) {
    session = asked.session;
    const send = ({ table = "", shelf = "" }) =>
      (table || shelf) && isCurrentPage() && setTriggerValue("kept", { table, shelf });
    kept().then(send, () => {});
  }
  if (!asked.change || asked.change === stored) return;
  stored = asked.change;
  const done = asked.parts ? keep(asked.parts) : records().then((found) => answer(found.clear()));
  done.catch(() => {}).then(() => isCurrentPage() && setStateValue("stored", asked.change));
}
