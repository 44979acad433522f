/** Mounts the lab's apps into Streamlit's components: loads the style, decodes the data, draws again when the theme or
 * the size has changed, tells the page what the learner does, and removes an app that has left the page. An app is then
 * what it draws and what it tells. */

import { isCurrentPage } from "./current_page.js";

/** @import { Component } from "./types.js" */

/** @typedef {ShadowRoot | HTMLElement} Root */

/** @typedef {object} App what one place on the page shows
 * @property {Element} [element] appended to the place
 * @property {(data: any) => void} show takes new data
 * @property {() => void} [draw] draws again: called after `show`, and when the theme has changed
 * @property {() => void} [resize] fits what is drawn to another size of the element
 * @property {() => void} [remove] ends what goes on outside the element */

/** @typedef {object} Place what an app has from its place
 * @property {Root} root
 * @property {(name: string, value: unknown) => void} tell sends the page an event, once
 * @property {(name: string, value: unknown) => void} keep sends the page a value that it keeps */

/** Event: the page has other colours. */
export const THEME = "tensor-ops-lab-theme";

/** Return the function that Streamlit calls with each run of the page, for all places that show the same kind of app.
 * Streamlit calls what this returns also when a newer run replaces a call, so that removes only what has left the page.
 * @param {(place: Place, data: any) => App} make makes the app; `show` gets the same data next
 * @param {URL} [style] a style sheet @param {string[]} [events] of the window, after which an app is drawn again, too
 * @returns {(component: Component<any>) => () => void} */
export function mount(make, style, events = []) {
  /** @type {Map<Root, Mounted>} */
  const all = new Map();
  return (component) => {
    const root = component.parentElement;
    const mounted = all.get(root) ?? new Mounted(make, root, style, [THEME, ...events]);
    all.set(root, mounted);
    mounted.take(component);
    return () => {
      if (root.isConnected) return;
      mounted.remove();
      all.delete(root);
    };
  };
}

/** An app in its place. It waits for its style. */
class Mounted {
  /** @param {(place: Place, data: any) => App} make @param {Root} root @param {URL | undefined} style
   * @param {string[]} events */
  constructor(make, root, style, events) {
    this.make = make;
    this.events = events;
    /** @type {Component<any> | null} of the latest run, which brings new functions; null once it is removed */
    this.component = null;
    /** @type {string | null} the data that are shown */
    this.text = null;
    /** @type {App | null} */
    this.app = null;
    this.draw = () => this.app?.draw?.();
    this.sizes = new ResizeObserver(() => this.app?.resize?.());
    /** @type {Place} */
    this.place = {
      root,
      tell: (name, value) => this.send("setTriggerValue", name, value),
      keep: (name, value) => this.send("setStateValue", name, value),
    };
    this.styled = false;
    const begin = () => {
      this.styled = true;
      if (this.component) this.take(this.component);
    };
    adopt(root, style).then(begin, begin); // without a style rather than not at all
  }

  /** Show the data of a run, unless they are shown already. @param {Component<any>} component */
  take(component) {
    this.component = component;
    const text = component.data ? new TextDecoder().decode(component.data) : "{}";
    if (!this.styled || text === this.text) return;
    this.text = text;
    const data = JSON.parse(text);
    this.app ??= this.begin(data);
    this.app.show(data);
    this.draw();
  }

  /** Make the app. @param {any} data */
  begin(data) {
    const app = this.make(this.place, data);
    const { element } = app;
    if (element && element.parentNode !== this.place.root) this.place.root.append(element);
    if (element && app.resize) this.sizes.observe(element);
    for (const event of this.events) addEventListener(event, this.draw);
    return app;
  }

  /** @param {"setTriggerValue" | "setStateValue"} how @param {string} name @param {unknown} value */
  send(how, name, value) {
    if (isCurrentPage()) this.component?.[how](name, value);
  }

  remove() {
    this.component = null;
    this.sizes.disconnect();
    for (const event of this.events) removeEventListener(event, this.draw);
    this.app?.remove?.();
    this.app?.element?.remove();
  }
}

/** @type {Map<string, Promise<CSSStyleSheet>>} */
const sheets = new Map();

/** Give a place its style sheet. @param {Root} root @param {URL | undefined} style */
async function adopt(root, style) {
  if (!style) return;
  const loading =
    sheets.get(style.href) ?? fetch(style).then(async (file) => new CSSStyleSheet().replace(await file.text()));
  sheets.set(style.href, loading);
  const sheet = await loading;
  const tree = /** @type {Document | ShadowRoot} */ (root.getRootNode());
  if (tree.adoptedStyleSheets && !tree.adoptedStyleSheets.includes(sheet)) tree.adoptedStyleSheets.push(sheet);
}
