/** The channel from the charts to the page. Charts lie in a fragment that is run again and again while a network
 * trains, and Streamlit answers at once only to a component outside of it. So the charts announce what the learner
 * does, and a teller outside tells the page. */

import { Debounced } from "../player/dom.js";

/** @import { Place } from "../mount.js" */

const CLICK_MS = 120; // without another click, before the page is told
const REST_MS = 80; // for which the pointer rests on a tile before the page is told

const channel = new EventTarget();

/** Announce a chosen "epoch", a "point" on a plane, the "unit" that is pointed at (null: none), a "change" of the
 * network, or a unit to "open". @param {string} kind @param {unknown} detail */
export function announce(kind, detail) {
  channel.dispatchEvent(new CustomEvent(kind, { detail }));
}

/** Return what tells the page of one kind of chart: "epoch", "points" or "network".
 * @param {Place} place @param {string} tells */
export function teller(place, tells) {
  const listening = new AbortController();
  const on = (/** @type {string} */ kind, /** @type {(detail: any) => void} */ listener) =>
    channel.addEventListener(kind, (event) => listener(/** @type {CustomEvent} */ (event).detail), {
      signal: listening.signal,
    });
  if (tells === "points") tellPoints(place, on);
  else if (tells === "epoch") on("epoch", (epoch) => place.tell("epoch", epoch));
  else tellNetwork(place, on);
  return { show() {}, remove: () => listening.abort() };
}

/** Tell the page of all points clicked since it was loaded, so that none is lost when answers overtake each other.
 * @param {Place} place @param {(kind: string, listener: (detail: any) => void) => void} on */
function tellPoints({ keep }, on) {
  const id = crypto.getRandomValues(new Uint32Array(1))[0];
  /** @type {number[][]} */
  const points = [];
  const telling = new Debounced(() => keep("clicks", { id, points: [...points] }), CLICK_MS);
  on("point", (point) => {
    points.push(point);
    telling.postpone();
  });
}

/** Tell the page which unit is pointed at, which change of the network was asked for, and which unit, by its column and
 * row, is to be followed through a backward pass.
 * @param {Place} place @param {(kind: string, listener: (detail: any) => void) => void} on */
function tellNetwork({ keep, tell }, on) {
  /** @type {string | null} */
  let sent = null;
  /** @type {string | null} */
  let unit = null;
  const resting = new Debounced(() => {
    if (unit !== sent) keep("unit", (sent = unit));
  }, REST_MS);
  on("unit", (pointed) => {
    unit = pointed;
    resting.postpone();
  });
  on("change", (change) => tell("change", change));
  on("open", (place) => tell("open", place));
}
