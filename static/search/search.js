/** The frame of every page: what it listens to, and in its bar the lab's search for a word, a question, an operation or
 * an error message. The search opens by a button, Ctrl+K, / or a paste outside any text field. */

import { isCurrentPage } from "../current_page.js";
import { mount } from "../mount.js";
import { open as openPage } from "../page/navigation.js";
import { listen } from "../page/page.js";
import { Debounced, h, isInField, pageTitle } from "../player/dom.js";

/** @import { Place } from "../mount.js" */
/** @import { SearchHit } from "../types.js" */

const MAX_CHARACTERS = 100_000;
const SEND_DELAY_MS = 150; // without a key, before the server is asked
const QUESTION = "question"; // in the session storage: what the page that LOOK_UP leads to is asked
const SHORTCUT = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘ K" : "Ctrl K";
/** @type {SearchHit} the last row: looks up the whole text */
const LOOK_UP = {
  kind: "look it up",
  title: "What went wrong?",
  text: "Find the failure behind this text, or the page that reads code and curves.",
  path: "what-went-wrong",
  query: {},
  sure: false,
};
const LABEL = "Search: a word, an error";

/** @type {Place} */
let place;
/** Resolves when the answers to the text in the field are shown. */
let answered = Promise.resolve();
let asking = new AbortController();
const later = new Debounced(ask, SEND_DELAY_MS); // asks while the learner types
/** @type {SearchHit[]} */
let hits = [];
let chosen = 0; // index of a hit; hits.length for the last row

/** The link that Tab reaches first: it skips the menu and the bar and leads to the page's title. */
const skip = h("a", { class: "skip", href: "#stMain", onclick: skipToPage }, "Skip to the page");
const list = h("div", { role: "listbox", id: "search-answers", "aria-label": "Answers" });
const status = h("small", { role: "status" });
const field = h("textarea", {
  rows: 1,
  "aria-label": LABEL,
  "aria-controls": list.id,
  "aria-autocomplete": "list",
  autocomplete: "off",
  spellcheck: "false",
  placeholder: "broadcasting   or: why +=   or: loss is nan   or a message, a loop, a CSV of losses",
  maxlength: MAX_CHARACTERS,
  oninput: () => later.postpone(),
  onkeydown: keys,
});

const dialog = h(
  "dialog",
  { "aria-label": "Search the lab", onclick: (/** @type {Event} */ { target }) => target === dialog && dialog.close() },
  h("div", {}, field, list, status),
);
const opener = h(
  "button",
  {
    class: "opener",
    "aria-label": LABEL,
    "aria-haspopup": "dialog",
    "aria-keyshortcuts": "Control+K Meta+K /",
    "data-keys": SHORTCUT,
    title: `${LABEL} (${SHORTCUT} or /)`,
    onclick: open,
  },
  h("span", {}, LABEL),
);

/** Make the frame. @param {Place} next @param {{searches: boolean}} data whether the page has a bar for the search */
function frame(next, { searches }) {
  const page = listen(next);
  if (!searches) return page;
  place = next;
  document.addEventListener("keydown", press); // the browser does not add a listener twice
  document.addEventListener("paste", paste);
  document.body.prepend(skip);
  const element = h("div", {}, page.element, h("div", { class: "search" }, opener, dialog));
  return { ...page, element, draw: tell };
}

/** Send a question to the page that answers it, once the browser is there. */
function tell() {
  const question = sessionStorage.getItem(QUESTION);
  if (question === null || !isCurrentPage() || location.pathname !== placeOf(LOOK_UP).pathname) return;
  sessionStorage.removeItem(QUESTION);
  place.tell("asked", { text: question });
}

/** Move the focus to the page's title. @param {Event} event */
function skipToPage(event) {
  event.preventDefault(); // keep "#stMain" out of the address, which holds the page's state
  pageTitle()?.focus();
}

/** Open the window with its text selected. */
function open() {
  if (!dialog.open) dialog.showModal();
  field.select();
  field.focus();
  ask();
}

/** Fetch and show the answers to the text in the field. */
function ask() {
  later.cancel();
  asking.abort();
  asking = new AbortController();
  answered = answer(field.value, asking.signal);
}

