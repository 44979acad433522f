/** The derivation of the selected node's gradient: the chain rule in symbols, then with numbers, then the result. */

import { factorOf, matrixProduct, ruleWith, sendingOf, wholeProduct } from "./arithmetic.js";
import { brief, broadcastCell, cellOrAll, indexText } from "./format.js";
import { h, link, section } from "./dom.js";
import { productSign, sumSign } from "./equation.js";
import { fullShape, WAITING } from "./states.js";

/** @import { Derived, SentTerm, Value } from "../types.js" */
/** @import { Frame, TraceStates } from "./states.js" */

const MAX_MESSAGES = 8; // of a derivation; more are shortened with "…"
const PLUS = { text: " + " };
const TIMES = { text: " · " };
const OPEN = { text: "Σ(" };
const CLOSE = { text: ")" };
const DOTS = { text: "…" };

/** @typedef {object} Token
 * @property {string} text
 * @property {number} [node] the node that a link on it selects
 * @property {boolean} [late] true if it belongs to a message that has not been sent yet */

/** Return the lines of the derivation as tokens, which become text or links. Messages never sent are left out.
 * @param {TraceStates} states @param {Frame} frame @param {number} id @param {number | null} cell
 * @returns {{label: string, tokens: Token[], next: string}[]} next: the sign before the next line */
export function derivation(states, frame, id, cell) {
  const self = states.derived[id];
  const all = self.terms.filter((term) => term.event !== null);
  const terms = all.slice(0, MAX_MESSAGES).map((term) => numbersOf(states, frame, id, cell, term));
  const rest = all.length > MAX_MESSAGES ? [PLUS, DOTS] : [];
  /** @param {string} label @param {(term: Numbers) => Token[]} tokensOf */
  const line = (label, tokensOf, next = "=") => ({
    label,
    next,
    tokens: [...terms.flatMap((term, i) => [...(i ? [PLUS] : []), ...tokensOf(term)]), ...rest],
  });
  const products = ["≠", "≈"].find((one) => terms.some(({ sign }) => sign === one)) ?? "=";
  const lines = [
    line("in symbols", (term) => {
      if (term.local === null) return [term.symbols];
      const parent = states.derived[term.node];
      return summed(term, [partial(states.result, parent, term), TIMES, partial(parent.name, self, term)]);
    }),
    line("upstream numbers in", (term) =>
      term.local === null ? [term.upstreamIn] : summed(term, [number(term.upstream, term.late), TIMES, term.symbols]),
    ),
    line("local derivatives in", (term) => term.localIn, products),
  ];
  const { earlier } = states.nodes[id];
  const more = earlier !== undefined || terms.length > 1 || terms.some((term) => term.local === null || term.sums);
  if (more) lines.push(line("messages", (term) => [number(term.message, term.late)]));
  const arrived = all.filter(({ event }) => event < frame.k - 1).map(({ event }) => states.arrivalAfter(event).message);
  const parts = earlier === undefined ? arrived : [earlier, ...arrived];
  const seeds = states.events.slice(0, frame.k).filter((event) => event.kind === "seed" && event.node === id);
  const replaced = seeds.flatMap((event) => ("replaced" in event ? [event.replaced] : []))[0];
  const [sum, ...added] = [replaced ?? frame.gradients.get(id) ?? 0, ...parts].map((value) => cellOrAll(value, cell));
  lines[lines.length - 1].next = more ? sumSign(added, sum, states.nodes[id]) : products;
  if (replaced === undefined) return lines;
  lines.push({ label: "before any hook", next: "→", tokens: [number(sum, false), { text: leftOver(earlier, cell) }] });
  return lines;
}

/** Say what an earlier pass left of a gradient. @param {Value | undefined} earlier @param {number | null} cell */
function leftOver(earlier, cell) {
  return earlier === undefined ? "" : `, of which an earlier pass left ${brief(cellOrAll(earlier, cell))}`;
}

/** @typedef {object} Numbers one message's part of a derivation, for the chosen cell
 * @property {number} node the sender
 * @property {boolean} late
 * @property {boolean} sums true if the message sums the gradients of broadcast copies
 * @property {string} sign between its products and the message
 * @property {Token} symbols the local derivative; the whole message if `local` is null
 * @property {Token} upstreamIn the same with the upstream gradient in numbers
 * @property {Token[]} localIn the whole message in numbers
 * @property {Value} upstream
 * @property {Value | null} local
 * @property {Value} message */

/** Return the numbers of a message, as the derivation writes them. @param {TraceStates} states @param {Frame} frame
 * @param {number} id @param {number | null} cell @param {SentTerm} term @returns {Numbers} */
