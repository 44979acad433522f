/** Engines that were built on other days: their texts are in this browser, and the server checks them again. The days
 * on which tasks were passed go to the server, for the page to keep. */

import { stays } from "../current_page.js";
import { tasksDone } from "../progress/progress.js";
import { Draft } from "./draft.js";

/** @import { Component, ShownEngines } from "../types.js" */

/** @type {WeakMap<ShadowRoot, string>} the days that each place on a page has sent */
const sentDays = new WeakMap();

/** @param {Component<ShadowRoot>} component */
export function show({ data, parentElement: root, setStateValue, setTriggerValue }) {
  /** @type {ShownEngines} */
  const shown = JSON.parse(new TextDecoder().decode(data));
  if (!stays(shown.path)) return;
  const days = tasksDone();
  const texts = shown.courses.flatMap(({ key, last, tasks }) => {
    const text = days[`${key}/${last}`] ? new Draft(key).finished(tasks) : null;
    return text === null ? [] : [[key, text]];
  });
  // The server asks for each of them once; where a link wants one, it is told that there is none.
  if (texts.length || shown.wanted) setTriggerValue("back", Object.fromEntries(texts));
  if (!shown.asksForDays) sentDays.delete(root); // on another page, and the server forgets
  const text = JSON.stringify(days);
  if (!shown.asksForDays || sentDays.get(root) === text) return;
  sentDays.set(root, text);
  setStateValue("days", text);
}
