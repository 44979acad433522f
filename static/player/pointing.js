/** Links the cards of a player with the lines of a program in an editor elsewhere on the page (static/program/).
 *
 * The player sends SHOWN when its event changes and POINTED when the pointer or the focus is on a card; the editor
 * sends LINE for the line under the pointer or the cursor. */

/** @import { Graph } from "./graph.js" */
/** @import { Frame, TraceStates } from "./states.js" */
/** @typedef {{states: TraceStates, frame: Frame, element: Element}} Shown the detail of SHOWN */
/** @typedef {{states: TraceStates, node: number | null}} Pointed the detail of POINTED */

export const SHOWN = "tensor-ops-lab-shown";
export const POINTED = "tensor-ops-lab-pointed";
export const LINE = "tensor-ops-lab-line";

export class Pointing {
  /** @param {Graph} graph */
  constructor(graph) {
    this.graph = graph;
    /** @type {TraceStates | null} */
    this.states = null;
    const here = (/** @type {Event} */ event) => this.point(/** @type {Element} */ (event.target).closest(".card"));
    const gone = () => this.point(null);
    const kinds = { pointerover: here, focusin: here, pointerleave: gone, focusout: gone };
    for (const [kind, listener] of Object.entries(kinds)) graph.svg.addEventListener(kind, listener);
    this.listener = (/** @type {Event} */ event) =>
      this.light(/** @type {CustomEvent<number | null>} */ (event).detail);
    addEventListener(LINE, this.listener);
  }

  /** @param {TraceStates} states @param {Frame} frame */
  show(states, frame) {
    this.states = states;
    dispatchEvent(new CustomEvent(SHOWN, { detail: { states, frame, element: this.graph.element } }));
  }

  /** Tell the editor which card is pointed at. @param {Element | null} card */
  point(card) {
    const node = this.graph.drawing?.cards.find(({ element }) => element === card)?.node ?? null;
    if (this.states) dispatchEvent(new CustomEvent(POINTED, { detail: { states: this.states, node } }));
  }

  /** Mark the cards of the operations in a line, and no others. @param {number | null} line */
  light(line) {
    const nodes = new Set(line === null || !this.states ? [] : nodesOf(this.states, line));
    for (const { element, node } of this.graph.drawing?.cards ?? [])
      element.classList.toggle("pointed", nodes.has(node));
  }

  destroy() {
    removeEventListener(LINE, this.listener);
  }
}

/** Return the operations that a line of the program computed. @param {TraceStates} states @param {number} line */
function nodesOf(states, line) {
  return states.events.flatMap((event) => (event.kind === "forward" && event.line === line ? [event.node] : []));
}
