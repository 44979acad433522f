/** Engines that were built on other days: their texts are in this browser, and the server checks them again. The days
 * on which tasks were passed go to the server, for the page to keep. */

import { stays } from "../here.js";
import { tasksDone } from "../progress/progress.js";
import { Kept } from "./kept.js";

/** @import { Component, ShownEngines } from "../types.js" */

/** @type {WeakMap<ShadowRoot, string>} what each place on a page has told of the days */
const told = new WeakMap();

/** @param {Component<ShadowRoot>} component */
export function show({ data, parentElement: root, setStateValue, setTriggerValue }) {
  /** @type {ShownEngines} */
  const shown = JSON.parse(new TextDecoder().decode(data));
  if (!stays(shown.path)) return;
  const days = tasksDone();
  const texts = shown.courses.flatMap(({ key, last, tasks }) => {
    const text = days[`${key}/${last}`] ? new Kept(key).finished(tasks) : null;
    return text === null ? [] : [[key, text]];
  });
  // The server asks for each of them once; where a link wants one, it is told that there is none.
  if (texts.length || shown.wanted) setTriggerValue("back", Object.fromEntries(texts));
  if (!shown.asksForDays) told.delete(root); // on another page, and the server forgets
  const said = JSON.stringify(days);
  if (!shown.asksForDays || told.get(root) === said) return;
  told.set(root, said);
  setStateValue("days", said);
}
