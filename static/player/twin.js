/** Side by side: the right engine's pass in a second drawing, at the same event as another engine's. */

import { h, setText } from "./dom.js";
import { Graph } from "./graph.js";
import { codeOf } from "./source.js";

/** @import { Engine } from "./arranger.js" */
/** @import { TraceStates } from "./states.js" */

export class Twin {
  /** @param {Engine} graphviz @param {(id: number) => void} onSelect @param {() => void} onTurn called when the second
   * drawing is shown or hidden */
  constructor(graphviz, onSelect, onTurn) {
    this.graphviz = graphviz;
    this.onSelect = onSelect;
    this.on = false;
    this.engine = ""; // the name of the other engine
    this.names = [h("span"), h("span")];
    this.codes = [h("code"), h("code")]; // the line of each engine that made the last event, if they differ
    /** @type {[TraceStates, number] | null} the pass of the first drawing, and how many of its events are shown */
    this.shown = null;
    /** @type {TraceStates | null} */
    this.right = null;
    /** @type {Graph | null} made when it is first shown */
    this.graph = null;
    this.other = h("p", { class: "engine-name wrong", hidden: true }, this.names[0], this.codes[0]);
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
    this.engine = engine;
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
      onLayout: () => this.shown && this.paint(...this.shown, false),
      numbers: { allows: () => false, moveBy: () => {}, release: () => {} },
    });
    graph.head.prepend(h("p", { class: "engine-name" }, this.names[1], this.codes[1]));
    this.place.append(graph.element);
    return graph;
  }

  /** Return the nodes of the right engine's event, if they are shown. @param {number} k */
  nodesAt(k) {
    const { on, right } = this;
    return on && right ? right.nodesOf(right.frame(Math.min(k, right.length))) : [];
  }

  /** Show the state after k events. @param {TraceStates} states of the other engine @param {number} k
   * @param {boolean} moving */
  paint(states, k, moving) {
    this.shown = [states, k];
    const { on, right } = this;
    if (!on || !right) return;
    const [left, frame] = [states.frame(k), right.frame(Math.min(k, right.length))];
    // Where only the order differs, each is at another place of the same rules: a line would look like the fault.
    const lines = states.departure?.line ? [codeOf(states, left), codeOf(right, frame)] : [];
    const differ = lines[0] !== lines[1];
    this.codes.forEach((code, i) => setText(code, differ ? lines[i] : ""));
    [`✗ ${this.engine}`, "✓ the right engine"].forEach((name, i) => setText(this.names[i], name));
    this.graph?.paint(frame, null, null, moving, states.nodesOf(left));
  }
}
