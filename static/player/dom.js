/** Helpers to create and update elements. Texts become text nodes, never markup: a label `<img>` stays a label. */

const SVG = "http://www.w3.org/2000/svg";
export const PHONE_WIDTH = 640; // pixels of a window
export const EDITOR = "textarea, [contenteditable=true]";
export const INTERACTIVE = "a, button, input, select, textarea, summary, [role], [contenteditable=true]";
const FIELDS = `input:not([type=range], [type=radio], [type=checkbox]), select, [role=combobox], ${EDITOR}`;
export const BROUGHT = "tensor-ops-lab-brought"; // event: an element is brought into the window
const DIALOG = "dialog[open], [role=dialog], [role=alertdialog]";

/** Create an HTML element: `h("button", {class: "link", onclick: f}, "text", otherElement)`.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, unknown>} attributes @param {...(Node | string)} children */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  if (tag === "button") element.setAttribute("type", "button"); // by default it would submit a form
  return fillElement(element, attributes, children);
}

/** Create an SVG element.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, unknown>} attributes @param {...(Node | string)} children */
export function s(tag, attributes = {}, ...children) {
  return fillElement(document.createElementNS(SVG, tag), attributes, children);
}

/** Set an element's attributes and append its children. @template {Element} Filled
 * @param {Filled} node @param {Record<string, unknown>} attributes @param {(Node | string)[]} children */
function fillElement(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") Object.assign(node, { [name]: value });
    else if (typeof value === "boolean" && !name.startsWith("aria-")) node.toggleAttribute(name, value);
    else if (value !== undefined && value !== null) node.setAttribute(name, String(value)); // aria: "true" or "false"
  }
  node.append(...children);
  return node;
}

/** Set a node's text only if it differs: most of the picture stays the same from one event to the next.
 * @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Return a sentence with the parts between backquotes as code. @param {string} sentence */
export function withCode(sentence) {
  return sentence.split(/`([^`]+)`/).map((part, at) => (at % 2 ? h("code", {}, part) : part));
}

/** Set an attribute only if it differs. @param {Element} node @param {string} name @param {string} value */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** Put a part that changes with each event into a box of its own. The browser lays out only that part if it has
 * `contain: strict`, unless it is itself an item of a flexbox or grid: then it lays out the whole page.
 * @param {HTMLElement} part @param {string} name class of the box */
export function boxed(part, name) {
  return h("div", { class: name }, part);
}

/** Create a button that looks like a link. @param {string} text @param {() => void} onclick */
export function link(text, onclick, title = "") {
  return h("button", { class: "link", onclick, title }, text);
}

/** Create a section, with a heading for what its name does not say. @param {string} title @param {string} name */
export function section(title, name) {
  const heading = h("h3");
  const body = h("div", { class: "body" });
  return { element: h("section", { class: `panel ${name}`, "aria-label": title }, heading, body), heading, body };
}

/** Return whether a key or a paste belongs to a text field or a dialog. @param {Event} event */
export function isInField(event) {
  const inField = (/** @type {EventTarget} */ one) => one instanceof Element && one.matches(FIELDS);
  return event.composedPath().some(inField) || document.querySelector(DIALOG) !== null;
}

/** Return whether an element can be seen in the window. @param {Element} element */
export function inWindow(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top < innerHeight && bottom > 0;
}

/** Return the ancestors of an element, innermost first, through shadow roots. @param {Element} element */
export function ancestors(element) {
  /** @type {Element[]} */
  const found = [];
  let node = /** @type {Node | null} */ (element);
  while (node) {
    node = node instanceof ShadowRoot ? node.host : node.parentNode;
    if (node instanceof Element) found.push(node);
  }
  return found;
}

/** Bring an element into the window, and keep it there while the page above it takes shape, until the learner acts.
 * @param {Element} element @param {ScrollLogicalPosition} block */
export function bringIntoWindow(element, block = "nearest") {
  dispatchEvent(new Event(BROUGHT));
  asSizesChange(ancestors(element), () => element.scrollIntoView({ block }));
}

/** Return a function that scrolls all around an element back to where it is now, and holds it there while the page
 * takes shape, until the learner acts. @param {Element} element */
export function rememberScroll(element) {
  const places = ancestors(element).map((one) => ({ one, top: one.scrollTop }));
  const scrollBack = () => places.forEach(({ one, top }) => (one.scrollTop = top));
  return () => asSizesChange(ancestors(element), scrollBack);
}

/** Do work once, and again after each change of a size, until the learner acts.
 * @param {Element[]} all @param {() => void} work */
function asSizesChange(all, work) {
  const sizes = new ResizeObserver(work);
  for (const one of all) sizes.observe(one);
  endOnAction(sizes);
}

/** End observing when the learner acts. @param {{ disconnect: () => void }} observer */
function endOnAction(observer) {
  for (const act of ["wheel", "pointerdown", "keydown"])
    addEventListener(act, () => observer.disconnect(), { capture: true, once: true });
}

/** Give an element the focus while nothing has it, as what the learner has pressed leaves the page, until they act.
 * @param {() => HTMLElement | null} find the element, which may be drawn again */
export function inheritFocus(find) {
  const inherit = () => document.activeElement === document.body && find()?.focus({ preventScroll: true });
  const changes = new MutationObserver(inherit);
  changes.observe(document.body, { childList: true, subtree: true });
  endOnAction(changes);
  inherit();
}

/** Return the title of the page, which can have the focus: from there the keys go on. */
export function pageTitle() {
  const title = document.querySelector("[data-testid=stMain] h1");
  if (!(title instanceof HTMLElement)) return null;
  title.tabIndex = -1;
  return title;
}

/** Report whether an element is in sight, at first and after each change. A busy browser reports several changes at
 * once, the oldest first: only the last one is still true.
 * @param {Element} element @param {(seen: boolean) => void} see
 * @param {string} margin how far outside the window still counts as in sight */
export function observeSight(element, see, margin = "0px") {
  const options = { rootMargin: margin };
  const observer = new IntersectionObserver((changes) => see(changes[changes.length - 1].isIntersecting), options);
  observer.observe(element);
  return observer;
}

/** Download a file. @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Return whether animation is welcome: the learner has not asked the system for less motion. */
export function mayMove() {
  return !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Call a function for each move of the pointer until it is released, and then another one.
 * @param {(event: PointerEvent) => void} move @param {() => void} drop */
export function untilReleased(move, drop = () => {}) {
  const listening = new AbortController();
  const { signal } = listening;
  const end = () => {
    listening.abort();
    drop();
  };
  addEventListener("pointermove", move, { signal });
  addEventListener("pointerup", end, { signal });
  addEventListener("pointercancel", end, { signal });
}

/** Move the focus between the cells of a table with the arrow keys, Home and End. @param {KeyboardEvent} event
 * @param {HTMLElement[]} cells in reading order @param {number} width cells in a row */
export function moveFocus(event, cells, width) {
  const at = cells.findIndex((cell) => cell.matches(":focus"));
  const last = cells.length - 1;
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width, Home: -at, End: last - at };
  const step = steps[/** @type {keyof typeof steps} */ (event.key)];
  if (step === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  cells[at + step]?.focus();
}

/** Work that runs once no call of postpone() has come for a while. */
export class Debounced {
  /** @param {() => void} work @param {number} milliseconds */
  constructor(work, milliseconds) {
    this.work = work;
    this.milliseconds = milliseconds;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** Whether the work is still to be done. */
  get waiting() {
    return this.timer !== undefined;
  }

  postpone() {
    this.cancel();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.work();
    }, this.milliseconds);
  }

  cancel() {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
