/** When the visitor changes the theme, the page is computed again: its charts and drawings have the colours of one. */

/** @import { Component } from "../types.js" */

/** @type {Component<HTMLElement>["setTriggerValue"]} of the run that was last */
let tell;
let paper = ""; // the colour behind the page, as last seen
const changes = new MutationObserver(look);

/** Called with each run of a page: what is watched already is not watched twice.
 * @param {Component<HTMLElement>} component */
export function follow({ setTriggerValue }) {
  tell = setTriggerValue;
  paper ||= colour();
  const app = document.querySelector("[data-testid=stApp]");
  if (app) changes.observe(app, { attributeFilter: ["class"] }); // Streamlit's styles are classes
}

function look() {
  const now = colour();
  if (now === paper) return;
  paper = now;
  tell("changed", now);
}

function colour() {
  const app = document.querySelector("[data-testid=stApp]");
  return app ? getComputedStyle(app).backgroundColor : "";
}
