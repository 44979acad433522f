/** The step h of a numerical gradient: the curve near x with secant and tangent, and the error at every step. The data
 * hold all steps, so moving the slider asks no server; the page is told the choice after a pause. */

import { DataTable } from "../charts/data_table.js";
import { short } from "../charts/charts.js";
import { mount } from "../mount.js";
import { Debounced, h, s, setAttribute, setText } from "../player/dom.js";
import { axis, extent, lineThrough, scale } from "./scales.js";

/** @import { Place } from "../mount.js" */
/** @import { ShownStep, ShownSteps, StepChoice } from "../types.js" */

const SEND_DELAY_MS = 300; // without a change, before the page is told the choice
const MAX_EXPONENT = 0; // of the first and largest step
const HEIGHT = 246; // pixels of the curve's picture
const ERROR_HEIGHT = 146;
const ERROR_TOP = 12; // pixels above the grid: half a line of text
const METHODS = ["forward", "central"];
const NUMBERS = ["float64", "float32"];

class Picture {
  /** @param {Place} place */
  constructor(place) {
    this.acknowledged = "";
    /** @type {ShownSteps | null} */
    this.shown = null;
    /** @type {StepChoice} */
    this.choice = { h: MAX_EXPONENT, method: "central", numbers: "float64" };
    this.telling = new Debounced(() => place.keep("choice", this.choice), SEND_DELAY_MS);
    this.sentence = h("p", { class: "sentence", role: "status" });
    this.slider = h("input", {
      type: "range",
      min: -17,
      max: MAX_EXPONENT,
      "aria-label": "Step h, as a power of ten",
      oninput: () => this.choose({ h: Number(this.slider.value) }),
    });
    this.power = h("output");
    this.methods = new Radios("Differences", METHODS, (method) => this.choose({ method }));
    this.numbers = new Radios("Numbers", NUMBERS, (numbers) => this.choose({ numbers }));
    const step = h("div", { class: "step" }, this.power, this.slider);
    this.curve = s("svg", { role: "img", height: HEIGHT });
    this.errors = s("svg", { role: "img", height: ERROR_HEIGHT });
    this.rows = h("tbody");
    this.table = new DataTable();
    this.element = h(
      "div",
      { class: "steps" },
      this.sentence,
      h(
        "div",
        { class: "pictures" },
        h(
          "figure",
          {},
          h("figcaption", {}, "Under the microscope: one step left and right of x"),
          this.curve,
          h("div", { class: "bar" }, step),
        ),
        h(
          "figure",
          {},
          h("figcaption", {}, "The error at every step h"),
          this.errors,
          h("table", { class: "numbers" }, this.rows),
        ),
      ),
      h("div", { class: "bar choices" }, this.methods.element, this.numbers.element),
      this.table.element,
    );
  }

  /** Take new data from the page. @param {{choice: StepChoice, picture: ShownSteps}} data the choice that the page has,
   * and what there is to draw */
  show({ choice, picture }) {
    this.shown = picture;
    const acknowledged = JSON.stringify(choice);
    if (acknowledged !== this.acknowledged && !this.telling.waiting) this.choice = choice;
    this.acknowledged = acknowledged;
  }

  /** Change the choice, and tell the page after a pause. @param {Partial<StepChoice>} change */
  choose(change) {
    this.choice = { ...this.choice, ...change };
    this.draw();
    this.telling.postpone();
  }

  resize() {
    this.draw();
  }

  draw() {
    if (!this.shown) return;
    const { h: exponent, method, numbers } = this.choice;
    const steps = this.shown.steps.map(({ methods }) => methods[method]);
    const now = steps[MAX_EXPONENT - exponent];
    setText(this.sentence, now.sentence);
    this.slider.value = String(exponent);
    setAttribute(this.slider, "aria-valuetext", power(exponent));
    setText(this.power, `h = ${power(exponent)}`);
    this.methods.show(method);
    this.numbers.show(numbers);
    this.drawCurve(now);
    this.drawErrors(steps);
    this.rows.replaceChildren(...now.rows.map(([name, text], at) => row(name, text, at < 2 ? now.shared : 0)));
    this.table.show(
      ["h", "quotient", "error"],
      steps.map((step, at) => [
        power(MAX_EXPONENT - at),
        step.rows[3][1],
        step.rows[5][1] === "no derivative" ? "" : step.rows[5][1],
      ]),
    );
  }

