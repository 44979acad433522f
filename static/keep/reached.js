/** Writes into the address how far the run on the page has been trained, without an entry in the browser's history.
 * After a reload, the page trains the run again up to there. */

import { isCurrentPage } from "../current_page.js";

const MIN_GAP_MS = 500; // browsers reject writes that are more frequent
let latest = "";
let lastWrite = -MIN_GAP_MS; // its time, as performance.now() gives it
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Write the parameter `trained`, now or soon; "" removes it. @param {string} reached */
export function writeReached(reached) {
  latest = reached;
  clearTimeout(timer);
  timer = setTimeout(write, Math.max(0, lastWrite + MIN_GAP_MS - performance.now()));
}

function write() {
  const address = new URL(location.href);
  if (!isCurrentPage() || (address.searchParams.get("trained") ?? "") === latest) return;
  if (latest) address.searchParams.set("trained", latest);
  else address.searchParams.delete("trained");
  lastWrite = performance.now();
  history.replaceState(history.state, "", address);
}
