/** The page that the browser shows.
 *
 * Streamlit sends a component's message together with the page that it computed last. After the browser's Back, that is
 * the page the learner has left, until the next one arrives: a message sent meanwhile would take the learner back. */

/** @type {string | undefined} path of the page that the server computed last */
let latest;

/** Record that the server has computed a page. @param {string} path */
export function setComputedPage(path) {
  latest = path;
}

/** Return whether the browser shows a page. @param {string | undefined} path its path; by default the last computed */
export function isCurrentPage(path = latest) {
  return path === undefined || new URL(path || ".", document.baseURI).pathname === location.pathname;
}
