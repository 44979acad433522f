/** The tasks of a ladder in a row: which are passed, as this browser's progress says, and which is shown. */

import { stays } from "../here.js";
import { h } from "../player/dom.js";
import { CHANGED, tasksDone } from "../progress/progress.js";

/** @import { Component, ShownTasks } from "../types.js" */

/** @typedef {{shown: ShownTasks, go: (key: string) => void}} Row */
/** @type {Map<ShadowRoot, Row>} */
const rows = new Map();
for (const change of [CHANGED, "storage"])
  addEventListener(change, () => rows.forEach((row, root) => paint(root, row)));

/** @param {Component<ShadowRoot>} component */
export function show({ data, parentElement, setTriggerValue }) {
  const shown = JSON.parse(new TextDecoder().decode(data));
  const row = { shown, go: (/** @type {string} */ key) => void (stays() && setTriggerValue("go", key)) };
  rows.set(parentElement, row);
  paint(parentElement, row);
}

/** @param {ShadowRoot} root */
export function remove(root) {
  if (!root.isConnected) rows.delete(root);
}

/** @param {ShadowRoot} root @param {Row} row */
function paint(root, { shown, go }) {
  const done = tasksDone();
  const items = shown.tasks.map(({ key, title }, at) => {
    const day = done[`${shown.ladder}/${key}`];
    const name = h("span", { class: "name" }, title, ...(day ? [h("span", { class: "unseen" }, ", passed")] : []));
    const sign = h("span", { class: "sign", "aria-hidden": true }, day ? "✓" : String(at + 1));
    const button = h("button", { type: "button", title: day ? `${title}: passed on ${day}` : title }, sign, name);
    button.onclick = () => go(key);
    if (key === shown.now) button.setAttribute("aria-current", "step");
    return h("li", { class: day ? "passed" : "" }, button);
  });
  const list = root.querySelector("ol") ?? root.appendChild(h("ol", { "aria-label": shown.label }));
  const focused = [...list.querySelectorAll("button")].indexOf(/** @type {HTMLButtonElement} */ (root.activeElement));
  list.replaceChildren(...items);
  if (focused >= 0) list.querySelectorAll("button")[focused]?.focus();
}
