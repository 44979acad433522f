/** What every page listens to: a change of the theme, the keys of a projected page, Escape in an explanation, Enter in
 * an expression and, on a phone, a press on the button that asks for an answer. */

import { setComputedPage } from "../current_page.js";
import { mayMove, PHONE_WIDTH } from "../player/dom.js";
import { press } from "./enter.js";
import { PICTURE, Projector, QUESTION } from "./project.js";
import { close, reopen } from "./terms.js";
import { watch } from "./theme.js";

/** @import { Place } from "../mount.js" */

const IN_ROW = "> [data-testid=stElementContainer]";
const PRIMARY = "[data-testid^=stBaseButton-primary]";
/** Buttons with their answer below them: primary ones, those in a row with one, and a player's. */
const ASKING = `${PRIMARY}, [data-testid=stHorizontalBlock]:has(${IN_ROW} ${PRIMARY}) ${IN_ROW} button, .run`;
const OPEN_QUESTION = `${QUESTION}:not(:has(:checked, [aria-checked=true]))`;

/** @param {Place} place */
export function listen({ tell }) {
  const listening = new AbortController();
  const { signal } = listening;
  const projector = new Projector(signal);
  document.addEventListener("keydown", press, { capture: true, signal });
  document.addEventListener("keydown", close, { signal });
  document.addEventListener("pointerover", reopen, { signal });
  document.addEventListener("focusin", reopen, { signal });
  document.addEventListener("click", makeRoom, { signal });
  document.documentElement.classList.add("closable");
  const theme = watch((colour) => tell("theme", colour));
  return {
    element: projector.bar,
    show(/** @type {{path: string}} */ { path }) {
      setComputedPage(path);
    },
    remove() {
      listening.abort();
      theme.disconnect();
    },
  };
}

/** On a phone, move a pressed button from the lower part of the window to its top, so that its answer is in the window;
 * a step that waits for a guess moves the question instead. @param {Event} event */
function makeRoom(event) {
  const button = /** @type {Element} */ (event.composedPath()[0]).closest(ASKING);
  if (!button || innerWidth > PHONE_WIDTH) return;
  const behavior = mayMove() ? "smooth" : "instant";
  const question = button.matches(PRIMARY) && button.closest(PICTURE)?.querySelector(OPEN_QUESTION);
  if (question) question.scrollIntoView({ behavior, block: "center" });
  else if (button.getBoundingClientRect().top > innerHeight / 3) button.scrollIntoView({ behavior });
}
