/** Writes into the address how far the run on the page has been trained, without an entry in the browser's history.
 * After a reload, the page trains the run again up to there. */

import { isCurrentPage } from "../current_page.js";

/** @import { Component } from "../types.js" */

/** @param {Component<HTMLElement>} component its data: the value of the parameter, or nothing */
export function show({ data }) {
  const reached = new TextDecoder().decode(data);
  const address = new URL(location.href);
  if (!isCurrentPage() || (address.searchParams.get("trained") ?? "") === reached) return;
  if (reached) address.searchParams.set("trained", reached);
  else address.searchParams.delete("trained");
  history.replaceState(history.state, "", address);
}
