/** The page that the browser shows, and its parameters.
 *
 * Streamlit sends a component's message together with the page that it computed last. After the browser's Back, that is
 * the page the learner has left, until the next one arrives: a message sent meanwhile would take the learner back. */

/** @type {string | undefined} path of the page that the server computed last */
let latest;

/** Record that the server has computed a page. @param {string} path */
export function setComputedPage(path) {
  latest = path;
}

/** Tell whether the browser shows a page. @param {string | undefined} path its path; by default the last computed */
export function isCurrentPage(path = latest) {
  return path === undefined || new URL(path || ".", document.baseURI).pathname === location.pathname;
}

/** Rewrite the address with Python's percent-encoding and return its parameters. When the learner goes to another page,
 * Streamlit adds a second history entry for this one unless the server knows its address character for character. */
export function parameters() {
  const part = (/** @type {string} */ text) =>
    encodeURIComponent(text)
      .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
      .replace(/%20/g, "+");
  const here = [...new URLSearchParams(location.search)].map((pair) => pair.map(part).join("=")).join("&");
  history.replaceState(history.state, "", location.pathname + (here && `?${here}`) + location.hash);
  return here;
}
