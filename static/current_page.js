/** The page that the browser shows: is it still the one that speaks, and at which parameters is it left?
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

/** The parameters of the address, which is then spelled as Python spells it. On the way to another page, Streamlit
 * makes another entry in the history for this one, unless the server knows this address letter by letter. */
export function parameters() {
  const part = (/** @type {string} */ text) =>
    encodeURIComponent(text)
      .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
      .replace(/%20/g, "+");
  const here = [...new URLSearchParams(location.search)].map((pair) => pair.map(part).join("=")).join("&");
  history.replaceState(history.state, "", location.pathname + (here && `?${here}`) + location.hash);
  return here;
}
