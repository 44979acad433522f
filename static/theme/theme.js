/** Runs the page again when the learner changes the theme: charts and drawings are made for one theme. */

/** @import { Component } from "../types.js" */

/** @type {Component<HTMLElement>["setTriggerValue"]} from the latest run */
let tell;
let paper = ""; // the page's background colour, as last seen
const changes = new MutationObserver(notifyIfChanged);

/** Watch the theme. Called with each run of a page; the browser does not observe an element twice.
 * @param {Component<HTMLElement>} component */
export function follow({ setTriggerValue }) {
  tell = setTriggerValue;
  paper ||= colour();
  const app = document.querySelector("[data-testid=stApp]");
  if (app) changes.observe(app, { attributeFilter: ["class"] }); // Streamlit's styles are classes
}

/** Tell the page if the theme has changed. */
function notifyIfChanged() {
  const now = colour();
  if (now === paper) return;
  paper = now;
  tell("changed", now);
}

/** Return the colour of the app's background. */
function colour() {
  const app = document.querySelector("[data-testid=stApp]");
  return app ? getComputedStyle(app).backgroundColor : "";
}
