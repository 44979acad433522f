/** Draws the result of a check, as text only: a learner's code may print anything. */

import { h, withCode } from "../player/dom.js";

/** @import { ShownResult, ShownValue } from "../types.js" */

/** Return the elements for a result.
 * @param {ShownResult} result @param {(line: number, column: number | null) => void} goTo moves the cursor
 * @returns {HTMLElement[]} */
export function resultElements(result, goTo) {
  const { line, column } = result;
  const first = h("p", { class: "sentence" }, ...withCode(result.sentence), result.sentence && line ? " " : "");
  if (line) {
    const onclick = () => goTo(line, column);
    first.append(h("button", { class: "line", onclick }, `Go to line ${line}`));
  }
  /** @type {HTMLElement[]} */
  const parts = first.textContent ? [first] : [];
  const run = [];
  if (result.inputs.length) run.push(h("div", { class: "values" }, ...result.inputs.map(value)));
  if (result.program) run.push(code(result.program, "Test case"));
  const came = result.values.length ? [h("div", { class: "values came" }, ...result.values.map(value))] : [];
  const titled = (/** @type {string} */ title, /** @type {HTMLElement[]} */ shown) =>
    shown.length ? [h("div", {}, h("h4", {}, title), ...shown)] : [];
  if (run.length || came.length)
    parts.push(h("div", { class: "case" }, ...titled("Result", came), ...titled("Test case", run)));
  const heading = `Your code printed ${result.printedWhen}`;
  if (result.printed) parts.push(h("h4", {}, heading), code(result.printed, heading));
  if (result.checks.length > 1 || (result.checks.length && result.passed)) parts.push(checks(result));
  return parts;
}

/** Return a block of code. @param {string} text @param {string} label */
function code(text, label) {
  return h("pre", { tabindex: 0, role: "region", "aria-label": label }, h("code", {}, text));
}

/** Return the list of checks with their states. @param {ShownResult} result */
function checks({ checks: all }) {
  const sign = (/** @type {boolean | null} */ passed) => (passed ? "✓" : passed === null ? "–" : "✗");
  const state = (/** @type {boolean | null} */ passed) => (passed ? "passes" : passed === null ? "not run" : "fails");
  const item = (/** @type {ShownResult["checks"][number]} */ { name, passed }) =>
    h(
      "li",
      { class: state(passed) },
      h("span", { "aria-hidden": true }, `${sign(passed)} `),
      name,
      h("span", { class: "unseen" }, `: ${state(passed)}`),
    );
  return h("ul", { class: "checks", "aria-label": "The checks of this task" }, ...all.map(item));
}

/** Return a value with its caption, as a table if it has cells. @param {ShownValue} shown */
function value({ name, words: what, text, wrong, cells, shape }) {
  const caption = [h("code", {}, name), ` ${[what, shape && `(${shape})`].filter(Boolean).join(" ")}`];
  if (!cells) {
    const sign = wrong ? [h("span", { "aria-hidden": true }, "✗ ")] : [];
    const written = h("code", { class: wrong ? "wrong" : "" }, ...sign, text);
    return h("figure", {}, h("figcaption", {}, ...caption), written);
  }
  const cell = (/** @type {{text: string, wrong: boolean}} */ one) =>
    one.wrong
      ? h(
          "td",
          { class: "wrong" },
          h("span", { "aria-hidden": true }, "✗ "),
          one.text,
          h("span", { class: "unseen" }, ", wrong"),
        )
      : h("td", {}, one.text);
  const rows = cells.map((row) => h("tr", {}, ...row.map(cell)));
  const table = h("table", {}, h("caption", {}, ...caption), h("tbody", {}, ...rows));
  // A single row that is too wide wraps; a table of several rows scrolls.
  return rows.length === 1 ? h("figure", { class: "row" }, table) : h("figure", { tabindex: 0 }, table);
}
