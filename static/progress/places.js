/** Places on a page that show the learner's progress, painted again when it changes in this or another window. */

import { isCurrentPage, parameters } from "../current_page.js";
import { h } from "../player/dom.js";
import { CHANGED } from "./progress.js";

/** @import { Component } from "../types.js" */

/** What one place shows. `go` tells the page which achievement the learner has chosen.
 * @typedef {{paint: () => void, go: (key: string) => void}} Drawn */

/** Return the `show` of all places that show the same kind of list. It paints a place with the fields in the data.
 * Streamlit also calls what it returns when a newer run replaces a call, so that drops only a place that has left the
 * page. @param {(root: ShadowRoot) => Drawn} make */
export function places(make) {
  /** @type {Map<ShadowRoot, Drawn>} */
  const drawn = new Map();
  for (const change of [CHANGED, "storage"]) addEventListener(change, () => drawn.forEach((one) => one.paint()));
  return (/** @type {Component<ShadowRoot>} */ { data, parentElement: root, setTriggerValue }) => {
    const one = drawn.get(root) ?? make(root);
    drawn.set(root, one);
    const go = (/** @type {string} */ key) => isCurrentPage() && setTriggerValue("go", { key, here: parameters() });
    Object.assign(one, JSON.parse(new TextDecoder().decode(data)), { go });
    one.paint();
    return () => {
      if (!root.isConnected) drawn.delete(root);
    };
  };
}

/** Return a link to the page of an achievement. A plain click stays in this window and session: it calls `go` instead.
 * @param {string} href address from the lab's root @param {() => void} go @param {...(Node | string)} content */
export function achievementLink(href, go, ...content) {
  const onclick = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    go();
    if (link.pathname === location.pathname) document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0 });
  };
  const link = h("a", { href: new URL(href || ".", document.baseURI).href, onclick }, ...content);
  return link;
}
