/** Engines that were built on other days: their texts are in this browser, and another check brings them back. The days
 * on which tasks were passed go to the server, for the page to keep. */

import { stays } from "../here.js";
import { h } from "../player/dom.js";
import { tasksDone } from "../progress/progress.js";
import { Kept } from "./kept.js";

/** @import { Component, ShownEngines } from "../types.js" */

/** @type {WeakMap<ShadowRoot, string>} what each place on a page has told of the days */
const told = new WeakMap();

/** @param {Component<ShadowRoot>} component */
export function show({ data, parentElement: root, setStateValue, setTriggerValue }) {
  /** @type {ShownEngines} */
  const shown = JSON.parse(new TextDecoder().decode(data));
  const days = tasksDone();
  const buttons = shown.ladders.flatMap(({ key, title, last }) => {
    const day = days[`${key}/${last}`];
    const text = new Kept(localStorage, key).text();
    if (!day || text === null) return [];
    const back = () => stays() && setTriggerValue("back", { ladder: key, text });
    return [h("button", { type: "button", onclick: back }, `Bring back: ${title}, passed on ${day}`)];
  });
  const place = root.querySelector(".own") ?? root.appendChild(h("div", { class: "own" }));
  place.replaceChildren(...buttons);
  const said = JSON.stringify(days);
  if (!shown.asksForDays || told.get(root) === said || !stays()) return;
  told.set(root, said);
  setStateValue("days", said);
}
