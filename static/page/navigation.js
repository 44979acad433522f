/** Makes the history of a page what a reader of the web expects: one entry for a page or a followed link.
 *
 * Streamlit adds an entry for each value that the server sets, and several when the learner opens another page. Here a
 * link is opened in the way the browser's Back is: with the address alone, which then has all values of the page. */

const ENTRY = "entry"; // the parameter that lab/ui/binding.py changes for an entry of its own
const SAVED = "address of "; // in the session storage: the parameters with which a page was left

let native = false; // whether the present page keeps its state in Streamlit's way
let entries = 0; // links followed within a page
let installed = false;
/** @type {History["pushState"]} */
let push;
/** @type {History["replaceState"]} */
let replace;

/** Start, or go on with another page. @param {boolean} keepsState whether Streamlit keeps the page's state */
export function follow(keepsState) {
  native = keepsState;
  if (installed) return;
  installed = true;
  push = history.pushState.bind(history);
  replace = history.replaceState.bind(history);
  history.pushState = (state, title, url) => {
    const to = new URL(url ?? "", location.href);
    const isStep = to.searchParams.get(ENTRY) !== new URL(location.href).searchParams.get(ENTRY);
    if (native && to.pathname === location.pathname && !isStep) replace(state, title, to);
    else push(state, title, to);
    save();
  };
  history.replaceState = (state, title, url) => {
    replace(state, title, url);
    save();
  };
  addEventListener("click", followLink, { capture: true });
}

/** Remember the parameters of this page, to come back to it as it was left. */
function save() {
  sessionStorage.setItem(SAVED + location.pathname, location.search);
}

/** Open a link to a page of the lab. @param {MouseEvent} event */
function followLink(event) {
  const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
  if (!link || link.target || link.download || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const here = new URL(".", document.baseURI);
  const asked = link.getAttribute("href") ?? "#";
  const to = new URL(asked.startsWith("?") ? `.${asked}` : asked, here);
  const page = to.pathname.slice(here.pathname.length);
  if (to.origin !== here.origin || asked.startsWith("#") || !/^[\w-]*$/.test(page)) return;
  event.preventDefault();
  event.stopPropagation();
  open(to);
}

/** Show an address of the lab; without parameters, the page as it was left. @param {URL} to */
function open(to) {
  save();
  if (!to.search) to.search = sessionStorage.getItem(SAVED + to.pathname) ?? "";
  else if (to.pathname === location.pathname) to.searchParams.set(ENTRY, `link${++entries}`);
  if (to.href === location.href) return;
  push({}, "", to);
  dispatchEvent(new PopStateEvent("popstate", { state: {} })); // Streamlit then reads the address
}
