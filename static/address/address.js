/** The address follows the page. Only a deliberate step of the visitor makes an entry in the history; all else changes
 * the present one. Where the browser goes back or forward by itself, the server is told where it is now. */

import { computed, stays } from "../current_page.js";

const PACE = 200; // milliseconds between two writes: browsers refuse to write more often for long
const STREAMLIT_PARAMETERS = ["embed", "embed_options"];

/** @typedef {object} Address
 * @property {string} session another one for each visit: also for one that the server begins because it lost the last
 * @property {string} page
 * @property {string} path of the page, in the address
 * @property {string} query what the address is to be
 * @property {number} entry another number than before: a deliberate step
 * @property {string[]} kept parameters that the page's own scripts write
 * @property {number} version the last of the browser's own moves that the server knows of
 */
/** @typedef {{search: string, version: number}} Went */
/** @typedef {{data: Uint8Array, setTriggerValue: (name: string, value: Went) => void}} Component */

/** @type {Component | null} */
let component = null;
/** @type {Address | null} what the server has said last */
let said = null;
/** @type {Address | null} to be written soon */
let waiting = null;
let known = ""; // what the server knows of the address
let written = 0; // when
let version = 0; // how often the browser has gone somewhere by itself
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** The server has run the page, or a part of it. @param {Component} next */
export function show(next) {
  /** @type {Address} */
  const data = JSON.parse(new TextDecoder().decode(next.data));
  computed(data.path);
  if (!stays(data.path)) return; // the browser has left the page that the server was at
  const before = said;
  component = next;
  said = data;
  const same = before?.page === data.page;
  const lost = before && before.session !== data.session;
  if (!same || lost) version = data.version;
  if (lost) {
    // Streamlit has begun the new visit with an older address: the one that the tab was opened with.
    known = bare(data.query, data.kept);
    follow();
  } else if (data.version !== version) {
    whenComputed(askAgain); // this is of what the browser has left
  } else if (same && before.entry !== data.entry) {
    flush();
    write(data, true);
  } else {
    clearTimeout(timer);
    waiting = data;
    const rest = same ? written + PACE - performance.now() : 0;
    if (rest > 0) timer = setTimeout(flush, rest);
    else flush();
  }
}

/** Where the server has computed the page without hearing of the browser's move, it is told again. */
function askAgain() {
  if (said && said.version !== version) ask();
}

/** Once the server has computed the whole page. @param {() => void} then */
function whenComputed(then) {
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

function flush() {
  clearTimeout(timer);
  if (waiting && stays(waiting.path)) write(waiting, false);
  waiting = null;
}

/** @param {Address} data @param {boolean} step */
function write(data, step) {
  const now = new URLSearchParams(location.search);
  const kept = (/** @type {string[]} */ names) =>
    names.flatMap((name) => now.getAll(name).map((value) => [name, value]));
  // Streamlit puts its own first: see `parameters` of ../current_page.js
  const query = String(
    new URLSearchParams([
      ...kept(STREAMLIT_PARAMETERS),
      ...new URLSearchParams(data.query),
      ...kept(step ? [] : data.kept),
    ]),
  );
  written = performance.now();
  known = bare(data.query, data.kept);
  if (query === String(now)) return;
  const url = location.pathname + (query && `?${query}`) + location.hash;
  if (step) history.pushState({}, "", url);
  else history.replaceState(history.state, "", url);
}

/** The browser is at an entry of its history: the server is to follow, unless it is there already. */
function follow() {
  if (!said || !stays(said.path)) return;
  const here = bare(location.search, said.kept);
  if (here === known) return;
  clearTimeout(timer);
  waiting = null;
  known = here;
  version++;
  ask();
}

function ask() {
  component?.setTriggerValue("went", { search: location.search, version });
}

/** An address without what the server does not know of it, in one order.
 * @param {string} query @param {string[]} kept */
function bare(query, kept) {
  const found = new URLSearchParams(query);
  for (const name of [...STREAMLIT_PARAMETERS, ...kept]) found.delete(name);
  found.sort();
  return String(found);
}

addEventListener("popstate", follow);
