/** Links the cards of a player with the lines of a program in an editor elsewhere on the page (static/program/).
 *
 * The player sends SHOWN when its event changes and POINTED when the pointer or the focus is on a card; the editor
 * sends LINE for the line under the pointer or the cursor. */

/** @import { Graph } from "./graph.js" */
/** @import { Frame, Playback } from "./playback.js" */
/** @typedef {{playback: Playback, frame: Frame, element: Element}} Shown the detail of SHOWN */
/** @typedef {{playback: Playback, node: number | null}} Pointed the detail of POINTED */

export const SHOWN = "tensor-ops-lab-shown";
export const POINTED = "tensor-ops-lab-pointed";
export const LINE = "tensor-ops-lab-line";

export class Pointing {
  /** @param {Graph} graph */
  constructor(graph) {
    this.graph = graph;
    /** @type {Playback | null} */
    this.playback = null;
    const here = (/** @type {Event} */ event) => this.point(/** @type {Element} */ (event.target).closest(".card"));
    const gone = () => this.point(null);
    const kinds = { pointerover: here, focusin: here, pointerleave: gone, focusout: gone };
    for (const [kind, listener] of Object.entries(kinds)) graph.svg.addEventListener(kind, listener);
    this.listener = (/** @type {Event} */ event) =>
      this.light(/** @type {CustomEvent<number | null>} */ (event).detail);
    addEventListener(LINE, this.listener);
  }

  /** @param {Playback} playback @param {Frame} frame */
  show(playback, frame) {
    this.playback = playback;
    dispatchEvent(new CustomEvent(SHOWN, { detail: { playback, frame, element: this.graph.element } }));
  }

  /** Tell the editor which card is pointed at. @param {Element | null} card */
  point(card) {
    const node = this.graph.drawing?.cards.find(({ element }) => element === card)?.node ?? null;
    if (this.playback) dispatchEvent(new CustomEvent(POINTED, { detail: { playback: this.playback, node } }));
  }

  /** Mark the cards of the operations in a line, and no others. @param {number | null} line */
  light(line) {
    const nodes = new Set(line === null || !this.playback ? [] : nodesOf(this.playback, line));
    for (const { element, node } of this.graph.drawing?.cards ?? [])
      element.classList.toggle("pointed", nodes.has(node));
  }

  destroy() {
    removeEventListener(LINE, this.listener);
  }
}

/** Return the operations that a line of the program computed. @param {Playback} playback @param {number} line */
function nodesOf(playback, line) {
  return playback.events.flatMap((event) => (event.kind === "forward" && event.line === line ? [event.node] : []));
}
