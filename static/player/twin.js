/** Side by side: the right engine's pass in a second drawing, at the same event as another engine's. */

import { h } from "./dom.js";
import { Graph } from "./graph.js";

/** @import { Engine } from "./arranger.js" */
/** @import { TraceStates } from "./states.js" */

export class Twin {
  /** @param {Engine} graphviz @param {(id: number) => void} onSelect @param {() => void} onTurn called when the second
   * drawing is shown or hidden */
  constructor(graphviz, onSelect, onTurn) {
    this.graphviz = graphviz;
    this.onSelect = onSelect;
    this.on = false;
    this.k = 0;
    /** @type {TraceStates | null} */
    this.right = null;
    /** @type {Graph | null} made when it is first shown */
    this.graph = null;
    this.other = h("p", { class: "engine-name wrong", hidden: true });
    this.place = h("div", { class: "graphs" });
    this.button = h("button", { class: "beside-button", "aria-pressed": false, hidden: true }, "Side by side");
    this.button.onclick = () => {
      this.show(!this.on);
      onTurn();
    };
  }

  /** Take another engine's trace with the right one. @param {TraceStates} states */
  setTrace({ right, engine }) {
    this.right = right;
    this.button.hidden = right === null;
    this.other.textContent = `✗ ${engine}`;
    this.show(this.on && right !== null);
  }

  /** Show or hide the second drawing. @param {boolean} on */
  show(on) {
    this.on = on;
    this.button.setAttribute("aria-pressed", String(on));
    this.other.hidden = !on;
    if (on) this.graph ??= this.make();
    if (this.graph) this.graph.element.hidden = !on;
    if (on && this.right) this.graph?.setTrace(this.right);
  }

  /** Make the second drawing. */
  make() {
    const graph = new Graph({
      graphviz: this.graphviz,
      onSelect: this.onSelect,
      onLayout: () => this.paint(this.k, false),
      numbers: { allows: () => false, moveBy: () => {}, release: () => {} },
    });
    graph.head.prepend(h("p", { class: "engine-name" }, "✓ the right engine"));
    this.place.append(graph.element);
    return graph;
  }

  /** Show the state after k events. @param {number} k @param {boolean} moving */
  paint(k, moving) {
    this.k = k;
    const { right } = this;
    if (this.on && right) this.graph?.paint(right.frame(Math.min(k, right.length)), null, null, moving);
  }
}
