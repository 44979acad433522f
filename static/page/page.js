/** What every page listens to: a change of the theme, the keys of a projected page, Escape in an explanation and Enter
 * in an expression. */

import { setComputedPage } from "../current_page.js";
import { press } from "./enter.js";
import { Projector } from "./project.js";
import { close, reopen } from "./terms.js";
import { watch } from "./theme.js";

/** @import { Place } from "../mount.js" */

/** @param {Place} place */
export function listen({ tell }) {
  const listening = new AbortController();
  const { signal } = listening;
  const projector = new Projector(signal);
  document.addEventListener("keydown", press, { capture: true, signal });
  document.addEventListener("keydown", close, { signal });
  document.addEventListener("pointerover", reopen, { signal });
  document.addEventListener("focusin", reopen, { signal });
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
