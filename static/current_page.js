/** Does the browser still show the page that speaks?
 *
 * Streamlit sends what a component says together with the page that it has computed last. After the browser's Back that
 * is the page which was left, until the next one has come: a word said meanwhile would bring the visitor back to it. */

/** @type {string | undefined} the page that was computed last */
let latest;

/** A page has come from the server. @param {string} path */
export function computed(path) {
  latest = path;
}

/** @param {string | undefined} path of a page, in the address; that of the one computed last where it is not given */
export function stays(path = latest) {
  return path === undefined || new URL(path || ".", document.baseURI).pathname === location.pathname;
}
