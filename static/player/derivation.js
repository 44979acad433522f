/** The chain rule for the selected node: in symbols, with upstream numbers, with local numbers, and the result. */

import { brief, element, factor, numeral, shapeOf } from "./format.js";
import { h, link, section } from "./dom.js";
import { WAITING } from "./playback.js";

const MANY = 8; // messages; more are shown on demand

/** @typedef {{text: string, latex: string, node?: number, late?: boolean, role?: string}} Token */

/** The lines of the derivation, as tokens that become text, links or LaTeX.
 * @param {import("./playback.js").Playback} playback @param {import("./playback.js").Frame} frame
 * @param {number} id @param {number | null} cell @param {number} [most] messages
 * @returns {{label: string, tokens: Token[]}[]} */
export function derivation(playback, frame, id, cell, most = Infinity) {
  const self = playback.derived[id];
  const out = playback.derived[playback.output];
  const terms = self.terms.slice(0, most).map((term) => {
    const event = playback.events[term.event];
    const arrival = playback.events[term.event + 1];
    const alike = String(shapeOf(event.contribution)) === String(playback.nodes[id].shape);
    const pick = (value) => (cell !== null && alike ? element(value, cell) : value);
    const message = cell === null ? arrival.message : element(arrival.message, cell);
    return {
      ...term,
      late: term.event >= frame.k,
      upstream: pick(event.upstream),
      localNumber: term.local === null ? null : pick(term.local),
      message,
    };
  });
  const plus = { text: " + ", latex: " + " };
  const rest = self.terms.length > most ? [plus, { text: "…", latex: "\\ldots" }] : [];
  const joined = (tokensOf) => [...terms.flatMap((term, i) => [...(i ? [plus] : []), ...tokensOf(term)]), ...rest];
  const number = (value, late, role) =>
    late
      ? { text: "…", latex: "\\ldots", late }
      : Array.isArray(value)
        ? { text: brief(value), latex: `\\text{${brief(value)}}`, role }
        : { text: factor(value), latex: latexNumber(value), role };
  const local = (term) => ({ text: term.text, latex: term.latex, late: term.late });
  const times = { text: " · ", latex: " \\cdot " };
  const partial = (of, wrt, node, late) => ({
    text: `∂${of.name}/∂${wrt.name}`,
    latex: `\\frac{\\partial ${of.latex}}{\\partial ${wrt.latex}}`,
    node,
    late,
  });
  const lines = [
    {
      label: "in symbols",
      tokens: joined((term) => {
        const parent = playback.derived[term.node];
        if (term.local === null) return [local(term)];
        return [partial(out, parent, term.node, term.late), times, partial(parent, self, term.node, term.late)];
      }),
    },
    {
      label: "upstream numbers in",
      tokens: joined((term) =>
        term.local === null ? [local(term)] : [number(term.upstream, term.late), times, local(term)],
      ),
    },
    {
      label: "local derivatives in",
      tokens: joined((term) =>
        term.local === null
          ? [number(term.message, term.late)]
          : [number(term.upstream, term.late), times, number(term.localNumber, term.late)],
      ),
    },
  ];
  if (terms.length > 1) lines.push({ label: "messages", tokens: joined((term) => [number(term.message, term.late)]) });
  return lines;
}

/** The whole derivation for a document. @param {import("./playback.js").Playback} playback
 * @param {import("./playback.js").Frame} frame @param {number} id @param {number | null} cell */
export function toLatex(playback, frame, id, cell) {
  const left = `\\frac{\\partial ${playback.derived[playback.output].latex}}{\\partial ${playback.derived[id].latex}}`;
  const seed = playback.events[playback.seedIndex]?.grad;
  if (id === playback.output && seed !== undefined) return `${left} = ${latexNumber(seed)}`;
  const lines = derivation(playback, frame, id, cell).map(
    (line) => `&= ${line.tokens.map((token) => token.latex).join("")}`,
  );
  const gradient = frame.gradients.get(id);
  if (gradient !== undefined) lines.push(`&= ${latexNumber(cell === null ? gradient : element(gradient, cell))}`);
  return `\\begin{aligned}\n${left} ${lines.join(" \\\\\n")}\n\\end{aligned}`;
}

