/** Makes the history of a page what a reader of the web expects: one entry for a page or a followed link. It begins
 * with the document, before Streamlit writes to the address: lab/ui/server.py.
 *
 * Streamlit adds an entry for each value that the server sets, and several when the learner opens another page. Here a
 * link is opened in the way the browser's Back is: with the address alone, which then has all values of the page. */

const ENTRY = "entry"; // the parameter that numbers the entries of a page: lab/ui/binding.py
const LEFT = "~"; // added to the number of an entry that is left, which the server takes for the present one until then
const MAIN = "[data-testid=stMain]";
const SHARED = ["set", "name", "embed", "embed_options"]; // parameters of all pages
const SAVED = "address of "; // in the session storage: the parameters with which a page was left

/** Start. */
export function follow() {
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  history.pushState = (state, title, url) => {
    const to = new URL(url ?? "", location.href);
    if (to.pathname === location.pathname) {
      const here = new URL(location.href);
      const number = here.searchParams.get(ENTRY) ?? "";
      const isStep = parseInt(to.searchParams.get(ENTRY) ?? "0") > (parseInt(number) || 0);
      if (!isStep && number) to.searchParams.set(ENTRY, number);
      if (!isStep) return history.replaceState(state, title, to);
      here.searchParams.set(ENTRY, number + LEFT);
      replace(history.state, "", here);
    }
    push(state, title, to);
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
  const { ctrlKey, metaKey, shiftKey, button } = event;
  if (!link || link.role === "option" || link.target || link.download) return;
  if (ctrlKey || metaKey || shiftKey || button) return; // the browser opens a window
  const here = new URL(".", document.baseURI);
  const asked = link.getAttribute("href") ?? "#";
  const to = new URL(asked.startsWith("?") ? `.${asked}` : asked, here);
  const page = to.pathname.slice(here.pathname.length);
  if (to.origin !== here.origin || asked.startsWith("#") || !/^[\w-]*$/.test(page)) return;
  event.preventDefault();
  event.stopPropagation();
  // The menu has not heard of the click, and would stay open; on a phone it covers the page.
  if (!link.closest(MAIN)) link.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  const close = link.closest("[data-testid=stSidebar]")?.querySelector("[data-testid=stSidebarCollapseButton] button");
  if (close instanceof HTMLElement) close.click();
  open(to);
}

/** Show an address of the lab; without parameters, the page as it was left. @param {URL} to */
export function open(to) {
  save();
  if (!to.search) to.search = sessionStorage.getItem(SAVED + to.pathname) ?? "";
  else if (to.pathname === location.pathname) {
    const number = parseInt(new URL(location.href).searchParams.get(ENTRY) ?? "0") || 0;
    to.searchParams.set(ENTRY, String(number + 1));
  }
  const here = new URL(location.href);
  for (const name of SHARED) {
    const text = here.searchParams.get(name);
    if (text !== null && !to.searchParams.has(name)) to.searchParams.set(name, text);
  }
  if (to.href === here.href) return;
  if (to.pathname === here.pathname) document.querySelector(MAIN)?.scrollTo({ top: 0 });
  history.pushState({}, "", to);
  dispatchEvent(new PopStateEvent("popstate", { state: {} })); // Streamlit then reads the address
}
