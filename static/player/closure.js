/** Closure X-ray: the variables that the backward step of the selected node holds. */

import { brief, shapeText } from "./format.js";
import { h, link, section } from "./dom.js";
import { factsOf } from "./facts.js";
import { isOperation } from "./states.js";

/** @import { Captured, CapturedArray, CapturedTensor, CapturedSetting, Operation } from "../types.js" */
/** @import { Frame, TraceStates } from "./states.js" */

export class Closure {
  /** @param {(id: number) => void} onSelect */
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.panel = section("Closure X-ray", "closure");
    this.element = this.panel.element;
    /** @type {unknown[]} what the panel shows */
    this.shown = [];
    this.read = false; // whether the backward step may have read what it holds
    this.later = false; // whether the forward pass is over
  }

  /** Show what the closure of a node has captured. @param {TraceStates} states @param {Frame} frame
   * @param {number} id */
  paint(states, frame, id) {
    const node = states.nodes[id];
    const known = states.isKnown(id, frame);
    this.later = states.isForwardOver(frame);
    const ran = states.events.slice(0, frame.k).some((event) => event.kind === "message" && event.node === id);
    this.read = ran || frame.k === states.length;
    const next = [node, known, this.read, this.later];
    if (next.every((part, i) => part === this.shown[i])) return;
    this.shown = next;
    const facts = factsOf(node).map((fact) => h("p", {}, fact));
    const { body } = this.panel;
    const definition = h("b", {}, states.definition(id));
    if (!isOperation(node)) {
      const text = `${states.name(id)} was not computed from anything, so it keeps nothing for the backward pass.`;
      return body.replaceChildren(...facts, h("p", {}, text));
    }
    if (!known) return body.replaceChildren(h("p", {}, definition, " has not run yet, so it holds nothing."));
    if (!node.captured.length)
      return body.replaceChildren(...facts, h("p", {}, definition, " has run and kept nothing for the backward pass."));
    const heads = ["Name", "What it is", "Value", "Since then"].map((text, i) =>
      h("th", { scope: "col", class: i === 2 ? "number" : "" }, text),
    );
    const rows = node.captured.map((entry) => this.row(states, node, entry));
    body.replaceChildren(
      ...facts,
      h("p", {}, "When ", definition, " ran, its backward step kept:"),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "What the closure holds" },
        h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows)),
      ),
    );
  }

  /** Write the row of a variable. @param {TraceStates} states @param {Operation} node @param {Captured} entry */
  row(states, node, entry) {
    const read = entry.holds !== "operand"; // the backward step only sends to an operand and never reads it
    return h(
      "tr",
      { class: this.isWritten(entry) ? "written" : "" },
      h("th", { scope: "row" }, h("code", {}, entry.name)),
      h("td", {}, ...this.meaning(states, node, entry)),
      h("td", { class: "number" }, read ? this.value(states, node, entry) : ""),
      h("td", {}, read ? this.status(entry) : ""),
    );
  }

  /** Say what a captured variable holds. @param {TraceStates} states @param {Operation} node @param {Captured} entry */
  meaning(states, node, entry) {
    const toNode = (/** @type {number} */ id) => link(states.name(id), () => this.onSelect(id));
    if (entry.holds === "operand") return [purpose(states, entry), toNode(entry.node)];
    if (entry.holds === "setting") return [`a setting (${entry.type})`];
    const shape = entry.shape.length ? ` ${shapeText(entry.shape)}` : "";
    if (entry.holds === "output") return [`its own output${shape}`];
    const operand = operandOf(node, entry);
    return operand === null ? [`an array of its own${shape}`] : ["input: the value of ", toNode(operand), shape];
  }

  /** Return whether the array was overwritten after it was captured. @param {Captured} entry */
  isWritten(entry) {
    return (entry.holds !== "operand" && entry.written) || ("now" in entry && this.later);
  }

  /** Write a captured value, and the new one if it was overwritten. @param {TraceStates} states
   * @param {Operation} node @param {CapturedArray | CapturedSetting} entry */
  value(states, node, entry) {
    const text = valueText(states, node, entry);
    return "now" in entry && entry.now !== undefined && this.later ? `${text} → ${brief(entry.now)}` : text;
  }

  /** Say whether a captured value has been read or overwritten. @param {CapturedArray | CapturedSetting} entry */
  status(entry) {
    if (this.isWritten(entry)) return "⚠ written to";
    if (!this.read) return "not read yet";
    return entry.written === undefined ? "never read" : "unchanged";
  }
}

/** Say what a closure keeps a tensor for. @param {TraceStates} states @param {CapturedTensor} entry */
export const purpose = (states, entry) =>
  states.nodes[entry.node].requires_grad ? "the tensor that gets a message: " : "a tensor that gets no message: ";

/** Write the value that a closure holds. The trace leaves it out if it is the value of a node.
 * @param {TraceStates} states @param {Operation} node @param {CapturedArray | CapturedSetting} entry */
export function valueText(states, node, entry) {
  if (entry.holds === "setting") return entry.value;
  return brief(entry.value ?? states.nodes[operandOf(node, entry) ?? node.id].value);
}

/** Return the operand whose value a closure holds, or null. @param {Operation} node @param {CapturedArray} entry */
function operandOf(node, entry) {
  const found = /^value of operand (\d+)$/.exec(entry.holds);
  return found ? node.children[Number(found[1])] : null;
}
