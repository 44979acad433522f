/** Lets Escape close the explanation of a term, until the pointer or the focus comes to the term again. */

const OPEN = ".term:is(:hover, :focus), .term:has(+ .definition:hover)";

/** Close the open explanation on Escape. @param {KeyboardEvent} event */
function close({ key }) {
  if (key === "Escape") for (const term of document.querySelectorAll(OPEN)) term.classList.add("closed");
}

/** Let the explanation open again. @param {Event} event */
function reopen({ target }) {
  if (target instanceof Element) target.closest(".term")?.classList.remove("closed");
}

/** Start listening. Called with each run of a page; the browser does not add a listener twice. */
export function listen() {
  document.addEventListener("keydown", close);
  document.addEventListener("pointerover", reopen);
  document.addEventListener("focusin", reopen);
  document.documentElement.classList.add("closable");
}
