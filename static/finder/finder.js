/** From any page to "What went wrong?" with what is in the clipboard: by a button in the bar at the top, Ctrl+K, or
 * a paste where nothing is written. */

import { stays } from "../current_page.js";
import { h } from "../player/dom.js";

/** @import { Component } from "../types.js" */

const LONGEST = 100_000; // characters
const MAIN = "[data-testid=stMain]";
const SHORTCUT = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘ K" : "Ctrl K";

/** @type {Component<ShadowRoot>} the one that the page has now */
let component;
/** @type {HTMLDialogElement} */
let dialog;
/** @type {HTMLTextAreaElement} */
let field;
/** The first thing that Tab reaches: past the menu and what else is in the bar, to the title of the page. */
const skip = h("a", { class: "skip", href: "#page", onclick: skips }, "Skip to the page");

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
  field = h("textarea", {
    rows: 6,
    maxlength: LONGEST,
    "aria-label": "Message, loop, curve, or what you see",
    placeholder: "Paste an error message, a training loop or a CSV of losses, or say what you see: loss is nan",
    spellcheck: "false",
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      event.stopPropagation(); // no page has shortcuts for what is written here
      if (event.key === "Escape") dialog.close();
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      ask();
    },
  });
  dialog = h(
    "dialog",
    {
      "aria-labelledby": "finder-title",
      onclick: (/** @type {MouseEvent} */ event) => event.target === dialog && dialog.close(),
    },
    h(
      "div",
      {},
      h("h2", { id: "finder-title" }, "What went wrong?"),
      field,
      h(
        "p",
        {},
        h("button", { type: "button", class: "go", onclick: ask }, "Find it"),
        h("button", { type: "button", onclick: () => dialog.close() }, "Close"),
        h("small", {}, "Enter finds it. Shift+Enter begins a line."),
      ),
    ),
  );
  const opener = h(
    "button",
    {
      type: "button",
      class: "opener",
      "aria-haspopup": "dialog",
      "aria-keyshortcuts": "Control+K Meta+K",
      "data-keys": SHORTCUT,
      title: "Find it by a message, a loop or a curve",
      onclick: () => open(),
    },
    h("span", {}, "What went wrong?"),
  );
  root.append(opener, dialog);
}

function open(text = "") {
  if (text) field.value = text.slice(0, LONGEST);
  if (!dialog.open) dialog.showModal();
  field.focus();
}

function ask() {
  const text = field.value;
  if (!text.trim() || !stays()) return;
  dialog.close();
  field.value = "";
  // On the way to another page Streamlit makes an entry in the history of its own for this one, unless the address that
  // the server knows is this one, letter by letter.
  const query = written(location.search);
  history.replaceState(history.state, "", location.pathname + (query && `?${query}`) + location.hash);
  component.setTriggerValue("asked", { text, query });
}

/** An address as Python writes it. @param {string} search */
function written(search) {
  const part = (/** @type {string} */ text) =>
    encodeURIComponent(text)
      .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
      .replace(/%20/g, "+");
  return [...new URLSearchParams(search)].map((pair) => pair.map(part).join("=")).join("&");
}

/** @param {KeyboardEvent} event */
function press(event) {
  if (event.defaultPrevented) return; // an editor has a meaning of its own for it
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  open();
}

/** What is pasted where nobody writes is looked up. @param {ClipboardEvent} event */
function paste(event) {
  const writes = (/** @type {EventTarget} */ place) =>
    place instanceof HTMLElement && (place.isContentEditable || place.matches("input, textarea, select"));
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (!text.trim() || event.composedPath().some(writes) || document.querySelector("dialog[open], [role=dialog]"))
    return;
  event.preventDefault();
  open(text);
}
