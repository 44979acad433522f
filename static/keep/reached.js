/** Writes into the address how far the run on the page has been trained, without an entry in the browser's history.
 * After a reload, the page trains the run again up to there. */

import { isCurrentPage } from "../current_page.js";
import { Debounced } from "../player/dom.js";

const DELAY_MS = 250; // in which the address of a new run gets an entry of its own
let latest = "";
const writing = new Debounced(write, DELAY_MS);

/** Write the parameter soon. @param {string} reached "" leaves the address of an untrained run to the page */
export function writeReached(reached) {
  latest = reached;
  if (!writing.waiting) writing.postpone();
}

function write() {
  const address = new URL(location.href);
  if (!latest || !isCurrentPage() || address.searchParams.get("training-trained") === latest) return;
  address.searchParams.set("training-trained", latest);
  history.replaceState(history.state, "", address);
}
