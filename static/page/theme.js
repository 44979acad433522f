/** Tells when the learner has changed the theme: charts and drawings are made for one theme. */

import { THEME } from "../mount.js";

/** Watch the theme. @param {(colour: string) => void} changed called with the page's new background colour */
export function watch(changed) {
  const app = document.querySelector("[data-testid=stApp]");
  const colour = () => (app ? getComputedStyle(app).backgroundColor : "");
  let paper = colour();
  const changes = new MutationObserver(() => {
    if (colour() === paper) return;
    paper = colour();
    dispatchEvent(new Event(THEME));
    changed(paper);
  });
  if (app) changes.observe(app, { attributeFilter: ["class"] }); // Streamlit's styles are classes
  return changes;
}
