/** Makes the history of a page what a reader of the web expects: one entry for a page or a followed link. It begins
 * with the document, before Streamlit writes to the address: lab/ui/server.py.
 *
 * Streamlit adds an entry for each value that the server sets, and several when the learner opens another page. Here a
 * link is opened in the way the browser's Back is: with the address alone, which then has all values of the page. */

const ENTRY = "entry"; // the parameter that numbers the entries of a page: lab/ui/binding.py
const LEFT = "~"; // added to the number of an entry that is left: until then the server takes it for the present one
const MAIN = "[data-testid=stMain]";
const TITLE = `${MAIN} h1`;
const HELPERS = "app/static/player/dom.js"; // what stands in the document can import nothing at its beginning
const SHARED = ["set", "name", "embed", "embed_options"]; // parameters of all pages
const SAVED = "address of "; // in the session storage: the parameters with which a page was left
const ASKED = "asked"; // the state of an entry that the learner has asked for
const LAB = "Tensor Ops Lab"; // the title of the window until the server has begun to compute the page

/** Start. The learner alone goes to another page, by a link or by Back and Forward. What the server wrote for the page
 * that is left may come after that. So until it has said the title of the page that the address names, which it does
 * first in each run, nothing is written. Streamlit has taken what was not written for the address, and reads it again.
 * @param {Record<string, string>} titles path of a page -> title of its window */
export function follow(titles) {
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  const due = () => titles[pathOf(location)];
  const isLate = () => due() !== undefined && due() !== document.title;
  let refused = false; // whether something was
  history.pushState = (state, title, url) => {
    const to = new URL(url ?? "", location.href);
    const leaves = to.pathname !== location.pathname;
    if (state !== ASKED && (leaves ? due() !== undefined : (refused ||= isLate()))) return;
    if (!leaves) {
      const here = new URL(location.href);
      const number = here.searchParams.get(ENTRY) ?? "";
      const steps = (parseInt(to.searchParams.get(ENTRY) ?? "") || 0) - (parseInt(number) || 0);
      if (steps < 0) to.searchParams.set(ENTRY, number);
      if (steps <= 0) return history.replaceState(state, title, to);
      here.searchParams.set(ENTRY, number + LEFT);
      replace(history.state, "", here);
    }
    push(state, title, to);
    save();
  };
  history.replaceState = (state, title, url) => {
    if ((refused ||= isLate())) return;
    replace(state, title, url);
    save();
  };
  addEventListener("popstate", () => {
    if (isLate()) document.title = LAB; // the present one may be that of a run which is to come
  });
  new MutationObserver(() => {
    if (!refused || isLate()) return;
    refused = false;
    readAddress();
  }).observe(document.head, { childList: true, subtree: true });
  addEventListener("click", followLink, { capture: true });
  addEventListener("keydown", project);
}

/** Project the page by F until project.js has been loaded, which then goes on. @param {KeyboardEvent} event */
function project({ key, ctrlKey, metaKey, altKey }) {
  const taken = ".project-bar, :is(input, select, textarea, [contenteditable=true]):focus";
  if (key !== "f" || ctrlKey || metaKey || altKey || document.querySelector(taken)) return;
  const page = document.documentElement;
  const full = page.classList.toggle("projecting") ? page.requestFullscreen() : document.exitFullscreen();
  full.catch(() => {}); // without full screen, too
}

/** Return the path of the page at an address. @param {{ pathname: string }} address */
function pathOf({ pathname }) {
  return pathname.slice(new URL(".", document.baseURI).pathname.length);
}

/** Let Streamlit read the address. */
function readAddress() {
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
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
  if (to.origin !== here.origin || asked.startsWith("#") || !/^[\w-]*$/.test(pathOf(to))) return;
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
  history.pushState(ASKED, "", to);
  readAddress();
  lead(to.pathname === here.pathname ? null : document.querySelector(TITLE));
}

/** Move the focus from a link to the title of its page. @param {Element | null} left the title of another page */
async function lead(left) {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  const { inheritFocus, pageTitle } = await import(new URL(HELPERS, document.baseURI).href);
  inheritFocus(() => (pageTitle() === left ? null : pageTitle()));
}