  /** Draw the curve near x with secant and tangent. @param {ShownStep} now */
  drawCurve(now) {
    const { shown, choice } = this;
    if (!shown) return;
    const width = this.curve.clientWidth || 480;
    const step = 10 ** choice.h;
    const { curve } = shown.steps[MAX_EXPONENT - choice.h];
    const slopes = shown.sides ?? [shown.exact];
    const span = extent([
      ...[...curve, ...(now.ends ?? [])].map(([, y]) => y),
      ...slopes.flatMap((one) => (one === null ? [] : [one * step, -one * step])),
    ]);
    const x = scale([-1.6, 1.6], [8, width - 8]);
    const y = scale(span, [HEIGHT - 34, 30]);
    const parts = [-1, 0, 1].flatMap((u) => [
      s("path", { class: "axis", d: `M${x(u)} 22V${HEIGHT - 28}` }),
      s("text", { class: "muted", x: x(u), y: HEIGHT - 8, "text-anchor": "middle" }, tick(shown.name, u)),
    ]);
    const points = curve.map(([u, value]) => `${x(u).toFixed(1)} ${y(value).toFixed(1)}`);
    if (points.length) parts.push(s("path", { class: "curve", d: `M${points.join("L")}` }));
    if (curve.length < 12) {
      parts.push(...curve.map(([u, value]) => s("circle", { class: "sample", cx: x(u), cy: y(value), r: 3.5 })));
    }
    if (now.ends) {
      const [[u, from], [end, to]] = now.ends;
      const slope = (to - from) / (end - u);
      parts.push(s("path", { class: "secant", d: segment(x, y, -1.6, 1.6, u, from, slope) }));
    }
    if (shown.smooth && shown.exact !== null && curve.length) {
      parts.push(s("path", { class: "tangent", d: segment(x, y, -1.6, 1.6, 0, 0, shown.exact * step) }));
    }
    shown.sides?.forEach((side, right) => {
      if (side === null) return;
      parts.push(s("path", { class: "side", d: segment(x, y, right ? 0 : -1.6, right ? 1.6 : 0, 0, 0, side * step) }));
    });
    const ends = now.ends ?? [];
    parts.push(...ends.map(([u, value]) => s("circle", { class: "end", cx: x(u), cy: y(value), r: 6 })));
    if (curve.length) parts.push(s("circle", { class: "here", cx: x(0), cy: y(0), r: 5 }));
    const secant = now.ends ? `━ secant ${short(Number(now.slope?.toPrecision(6)))}` : "no secant";
    const exact = shown.exact === null ? "none" : short(Number(shown.exact.toPrecision(6)));
    const tangent = shown.smooth ? `╍ tangent ${exact}` : `no tangent; backward(): ${exact}`;
    parts.push(s("text", { class: "in-secant", x: 8, y: 15 }, secant));
    parts.push(s("text", { class: "in-tangent", x: width - 8, y: 15, "text-anchor": "end" }, tangent));
    this.curve.replaceChildren(...parts);
    setAttribute(
      this.curve,
      "aria-label",
      `The curve near ${shown.name}. ${secant.slice(2)}; ${tangent.slice(2)}. ${now.sentence}`,
    );
  }

