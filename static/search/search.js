/** The search of the lab, in the bar of every page: a word, a question, an operation, an error message. It opens by its
 * button, Ctrl+K or /, or a paste where nothing is written. */

import { isCurrentPage, parameters } from "../current_page.js";
import { h } from "../player/dom.js";

/** @import { Component, SearchHit } from "../types.js" */

const LONGEST = 100_000; // characters
const PAUSE = 150; // milliseconds without a key, after which the server is asked
const MAIN = "[data-testid=stMain]";
const SHORTCUT = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘ K" : "Ctrl K";
/** @type {SearchHit} what stands below the answers */
const WHOLE = {
  kind: "look it up",
  title: "What went wrong?",
  text: "Find the failure behind this text, or the page that reads code and curves.",
  path: "what-went-wrong",
  query: {},
  sure: false,
};
const SAYS = "Search: a word, an error";

/** @type {Component<ShadowRoot>} the one that the page has now */
let component;
/** @type {HTMLDialogElement} */
let dialog;
/** What was pasted: a field of one line would lose its other lines. */
let pasted = "";
/** The answers to the text that the field has, once they are there. */
let answered = Promise.resolve();
let asking = new AbortController();
let pause = NaN; // the timer of a question that is being written
/** @type {SearchHit[]} */
let hits = [];
let chosen = 0; // of them, or their number for the whole text

/** The first thing that Tab reaches: past the menu and what else is in the bar, to the title of the page. */
const skip = h("a", { class: "skip", href: "#page", onclick: skips }, "Skip to the page");
const list = h("div", { role: "listbox", id: "search-answers", "aria-label": "Answers" });
const status = h("small", { role: "status" });
const field = h("input", {
  type: "text",
  role: "combobox",
  "aria-label": SAYS,
  "aria-controls": list.id,
  "aria-expanded": false,
  "aria-autocomplete": "list",
  autocomplete: "off",
  spellcheck: "false",
  placeholder: "broadcasting   or: why +=   or: loss is nan   or a message, a loop, a CSV of losses",
  maxlength: LONGEST,
  oninput: later,
  onpaste: (/** @type {ClipboardEvent} */ event) => take(event, event.clipboardData?.getData("text/plain") ?? ""),
  onkeydown: keys,
});

/** Called with each run of a page. @param {Component<ShadowRoot>} next */
export function show(next) {
  component = next;
  document.addEventListener("keydown", press); // a listener that is there is not added twice
  document.addEventListener("paste", paste);
  if (!next.parentElement.querySelector("dialog")) build(next.parentElement);
  document.querySelector(MAIN)?.setAttribute("id", "page");
  document.body.prepend(skip);
}

/** @param {Event} event */
function skips(event) {
  event.preventDefault(); // the address is the state of the page
  const title = document.querySelector(`${MAIN} h1`);
  if (!(title instanceof HTMLElement)) return;
  title.tabIndex = -1;
  title.focus();
}

/** @param {ShadowRoot} root */
function build(root) {
  const onclick = (/** @type {MouseEvent} */ event) => event.target === dialog && dialog.close();
  dialog = h("dialog", { "aria-label": "Search the lab", onclick }, h("div", {}, field, list, status));
  const opener = h(
    "button",
    {
      type: "button",
      class: "opener",
      "aria-label": SAYS,
      "aria-haspopup": "dialog",
      "aria-keyshortcuts": "Control+K Meta+K /",
      "data-keys": SHORTCUT,
      title: `${SAYS} (${SHORTCUT} or /)`,
      onclick: open,
    },
    h("span", {}, SAYS),
  );
  root.append(opener, dialog);
}

function open() {
  if (!dialog.open) dialog.showModal();
  field.select();
  field.focus();
  ask();
}

/** The whole text, though the field shows it in one line. */
function text() {
  return field.value === flat(pasted) ? pasted : field.value;
}

/** @param {string} said */
function flat(said) {
  return said.replace(/[\r\n]+/g, " ").slice(0, LONGEST);
}

/** A text of several lines is kept, and looked up. @param {Event} event @param {string} said */
function take(event, said) {
  if (!said.trim().includes("\n")) return;
  event.preventDefault();
  pasted = said.slice(0, LONGEST);
  field.value = flat(pasted);
  ask();
}

