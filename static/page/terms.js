/** Lets Escape close the explanation of a term, until the pointer or the focus comes to the term again. */

const OPEN = ".term:is(:hover, :focus), .term:has(+ .definition:hover)";

/** Close the open explanation on Escape. @param {KeyboardEvent} event */
export function close({ key }) {
  if (key === "Escape") for (const term of document.querySelectorAll(OPEN)) term.classList.add("closed");
}

/** Let the explanation open again. @param {Event} event */
export function reopen({ target }) {
  if (target instanceof Element) target.closest(".term")?.classList.remove("closed");
}
