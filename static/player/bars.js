/** The bars of a nudge on each card's lower edge: a filled one for the change by local derivatives, an outlined one for
 * the true change. A bar to the right is an increase, to the left a decrease. */

import { s, setAttribute, setText } from "./dom.js";
import { numeral } from "./format.js";

/** @import { CardParts } from "./graph.js" */
/** @import { Plan, Point } from "./layout.js" */

const BAR_HEIGHT = 10; // pixels
const MAX_BAR_SHARE = 0.72; // of half a card, for the longest filled bar; leaves room for a larger true change
const CARD_DELAY_MS = 130; // time that the change takes from one card to the next

/** @typedef {object} Bar
 * @property {number} linear
 * @property {number | null} actual the true change; null if unknown
 * @property {string} where the index of an array's cell, or "" */

/** @typedef {object} ShownNudge
 * @property {number} from the node that is nudged
 * @property {Map<number, Bar>} bars by node
 * @property {Map<string, string>} factors by edge
 * @property {boolean} inLedger true if the ledger describes the nudge instead of an event
 * @property {number} share length of the longest bar, from 0 to 1 (the largest nudge) */

/** @typedef {{linear: SVGRectElement, actual: SVGRectElement, text: SVGTextElement, cut: SVGTextElement}} Parts */

export class Bars {
  constructor() {
    this.element = s("g", { class: "bars", "aria-hidden": true });
    /** @type {Map<number, Parts>} */
    this.parts = new Map();
    this.key = "";
  }

  /** Show the bars of a nudge, or remove them if there is none. @param {Plan} plan @param {CardParts[]} cards
   * @param {ShownNudge | null} shown */
  paint(plan, cards, shown) {
    const seen = cards.filter(({ node }) => shown?.bars.has(node));
    const key = shown ? `${shown.from}: ${seen.map(({ node }) => node).join(" ")}` : "";
    if (key !== this.key) this.make(plan, seen, key);
    if (!shown) return;
    const all = seen.map(({ node }) => /** @type {Bar} */ (shown.bars.get(node)));
    const largest = Math.max(...all.map(({ linear }) => Math.abs(linear)).filter(Number.isFinite), 0);
    const half = Math.min(...seen.map(({ card }) => card.width)) / 2;
    const scale = largest ? (half * MAX_BAR_SHARE * shown.share) / largest : 0;
    for (const [node, { linear, actual, text, cut }] of this.parts) {
      const bar = /** @type {Bar} */ (shown.bars.get(node));
      extend(linear, bar.linear * scale, half);
      setAttribute(linear, "class", `linear ${bar.linear < 0 ? "down" : "up"}`);
      const known = bar.actual !== null && Number.isFinite(bar.actual);
      setAttribute(actual, "visibility", known ? "inherit" : "hidden");
      const length = known ? (bar.actual ?? 0) * scale : 0;
      extend(actual, length, half);
      setText(cut, Math.abs(length) > half ? (length > 0 ? "»" : "«") : "");
      setAttribute(cut, "x", String(length > 0 ? half : -half));
      setText(text, `${bar.where}${bar.linear > 0 ? "+" : ""}${numeral(bar.linear)}`);
      setAttribute(text, "x", String(bar.linear < 0 ? 5 : -5)); // on the side where the bar is not
      setAttribute(text, "text-anchor", bar.linear < 0 ? "start" : "end");
    }
  }

  /** Create the bars of the nodes on these cards. @param {Plan} plan @param {CardParts[]} cards @param {string} key */
  make(plan, cards, key) {
    this.key = key;
    this.parts.clear();
    const depths = cards.map(({ node }) => plan.depths.get(plan.itemOf[node]) ?? 0);
    const first = Math.min(...depths);
    const groups = cards.map(({ node, card }, i) => {
      const { x, y } = /** @type {Point} */ (plan.boxes.get(plan.itemOf[node]));
      const parts = {
        linear: s("rect", { class: "linear", y: -BAR_HEIGHT / 2, height: BAR_HEIGHT }),
        actual: s("rect", { class: "actual", y: -BAR_HEIGHT / 2 - 2, height: BAR_HEIGHT + 4 }),
        text: s("text", { class: "change", dy: "0.35em" }),
        cut: s("text", { class: "cut", dy: "0.35em", "text-anchor": "middle" }),
      };
      this.parts.set(node, parts);
      const line = s("line", { class: "ground", y1: -BAR_HEIGHT, y2: BAR_HEIGHT });
      const place = `translate(${x} ${y + card.height / 2})`;
      const style = `animation-delay: ${(depths[i] - first) * CARD_DELAY_MS}ms`;
      return s("g", { transform: place }, s("g", { class: "arrives", style }, line, ...Object.values(parts)));
    });
    this.element.replaceChildren(...groups);
  }
}

/** Draw a bar from 0 to the right, or to the left if `length` is negative. @param {SVGRectElement} bar
 * @param {number} length @param {number} limit longest bar in pixels; a longer one is cut */
function extend(bar, length, limit) {
  const shown = Math.min(limit, Math.abs(length));
  setAttribute(bar, "x", (length > 0 ? 0 : -shown).toFixed(1));
  setAttribute(bar, "width", shown.toFixed(1));
}