function numbersOf(states, frame, id, cell, term) {
  const event = states.message(term.event);
  const sent = sendingOf(states, event, term.event);
  const { shape } = states.nodes[id];
  const chosen = String(sent.shape) === String(shape) ? cell : null;
  const late = term.event >= frame.k;
  const at = chosen === null ? "" : indexText(shape, chosen);
  const inside = (/** @type {string} */ text) => (at && term.local === null ? `(${text})${at}` : text);
  const upstreamOf = () => inside(ruleWith(states, sent, (node) => states.name(node)));
  const message = cellOrAll(sent.arrived, cell);
  const productsOf = (/** @type {number} */ position) => {
    const known = sent.copies(chosen ?? position).map(sent.products);
    return known.includes(null) ? null : known.flatMap((one) => one ?? []);
  };
  const alone = chosen !== null && !sent.sums;
  const numbers = {
    node: term.node,
    late,
    sums: sent.sums,
    sign: late ? "=" : term.agrees === false ? "≠" : productSign(cellOrAll(sent.arrived, chosen), productsOf),
    symbols: { text: inside(term.text), late },
    upstreamIn: { text: late ? inside(term.text) : upstreamOf(), late },
    upstream: alone ? broadcastCell(sent.upstream, shape, chosen) : sent.upstream,
    local: term.local === null ? null : alone ? broadcastCell(term.local, shape, chosen) : term.local,
    message,
  };
  /** @param {{upstream: Value, local: Value}} one @returns {Token[]} */
  const times = (one) => [number(one.upstream, late), TIMES, number(one.local, late)];
  /** @returns {Token[]} */
  const localIn = () => {
    const known = (chosen !== null && productsOf(chosen)) || [];
    if (known.length) return known.flatMap((one, i) => [...(i ? [PLUS] : []), ...times(one)]);
    if (chosen !== null) return [number(message, late)];
    if (numbers.local !== null) return summed(numbers, times(wholeProduct(sent, numbers.local)));
    const text = late ? null : matrixProduct(states, sent);
    return [{ ...number(message, late), ...(text === null ? {} : { text }) }];
  };
  return { ...numbers, localIn: localIn() };
}

/** Put Σ( ) around the tokens if the message sums the gradients of broadcast copies.
 * @param {{sums: boolean}} term @param {Token[]} tokens */
function summed({ sums }, tokens) {
  return sums ? [OPEN, ...tokens, CLOSE] : tokens;
}

/** Write a partial derivative. @param {string} of @param {Derived} wrt @param {Numbers} term @returns {Token} */
function partial(of, wrt, term) {
  return { text: `∂${of}/∂${wrt.name}`, node: term.node, late: term.late };
}

/** Write a number, in brackets if it is negative; dots if it is not known yet. @param {Value} value
 * @param {boolean} late @returns {Token} */
function number(value, late) {
  return late ? { ...DOTS, late } : { text: factorOf(value) };
}

export class Derivation {
  /** @param {(id: number) => void} onSelect */
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.panel = section("Derivation", "derivation");
    this.element = this.panel.element;
    this.shown = "";
    /** @type {TraceStates | null} */
    this.states = null;
  }

  /** Show the derivation of a node's gradient. @param {TraceStates} states @param {Frame} frame @param {number} id
   * @param {number | null} cell */
  paint(states, frame, id, cell) {
    const derived = states.derived[id];
    const out = states.result;
    const state = states.gradientState(id, frame);
    const key = JSON.stringify([id, frame.k, cell, state, states.nodes[id].value]) + String(frame.gradients.get(id));
    if (this.shown === key && this.states === states) return;
    this.shown = key;
    this.states = states;
    /** @type {HTMLElement[]} */
    const parts = [h("p", { class: "goal" }, `How fast does ${out} change with ${derived.name}? `)];
    if (derived.why) {
      const early = id === states.output && state === "waiting";
      parts.push(h("p", {}, early ? `${WAITING}: the backward pass has not started` : derived.why, "."));
    } else {
      const written = derivation(states, frame, id, cell);
      const lines = this.lines(states, written);
      parts[0].append("The chain rule: multiply the rates along each path, and add up the paths.");
      parts.push(lines, this.result(states, frame, id, cell, written[written.length - 1].next));
      if (lines.textContent?.includes(OPEN.text))
        parts.push(h("p", { class: "note" }, `Σ adds up what the copies of ${derived.name} receive.`));
    }
    const where = cell === null ? "" : indexText(states.nodes[id].shape, cell, fullShape(states.nodes[id]));
    this.panel.heading.textContent = `Derivation of ∂${out}/∂${derived.name}${where}`;
    this.panel.body.replaceChildren(...parts);
  }

  /** Return the lines of a derivation as a list. @param {TraceStates} states
   * @param {ReturnType<typeof derivation>} written */
  lines(states, written) {
    const list = h("ol", { class: "lines" });
    for (const [i, { label, tokens }] of written.entries()) {
      const formula = h("span", { class: "formula" }, `${written[i - 1]?.next ?? "="} `);
      for (const { text, node, late } of tokens) {
        if (node === undefined) formula.append(h("span", { class: late ? "late" : "" }, text));
        else formula.append(link(text, () => this.onSelect(node), `Go to ${states.name(node)}`));
      }
      list.append(h("li", {}, h("small", {}, label), formula));
    }
    return list;
  }

  /** Return the last line: the gradient so far, and what is still to come. @param {TraceStates} states
   * @param {Frame} frame @param {number} id @param {number | null} cell @param {string} sign before it */
  result(states, frame, id, cell, sign) {
    const gradient = frame.gradients.get(id);
    const expected = states.derived[id].terms.length;
    const arrived = frame.arrived.get(id) ?? 0;
    if (gradient === undefined) return h("p", { class: "result waiting" }, WAITING);
    const text = brief(cellOrAll(gradient, cell), fullShape(states.nodes[id]));
    const still = expected - arrived;
    return h(
      "p",
      { class: `result ${states.derived[id].kind}` },
      `${sign} `,
      h("b", {}, text),
      sign === "→" ? ", as a hook of the program left it" : leftOver(states.nodes[id].earlier, cell),
      still > 0 ? ` so far: ${still} more ${still === 1 ? "message" : "messages"} to come` : "",
    );
  }
}