  /** Draw the error at every step. @param {ShownStep[]} steps */
  drawErrors(steps) {
    const { shown, choice } = this;
    if (!shown) return;
    const width = this.errors.clientWidth || 400;
    const logs = steps.map(({ error }) => (error ? Math.log10(error) : null));
    const low = Math.floor(Math.min(-1, ...logs.filter((one) => one !== null)));
    const high = Math.max(low + 4, Math.ceil(Math.max(...logs.filter((one) => one !== null), -1)));
    const x = scale([-17.4, 0.4], [46, width - 6]);
    const y = scale([low, high], [ERROR_HEIGHT - 40, ERROR_TOP]);
    const parts = [-16, -12, -8, -4, 0].flatMap((at) => [
      s("path", { class: "axis", d: `M${x(at)} ${ERROR_TOP}V${ERROR_HEIGHT - 40}` }),
      s("text", { class: "muted", x: x(at), y: ERROR_HEIGHT - 22, "text-anchor": "middle" }, power(at)),
    ]);
    for (const at of axis(low, high)) {
      parts.push(s("path", { class: "axis", d: `M46 ${y(at)}H${width - 6}` }));
      parts.push(s("text", { class: "muted", x: 42, y: y(at) + 5, "text-anchor": "end" }, power(at)));
    }
    const lines = shown.lines[choice.method];
    for (const [at, line] of lines.entries()) {
      const ends = lineThrough(line.slope, Math.log10(line.scale), [-17.4, 0.4], [low, high]);
      if (!ends) continue;
      const [[x1, y1], [x2, y2]] = ends;
      const kind = line.slope > 0 ? "tangent" : "secant";
      parts.push(s("path", { class: kind, d: `M${x(x1)} ${y(y1)}L${x(x2)} ${y(y2)}` }));
      const anchor = at && lines.length > 1 ? "start" : "end";
      const where = anchor === "end" ? width - 6 : 0;
      parts.push(s("text", { class: `in-${kind}`, x: where, y: ERROR_HEIGHT - 4, "text-anchor": anchor }, line.label));
    }
    logs.forEach((error, i) => {
      if (steps[i].error === null) return;
      parts.push(s("circle", { class: "measured", cx: x(MAX_EXPONENT - i), cy: y(error ?? low), r: 3 }));
    });
    const now = MAX_EXPONENT - choice.h;
    if (steps[now].error !== null) {
      const line = `M${x(choice.h)} ${ERROR_TOP}V${ERROR_HEIGHT - 40}`;
      parts.push(s("path", { class: "axis", d: line, "stroke-dasharray": "3 3" }));
      parts.push(s("circle", { class: "end", cx: x(choice.h), cy: y(logs[now] ?? low), r: 8 }));
    }
    this.errors.replaceChildren(...parts);
    const labels = lines.map(({ label }) => label).join("; ");
    setAttribute(
      this.errors,
      "aria-label",
      `Error by step, both axes logarithmic. ${labels}. At h = ${power(choice.h)}: ${steps[now].rows[5][1]}.`,
    );
  }
}

/** Radio buttons for one of several words. */
class Radios {
  /** @param {string} name @param {string[]} words @param {(word: string) => void} tell */
  constructor(name, words, tell) {
    this.inputs = words.map((word) => h("input", { type: "radio", name, value: word, onchange: () => tell(word) }));
    const labels = this.inputs.map((input) => h("label", {}, input, input.value));
    this.element = h("fieldset", {}, h("legend", {}, name), ...labels);
  }

  /** Check one of the words. @param {string} word */
  show(word) {
    for (const input of this.inputs) input.checked = input.value === word;
  }
}

/** Return the SVG path of a part of a straight line. @param {(u: number) => number} x @param {(v: number) => number} y
 * @param {number} from @param {number} to @param {number} u @param {number} v a point on it @param {number} slope */
function segment(x, y, from, to, u, v, slope) {
  return `M${x(from)} ${y(v + (from - u) * slope)}L${x(to)} ${y(v + (to - u) * slope)}`;
}

/** Return the label at u steps from x. @param {string} name @param {number} u */
function tick(name, u) {
  return u ? `${name} ${u > 0 ? "+" : "−"} h` : name;
}

/** Return a row of the arithmetic. The leading digits that two values share, which cancel, are struck out.
 * @param {string} name @param {string} text @param {number} shared */
function row(name, text, shared) {
  const cell = h("td", {}, h("span", { class: "lost" }, text.slice(0, shared)), text.slice(shared));
  return h("tr", {}, h("th", { scope: "row" }, name), cell);
}

/** Format a power of ten: "0.1", "1e−5". @param {number} exponent */
function power(exponent) {
  return short(Number(`1e${exponent}`));
}

export const show = mount((place) => new Picture(place), new URL("steps.css", import.meta.url));