function latexNumber(value) {
  if (Array.isArray(value)) return `\\text{${brief(value)}}`;
  const text = numeral(value)
    .replaceAll("−", "-")
    .replace("∞", "\\infty")
    .replace(/e(-?\d+)$/, " \\times 10^{$1}")
    .replace("NaN", "\\text{NaN}");
  return text.startsWith("-") ? `(${text})` : text;
}

export class Derivation {
  /** @param {(id: number) => void} onSelect */
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.panel = section("Derivation", "derivation");
    this.element = this.panel.element;
  }

  /** @param {import("./playback.js").Playback} playback @param {import("./playback.js").Frame} frame
   * @param {number} id @param {number | null} cell */
  paint(playback, frame, id, cell) {
    const derived = playback.derived[id];
    const out = playback.name(playback.output);
    const state = playback.gradientState(id, frame);
    const key = JSON.stringify([id, frame.k, cell, state, playback.nodes[id].value]) + String(frame.gradients.get(id));
    if (this.shown === key && this.playback === playback) return;
    this.shown = key;
    this.playback = playback;
    const goal = h("p", { class: "goal" }, `How fast does ${out} change with ${derived.name}? `);
    const parts = [goal];
    if (derived.why) {
      parts.push(
        h(
          "p",
          {},
          id === playback.output && state === "waiting" ? `${WAITING}: the backward pass has not started` : derived.why,
          ".",
        ),
      );
    } else {
      parts.push(this.lines(playback, frame, id, cell), this.result(playback, frame, id, cell));
    }
    if (state !== "constant" && state !== "no path") parts.push(this.copyButton(playback, frame, id, cell));
    if (derived.terms.length > MANY) parts.push(this.moreButton(playback, frame, id, cell));
    this.panel.heading.textContent = `Derivation of ∂${out}/∂${derived.name}`;
    this.panel.body.replaceChildren(...parts);
  }

  lines(playback, frame, id, cell) {
    const list = h("ol", { class: "lines" });
    for (const { label, tokens } of derivation(playback, frame, id, cell, this.all ? Infinity : MANY)) {
      const formula = h("span", { class: "formula" }, "= ");
      for (const token of tokens) {
        if (token.node !== undefined)
          formula.append(link(token.text, () => this.onSelect(token.node), `Go to ${playback.name(token.node)}`));
        else formula.append(h("span", { class: token.late ? "late" : "" }, token.text));
      }
      list.append(h("li", {}, h("small", {}, label), formula));
    }
    return list;
  }

  result(playback, frame, id, cell) {
    const gradient = frame.gradients.get(id);
    const expected = playback.derived[id].terms.length;
    const arrived = frame.arrived.get(id) ?? 0;
    if (gradient === undefined) return h("p", { class: "result waiting" }, WAITING);
    const text = brief(cell === null ? gradient : element(gradient, cell));
    const still = expected - arrived;
    return h(
      "p",
      { class: `result ${playback.derived[id].kind}` },
      "= ",
      h("b", {}, text),
      still > 0 ? ` so far: ${still} more ${still === 1 ? "message" : "messages"} to come` : "",
    );
  }

  moreButton(playback, frame, id, cell) {
    const text = this.all ? "Show fewer" : `Show all ${playback.derived[id].terms.length} messages`;
    const onclick = () => {
      this.all = !this.all;
      this.shown = "";
      this.paint(playback, frame, id, cell);
    };
    return h("button", { type: "button", class: "quiet", onclick }, text);
  }

  copyButton(playback, frame, id, cell) {
    const button = h("button", { type: "button", class: "quiet" }, "Copy as LaTeX");
    button.onclick = async () => {
      try {
        await navigator.clipboard.writeText(toLatex(playback, frame, id, cell));
        button.textContent = "Copied";
      } catch {
        button.replaceWith(
          h(
            "textarea",
            { readonly: true, rows: 6, "aria-label": "LaTeX of the derivation" },
            toLatex(playback, frame, id, cell),
          ),
        );
      }
    };
    return button;
  }
}