/** Fetch the answers to a question and show them. @param {string} question @param {AbortSignal} signal */
async function answer(question, signal) {
  /** @type {SearchHit[]} */
  let found = [];
  let reached = true;
  try {
    const request = { method: "POST", body: question, signal };
    if (question.trim()) found = await (await fetch(new URL("lab-search", document.baseURI), request)).json();
  } catch {
    reached = false;
  }
  if (signal.aborted) return;
  hits = found;
  paint(question.trim() !== "", reached);
}

/** Show the answers and a status line. @param {boolean} asked @param {boolean} reached */
function paint(asked, reached) {
  const rows = asked ? [...hits, LOOK_UP] : [];
  list.replaceChildren(...rows.map(option));
  const many = ["No answer found", "1 answer"][hits.length] ?? `${hits.length} answers`;
  if (!asked) status.textContent = "Also opens with Ctrl+K or /. What you type stays on this lab’s server.";
  else if (!reached) status.textContent = "The lab does not answer. Load the page again.";
  else status.textContent = `${many}, or look it up. ↑ ↓ choose, Enter opens, Esc closes.`;
  choose(0);
}

/** Return the address of an answer. @param {SearchHit} hit */
function placeOf(hit) {
  const query = new URLSearchParams(hit.query).toString();
  return new URL((hit.path || ".") + (query && `?${query}`), document.baseURI);
}

/** Return the link of an answer. @param {SearchHit} hit @param {number} index */
function option(hit, index) {
  const { href } = placeOf(hit);
  const onclick = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // let the browser open a window
    event.preventDefault();
    go(index);
  };
  const words = [h("b", {}, hit.title), h("i", {}, hit.kind), h("span", {}, hit.text)];
  return h("a", { role: "option", id: `search-${index}`, href, tabindex: -1, onclick }, ...words);
}

/** Highlight an answer. @param {number} index */
function choose(index) {
  const rows = [...list.children];
  chosen = Math.max(0, Math.min(index, rows.length - 1));
  rows.forEach((row, at) => row.setAttribute("aria-selected", String(at === chosen)));
  rows[chosen]?.scrollIntoView({ block: "nearest" });
  if (rows.length) field.setAttribute("aria-activedescendant", `search-${chosen}`);
  else field.removeAttribute("aria-activedescendant");
}

/** Act on the keys of the dialog. @param {KeyboardEvent} event */
function keys(event) {
  event.stopPropagation(); // letters typed here are not shortcuts of the page
  if (event.isComposing) return;
  if (event.key === "ArrowDown") choose(chosen + 1);
  else if (event.key === "ArrowUp") choose(chosen - 1);
  else if (event.key === "Enter") enter();
  else if (event.key === "Escape") dialog.close();
  else return;
  event.preventDefault();
}

/** Open the chosen answer; if the text has just changed, wait for its answers and open the first. */
async function enter() {
  if (later.waiting) ask();
  const current = answered;
  await current;
  if (current === answered && field.value.trim()) go(chosen);
}

/** Open an answer, or look up the whole text. @param {number} index index of an answer, or one past the last */
function go(index) {
  const hit = hits[index];
  dialog.close();
  if (hit && !hit.sure) return openPage(placeOf(hit));
  sessionStorage.setItem(QUESTION, field.value); // the page quotes the text that it explains
  openPage(placeOf(LOOK_UP));
  tell();
}

/** Open the search on Ctrl+K or /. @param {KeyboardEvent} event */
function press(event) {
  if (event.defaultPrevented || event.altKey) return; // an editor may have used the key
  const control = event.ctrlKey || event.metaKey;
  if (control ? event.key.toLowerCase() !== "k" || event.shiftKey : event.key !== "/" || isInField(event)) return;
  event.preventDefault();
  open();
}

/** Look up what is pasted outside any text field. @param {ClipboardEvent} event */
function paste(event) {
  const content = event.clipboardData?.getData("text/plain") ?? "";
  if (!content.trim() || isInField(event)) return;
  event.preventDefault();
  field.value = content.slice(0, MAX_CHARACTERS);
  open();
}

export const show = mount(frame, new URL("search.css", import.meta.url));
