/** Sends the server engines that were finished on earlier days and are stored in this browser; the server checks them
 * again. Also sends the days on which tasks were passed, if the page asks for them. */

import { isCurrentPage } from "../current_page.js";
import { tasksDone } from "../progress/progress.js";
import { Draft } from "./draft.js";

/** @import { Component, ShownEngines } from "../types.js" */

/** @type {WeakMap<ShadowRoot, string>} root of each component -> the days that it has sent */
const sentDays = new WeakMap();

/** Send what the data ask for. @param {Component<ShadowRoot>} component */
export function show({ data, parentElement: root, setStateValue, setTriggerValue }) {
  /** @type {ShownEngines} */
  const shown = JSON.parse(new TextDecoder().decode(data));
  if (!isCurrentPage(shown.path)) return;
  const days = tasksDone();
  const texts = shown.courses.flatMap(({ key, last, tasks }) => {
    const text = days[`${key}/${last}`] ? new Draft(key).finished(tasks) : null;
    return text === null ? [] : [[key, text]];
  });
  // The server asks for each engine once. If a link needs one, an empty answer says that there is none.
  if (texts.length || shown.wanted) setTriggerValue("back", Object.fromEntries(texts));
  if (!shown.asksForDays) sentDays.delete(root); // another page is open, and the server has forgotten the days
  const text = JSON.stringify(days);
  if (!shown.asksForDays || sentDays.get(root) === text) return;
  sentDays.set(root, text);
  setStateValue("days", text);
}
