/** Making elements. Texts become text nodes, never markup: a label `<img>` stays a label. */

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element: `h("button", {class: "link", onclick: f}, "text", otherElement)`.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, unknown>} attributes @param {...(Node | string)} children */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for SVG.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, unknown>} attributes @param {...(Node | string)} children */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** @template {Element} Filled
 * @param {Filled} node @param {Record<string, unknown>} attributes @param {(Node | string)[]} children */
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") Object.assign(node, { [name]: value });
    else if (typeof value === "boolean" && !name.startsWith("aria-")) node.toggleAttribute(name, value);
    else if (value !== undefined && value !== null) node.setAttribute(name, String(value)); // aria: "true" or "false"
  }
  node.append(...children);
  return node;
}

/** Write a text only where it differs: most of a picture stays as it is from one event to the next.
 * @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** @param {Element} node @param {string} name @param {string} value */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** A button that selects a node. @param {string} text @param {() => void} onclick */
export function link(text, onclick, title = "") {
  return h("button", { type: "button", class: "link", onclick, title }, text);
}

/** A section with a heading. @param {string} title @param {string} name */
export function section(title, name) {
  const heading = h("h3", {}, title);
  const body = h("div", { class: "body" });
  return { element: h("section", { class: `panel ${name}`, "aria-label": title }, heading, body), heading, body };
}

/** Motion only for those who have not asked for less. */
export function mayMove() {
  return !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Until the next picture of the page is on the screen, with what was added so far: work that waits for it between its
 * parts does not hold the page up. A hidden page has none to wait for. @returns {Promise<void>} */
export function nextFrame() {
  return new Promise((resolve) => {
    const late = setTimeout(resolve, 100);
    requestAnimationFrame(() => {
      clearTimeout(late);
      setTimeout(resolve);
    });
  });
}

const REST = 100; // milliseconds

/** Work that waits until nothing has put it off for a while. The while begins with the next picture on the screen: else
 * on a slow machine, where each picture takes as long, the work would come between every two and make them slower. */
export class AtRest {
  /** @param {() => void} work */
  constructor(work) {
    this.work = work;
    this.frame = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  putOff() {
    this.cancel();
    this.frame = requestAnimationFrame(() => (this.timer = setTimeout(this.work, REST)));
  }

  cancel() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
  }
}
