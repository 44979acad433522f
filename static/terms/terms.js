/** The Escape key closes what explains a word, until the pointer or the focus comes to the word again. */

const OPEN = ".term:is(:hover, :focus), .term:has(+ .definition:hover)";

/** @param {KeyboardEvent} event */
function close({ key }) {
  if (key === "Escape") for (const term of document.querySelectorAll(OPEN)) term.classList.add("closed");
}

/** @param {Event} event */
function reopen({ target }) {
  if (target instanceof Element) target.closest(".term")?.classList.remove("closed");
}

/** Called with each run of a page: a listener that is there is not added twice. */
export function listen() {
  document.addEventListener("keydown", close);
  document.addEventListener("pointerover", reopen);
  document.addEventListener("focusin", reopen);
  document.documentElement.classList.add("closable");
}
