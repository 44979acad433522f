/** Keeps the address in step with the page. Only a deliberate step of the learner adds an entry to the history; other
 * changes replace the current one. When the browser goes back or forward, the server is sent the new address. */

import { isCurrentPage, setComputedPage } from "../current_page.js";

const MIN_WRITE_GAP_MS = 200; // browsers reject writes that are more frequent
const STREAMLIT_PARAMETERS = ["embed", "embed_options"];

/** @typedef {object} Address
 * @property {string} session ID of the Streamlit session; a new one if the server has lost the last session
 * @property {string} page name of the page
 * @property {string} path the page's path in the address
 * @property {string} query the parameters that the address should have
 * @property {number} entry counter of deliberate steps
 * @property {string[]} kept parameters that the page's own scripts write
 * @property {number} version number of the latest browser navigation that the server knows of
 */
/** @typedef {{search: string, version: number}} Navigation */
/** @typedef {{data: Uint8Array, setTriggerValue: (name: string, value: Navigation) => void}} Component */

/** @type {Component | null} */
let component = null;
/** @type {Address | null} the last one that the server sent */
let received = null;
/** @type {Address | null} the one to write when the timer ends */
let pending = null;
let knownQuery = ""; // the parameters that the server knows of
let lastWrite = 0; // its time, as performance.now() gives it
let version = 0; // how often the browser has gone back or forward
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Write the address that the server sends with each run of the page or of a fragment. @param {Component} next */
export function show(next) {
  /** @type {Address} */
  const data = JSON.parse(new TextDecoder().decode(next.data));
  setComputedPage(data.path);
  if (!isCurrentPage(data.path)) return; // the browser has left this page
  const before = received;
  component = next;
  received = data;
  const same = before?.page === data.page;
  const lost = before && before.session !== data.session;
  if (!same || lost) version = data.version;
  if (lost) {
    // Streamlit has started the new session with the address that the tab was opened with.
    knownQuery = serverParameters(data.query, data.kept);
    follow();
  } else if (data.version !== version) {
    afterScriptRun(resendNavigation); // the server computed the address that the browser has left
  } else if (same && before.entry !== data.entry) {
    flush();
    write(data, true);
  } else {
    clearTimeout(timer);
    pending = data;
    const delay = same ? lastWrite + MIN_WRITE_GAP_MS - performance.now() : 0;
    if (delay > 0) timer = setTimeout(flush, delay);
    else flush();
  }
}

/** Send the navigation again if the server computed the page without it. */
function resendNavigation() {
  if (received && received.version !== version) sendNavigation();
}

/** Call a function when the server has computed the whole page. @param {() => void} then */
function afterScriptRun(then) {
  const app = document.querySelector("[data-test-script-state]");
  const look = () => {
    if (app?.getAttribute("data-test-script-state") === "running") return;
    observer.disconnect();
    then();
  };
  const observer = new MutationObserver(look);
  if (app) observer.observe(app, { attributeFilter: ["data-test-script-state"] });
  look();
}

/** Write the waiting address now, if there is one. */
function flush() {
  clearTimeout(timer);
  if (pending && isCurrentPage(pending.path)) write(pending, false);
  pending = null;
}

/** Write an address to the history. @param {Address} data @param {boolean} step whether to add an entry */
function write(data, step) {
  const now = new URLSearchParams(location.search);
  const kept = (/** @type {string[]} */ names) =>
    names.flatMap((name) => now.getAll(name).map((value) => [name, value]));
  // Streamlit puts its own parameters first: see `parameters` in ../current_page.js
  const query = String(
    new URLSearchParams([
      ...kept(STREAMLIT_PARAMETERS),
      ...new URLSearchParams(data.query),
      ...kept(step ? [] : data.kept),
    ]),
  );
  lastWrite = performance.now();
  knownQuery = serverParameters(data.query, data.kept);
  if (query === String(now)) return;
  const url = location.pathname + (query && `?${query}`) + location.hash;
  if (step) history.pushState({}, "", url);
  else history.replaceState(history.state, "", url);
}

/** Send the server the history entry that the browser has gone to, unless the server knows it. */
function follow() {
  if (!received || !isCurrentPage(received.path)) return;
  const here = serverParameters(location.search, received.kept);
  if (here === knownQuery) return;
  clearTimeout(timer);
  pending = null;
  knownQuery = here;
  version++;
  sendNavigation();
}

/** Tell the server the address that the browser has moved to. */
function sendNavigation() {
  component?.setTriggerValue("navigated", { search: location.search, version });
}

/** Return the query with only the server's parameters, sorted by name. @param {string} query @param {string[]} kept */
function serverParameters(query, kept) {
  const found = new URLSearchParams(query);
  for (const name of [...STREAMLIT_PARAMETERS, ...kept]) found.delete(name);
  found.sort();
  return String(found);
}

addEventListener("popstate", follow);
