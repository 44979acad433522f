/** Places on a page that show the visitor's progress: painted again whenever it changes, here or in another window. */

import { parameters, stays } from "../current_page.js";
import { h } from "../player/dom.js";
import { CHANGED } from "./progress.js";

/** @import { Component } from "../types.js" */

/** What is drawn in one place. `go` tells the page what the visitor has chosen.
 * @typedef {{paint: () => void, go: (key: string) => void}} Drawn */

/** @template {Drawn} T */
export class Places {
  /** @param {(root: ShadowRoot) => T} make */
  constructor(make) {
    this.make = make;
    /** @type {Map<ShadowRoot, T>} */
    this.drawn = new Map();
    for (const change of [CHANGED, "storage"]) addEventListener(change, () => this.drawn.forEach((one) => one.paint()));
  }

  /** The page has been computed: what it shows now. Streamlit ends each call that a newer one has overtaken; what is
   * drawn ends only with its place on the page.
   * @param {Component<ShadowRoot>} component @param {Partial<T>} shown */
  show({ parentElement: root, setTriggerValue }, shown) {
    const one = this.drawn.get(root) ?? this.make(root);
    this.drawn.set(root, one);
    const go = (/** @type {string} */ key) => stays() && setTriggerValue("go", { key, here: parameters() });
    Object.assign(one, shown, { go });
    one.paint();
    return () => {
      if (!root.isConnected) this.drawn.delete(root);
    };
  }
}

/** A link to where something is to be done, on a page or at the top of this one. In this window the visit goes on: `go`
 * is called instead.
 * @param {string} href from the lab's root @param {() => void} go @param {...(Node | string)} content */
export function deedLink(href, go, ...content) {
  const onclick = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    go();
    if (link.pathname === location.pathname) document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0 });
  };
  const link = h("a", { href: new URL(href || ".", document.baseURI).href, onclick }, ...content);
  return link;
}