function later() {
  clearTimeout(pause);
  pause = window.setTimeout(ask, PAUSE);
}

/** Fetch and show the answers to what the field has. */
function ask() {
  clearTimeout(pause);
  pause = NaN;
  asking.abort();
  asking = new AbortController();
  answered = answer(text(), asking.signal);
}

/** @param {string} question @param {AbortSignal} signal */
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

/** @param {boolean} asked @param {boolean} reached */
function paint(asked, reached) {
  const rows = asked ? [...hits, WHOLE] : [];
  list.replaceChildren(...rows.map(option));
  field.setAttribute("aria-expanded", String(asked));
  const many = hits.length === 1 ? "1 answer" : `${hits.length} answers`;
  if (!asked) status.textContent = "Also opens with Ctrl+K or /. What is typed stays on this lab’s server.";
  else if (!reached) status.textContent = "The lab does not answer. Load the page again.";
  else status.textContent = `${hits.length ? many : "Nothing here is called so"}. ↑ ↓ choose, Enter opens, Esc closes.`;
  choose(0);
}

/** @param {SearchHit} hit @param {number} index */
function option(hit, index) {
  const query = new URLSearchParams(hit.query).toString();
  const href = new URL((hit.path || ".") + (query && `?${query}`), document.baseURI).href;
  const onclick = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in a window of its own
    event.preventDefault();
    go(index);
  };
  const words = [h("b", {}, hit.title), h("i", {}, hit.kind), h("span", {}, hit.text)];
  return h("a", { role: "option", id: `search-${index}`, href, tabindex: -1, onclick }, ...words);
}

/** @param {number} index */
function choose(index) {
  const rows = [...list.children];
  chosen = Math.max(0, Math.min(index, rows.length - 1));
  rows.forEach((row, at) => row.setAttribute("aria-selected", String(at === chosen)));
  rows[chosen]?.scrollIntoView({ block: "nearest" });
  if (rows.length) field.setAttribute("aria-activedescendant", `search-${chosen}`);
  else field.removeAttribute("aria-activedescendant");
}

/** @param {KeyboardEvent} event */
function keys(event) {
  event.stopPropagation(); // no page has shortcuts for what is written here
  if (event.isComposing) return;
  if (event.key === "ArrowDown") choose(chosen + 1);
  else if (event.key === "ArrowUp") choose(chosen - 1);
  else if (event.key === "Enter") enter();
  else if (event.key === "Escape") dialog.close();
  else return;
  event.preventDefault();
}

/** Open what is chosen; of a text that has just been written, the first answer. */
async function enter() {
  if (pause) ask();
  const due = answered;
  await due;
  if (due === answered && text().trim()) go(chosen);
}

/** @param {number} index of an answer; behind the last one, the whole text is looked up */
function go(index) {
  if (!isCurrentPage()) return;
  const hit = hits[index];
  const said = text();
  dialog.close();
  const here = parameters();
  if (hit && !hit.sure) component.setTriggerValue("chosen", { path: hit.path, query: hit.query, here });
  else component.setTriggerValue("asked", { text: said, here }); // a message: the page that explains it quotes it
}

/** @param {Event} event */
function elsewhere(event) {
  const writes = (/** @type {EventTarget} */ place) =>
    place instanceof HTMLElement &&
    (place.isContentEditable ||
      place.matches("input:not([type=range], [type=radio], [type=checkbox]), textarea, select"));
  return event.composedPath().some(writes) || document.querySelector("dialog[open], [role=dialog]") !== null;
}

/** @param {KeyboardEvent} event */
function press(event) {
  if (event.defaultPrevented || event.altKey) return; // an editor has a meaning of its own for it
  const control = event.ctrlKey || event.metaKey;
  if (control ? event.key.toLowerCase() !== "k" || event.shiftKey : event.key !== "/" || elsewhere(event)) return;
  event.preventDefault();
  open();
}

/** What is pasted where nobody writes is looked up. @param {ClipboardEvent} event */
function paste(event) {
  const said = event.clipboardData?.getData("text/plain") ?? "";
  if (!said.trim() || elsewhere(event)) return;
  event.preventDefault();
  pasted = said.slice(0, LONGEST);
  field.value = flat(pasted);
  open();
}
