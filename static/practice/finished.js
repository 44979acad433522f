/** Sends the server engines that were finished on earlier days and are stored in this browser; the server checks them
 * again. */

import { isCurrentPage } from "../current_page.js";
import { tasksDone } from "../progress/progress.js";
import { Draft } from "./draft.js";

/** @import { Component, ShownEngines } from "../types.js" */

/** Send what the data ask for. @param {Component<ShadowRoot>} component */
export function show({ data, setTriggerValue }) {
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
}
