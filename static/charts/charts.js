/** The charts of the Training lab. The page lays them out once; a text that stands hidden on it, the feed, says what
 * they show. With Streamlit's own chart the browser goes through the whole page for each chart that changes. */

import * as echarts from "../echarts/echarts.js";
import { Network } from "../network/network.js";
import { h, setAttribute, setText } from "../player/dom.js";
import { DataTable } from "./data_table.js";

/** @import { AxisSpec, ChartSpec, Component, Feed, ShownChart, ShownProgress } from "../types.js" */

/** @typedef {object} Part of a board: a chart, the progress of the run, the network
 * @property {HTMLElement} element
 * @property {() => void} remove
 * @property {DataTable} [twin]
 * @property {(shown: never) => void} show what the feed has under its key: of each part something else */

const EPOCH = "tensor-ops-lab-epoch";
const POINT = "tensor-ops-lab-point";
const PAUSE = 120; // milliseconds without a click before the page hears of the last ones
const HELD = 1500; // milliseconds until the page has surely answered to an epoch that was chosen
const MARGIN = "200px"; // a chart so far out of sight is drawn already
/** @type {Map<HTMLElement, Board>} the element that Streamlit gave to a board -> the board */
const boards = new Map();
/** @type {MutationObserver | undefined} */
let changes;
/** @type {{text: string, shown: Feed}} what was read last: several boards read the same */
let latest = { text: "", shown: {} };

/** Room for charts, and for "progress" and "network". The data say which, by `keys`; `feed` is the class of the place
 * of the text. @param {Component<HTMLElement>} component */
export function show({ data, parentElement }) {
  const { feed, keys } = JSON.parse(new TextDecoder().decode(data));
  const board = boards.get(parentElement) ?? new Board(parentElement);
  boards.set(parentElement, board);
  board.lay(feed, keys);
  changes ??= new MutationObserver(() => boards.forEach((one) => one.read()));
  changes.observe(document.body, { subtree: true, childList: true, characterData: true });
  return () => remove(parentElement);
}

/** Streamlit ends each call that a newer one has overtaken. A board ends only with its place on the page.
 * @param {HTMLElement} parentElement */
export function remove(parentElement) {
  if (parentElement.isConnected) return;
  boards.get(parentElement)?.lay("", []);
  boards.delete(parentElement);
}

class Board {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.parent = parent;
    /** @type {Map<string, Part>} */
    this.figures = new Map();
    this.feed = "";
    this.text = "";
  }

  /** @param {string} feed @param {string[]} keys */
  lay(feed, keys) {
    for (const [key, figure] of this.figures) {
      if (keys.includes(key)) continue;
      figure.remove();
      this.figures.delete(key);
    }
    for (const key of keys) {
      if (this.figures.has(key)) continue; // to move it would take the focus from it
      const part = key === "progress" ? new Progress() : key === "network" ? new Network() : new Figure(key);
      this.figures.set(key, part);
      this.parent.append(part.element);
    }
    this.feed = feed;
    this.text = "";
    if (feed) this.read();
  }

  read() {
    const text = document.querySelector(`.${this.feed}`)?.textContent ?? "";
    // While Streamlit lays the page out anew, something else may bear the name of the place for a moment.
    if (text === this.text || (text && !text.startsWith("{"))) return;
    this.text = text;
    if (text !== latest.text) latest = { text, shown: text ? JSON.parse(text) : {} };
    const { tables } = /** @type {{tables?: boolean}} */ (latest.shown);
    if (tables !== undefined) for (const figure of this.figures.values()) figure.twin?.open(tables);
    for (const [key, shown] of Object.entries(latest.shown)) this.figures.get(key)?.show(/** @type {never} */ (shown));
  }
}

/** How far the run has come, and the epoch that the instruments show: it follows the training, and can be moved back.
 */
class Progress {
  constructor() {
    this.reached = 0; // epochs
    this.moved = -HELD; // when a hand moved it last
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.waiting = undefined;
    this.words = h("p");
    this.bar = h("input", { type: "range", min: 0, "aria-label": "Show the epoch", oninput: () => this.move() });
    this.element = h("div", { class: "run-progress" }, this.words, this.bar);
  }

  move() {
    const chosen = Number(this.bar.value);
    this.moved = performance.now();
    clearTimeout(this.waiting);
    const detail = chosen < this.reached ? chosen : Number(this.bar.max); // at its end it follows
    this.waiting = setTimeout(() => window.dispatchEvent(new CustomEvent(EPOCH, { detail })), PAUSE);
  }

  /** @param {ShownProgress} shown */
  show({ reached, epochs, cursor, text }) {
    this.reached = reached;
    setText(this.words, text);
    setAttribute(this.bar, "max", String(epochs));
    setAttribute(this.bar, "aria-valuetext", `epoch ${cursor ?? Math.floor(reached)}`);
    this.bar.style.setProperty("--reached", String(reached / epochs));
    // What the page shows may be older than what a hand has just chosen.
    if (performance.now() - this.moved > HELD) this.bar.value = String(cursor ?? Math.floor(reached));
  }

  remove() {
    this.element.remove();
  }
}

/** A chart under its heading, with its numbers as a table. */
class Figure {
  /** @param {string} key */
  constructor(key) {
    /** @type {ShownChart | null} */
    this.shown = null;
    this.drawn = false;
    this.seen = false;
    /** @type {echarts.Chart | null} */
    this.chart = null;
    this.look = ""; // the theme that it was made for
    this.title = document.createTextNode("");
    this.note = h("small");
    this.picture = h("div", { class: "picture", role: "img" });
    this.twin = new DataTable();
    const heading = h("h2", { id: `training-${key}` }, this.title, " ", this.note);
    this.element = h("section", { class: "figure", "data-chart": key }, heading, this.picture, this.twin.element);
    this.sight = new IntersectionObserver(([entry]) => this.see(entry.isIntersecting), { rootMargin: MARGIN });
    this.sight.observe(this.picture);
    this.size = new ResizeObserver(() => this.chart?.resize());
    this.size.observe(this.picture);
  }

  /** @param {ShownChart} shown */
  show(shown) {
    this.shown = shown;
    this.drawn = false;
    setText(this.title, shown.title);
    setText(this.note, shown.note);
    setAttribute(this.picture, "aria-label", shown.alt);
    this.picture.style.height = shown.height;
    if (this.seen) this.draw(shown);
    this.twin.show(shown.headers, shown.rows);
  }

  /** @param {boolean} seen */
  see(seen) {
    this.seen = seen;
    if (seen && this.shown && !this.drawn) this.draw(this.shown);
  }

  /** @param {ShownChart} shown */
  draw({ spec, backdrop }) {
    this.drawn = true;
    const chart = this.instance();
    const { zero, placing, ...options } = spec;
    this.picture.style.cursor = placing ? "crosshair" : "";
    this.picture.querySelectorAll(".clicked").forEach((point) => point.remove());
    chart.setOption({ ...options, ...numbers(spec, zero) }, { notMerge: true });
    if (!backdrop) {
      this.picture.style.background = "";
      return;
    }
    // A picture behind the grid costs a hundredth of a chart of as many cells.
    const [left, top, right, bottom] = backdrop.edges;
    const size = `calc(100% - ${left + right}px) calc(100% - ${top + bottom}px)`;
    const picture = `url(data:image/png;base64,${backdrop.png})`;
    this.picture.style.background = `${left}px ${top}px / ${size} no-repeat ${picture}`;
  }

  /** The ECharts instance, made anew when the theme has changed. */
  instance() {
    const style = getComputedStyle(this.picture);
    const look = {
      text: style.getPropertyValue("--st-text-color"),
      border: style.getPropertyValue("--st-border-color"),
      paper: style.getPropertyValue("--st-background-color"),
      fontFamily: style.fontFamily,
    };
    const key = Object.values(look).join();
    if (this.chart && this.look === key) return this.chart;
    this.look = key;
    this.chart?.dispose();
    this.chart = echarts.init(this.picture, theme(look));
    this.chart.getZr().setSleepAfterStill(1); // frames that it goes on asking for, with nothing new to draw
    this.chart.getZr().on("click", ({ offsetX, offsetY }) => this.click([offsetX, offsetY]));
    return this.chart;
  }

  /** A click on curves over the epochs means the epoch, one on a plane for points a new point.
   * @param {[number, number]} place */
  click(place) {
    if (this.shown?.spec.placing && this.chart?.containPixel({ gridIndex: 0 }, place)) {
      // ECharts empties the picture when it draws: what stands in it until then is gone with the next drawing.
      const [left, top] = place.map((pixels) => `${pixels}px`);
      this.picture.append(h("span", { class: "clicked", style: `left: ${left}; top: ${top}` }));
      const detail = this.chart.convertFromPixel({ xAxisIndex: 0, yAxisIndex: 0 }, place);
      window.dispatchEvent(new CustomEvent(POINT, { detail }));
      return;
    }
    const axis = [this.shown?.spec.xAxis].flat()[0];
    if (axis?.name !== "epoch" || !this.chart?.containPixel({ gridIndex: 0 }, place)) return;
    const epoch = Math.round(this.chart.convertFromPixel({ xAxisIndex: 0 }, place[0]));
    window.dispatchEvent(new CustomEvent(EPOCH, { detail: epoch }));
  }

  remove() {
    this.sight.disconnect();
    this.size.disconnect();
    this.chart?.dispose();
    this.element.remove();
  }
}

/** Tell the page of a click on an epoch. A component outside of what is redrawn while training: only there is it heard
 * at once. @param {Component<HTMLElement>} component */
export function tellEpoch({ setTriggerValue }) {
  const heard = (/** @type {Event} */ event) => setTriggerValue("epoch", /** @type {CustomEvent} */ (event).detail);
  window.addEventListener(EPOCH, heard);
  return () => window.removeEventListener(EPOCH, heard);
}

/** @type {WeakMap<Node, () => void>} a place that tells of points -> what ends it */
const telling = new WeakMap();

/** Tell the page of all points that were clicked since it was loaded: none is lost where several answers to them
 * overtake each other. It ends only with its place on the page. @param {Component<ShadowRoot>} component */
export function tellPoints({ parentElement, setStateValue }) {
  if (!telling.has(parentElement)) telling.set(parentElement, heardPoints(setStateValue));
  return () => {
    if (!parentElement.isConnected) telling.get(parentElement)?.();
  };
}

/** @param {Component<ShadowRoot>["setStateValue"]} setStateValue @returns {() => void} what ends it */
function heardPoints(setStateValue) {
  const id = crypto.getRandomValues(new Uint32Array(1))[0];
  /** @type {number[][]} */
  const points = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  const heard = (/** @type {Event} */ event) => {
    points.push(/** @type {CustomEvent<number[]>} */ (event).detail);
    clearTimeout(waiting);
    waiting = setTimeout(() => setStateValue("clicks", { id, points: [...points] }), PAUSE);
  };
  window.addEventListener(POINT, heard);
  return () => window.removeEventListener(POINT, heard);
}

/** What Streamlit's theme means for a chart.
 * @param {{text: string, border: string, paper: string, fontFamily: string}} look */
function theme({ text, border, paper, fontFamily }) {
  const words = { color: text, fontFamily, fontSize: 12 };
  const line = { lineStyle: { color: border } };
  const axis = {
    axisLine: line,
    axisTick: line,
    splitLine: line,
    axisLabel: { ...words, margin: 8 },
    nameTextStyle: words,
  };
  return {
    textStyle: words,
    legend: { textStyle: words },
    tooltip: { backgroundColor: paper, borderColor: border, textStyle: words, renderMode: "richText", confine: true },
    categoryAxis: axis,
    valueAxis: { ...axis, axisLabel: { ...axis.axisLabel, hideOverlap: true } },
    logAxis: axis,
  };
}

/** The axes and the tooltip of a chart with functions that write their numbers; on a logarithmic axis, `zero` is where
 * 0 is drawn. @param {ChartSpec} spec @param {number | undefined} zero */
function numbers(spec, zero) {
  const write = (/** @type {number} */ value) => (value === zero ? "0" : short(value));
  const axis = (/** @type {AxisSpec} */ one) =>
    one.type === "category" || one.axisLabel?.formatter
      ? one
      : { ...one, axisLabel: { ...one.axisLabel, formatter: write } };
  const value = formatter(spec.tooltip?.valueFormatter);
  const valueFormatter = (/** @type {unknown} */ shown) => (zero !== undefined && shown === zero ? "0" : value(shown));
  return {
    tooltip: spec.tooltip && { ...spec.tooltip, valueFormatter },
    xAxis: Array.isArray(spec.xAxis) ? spec.xAxis.map(axis) : spec.xAxis && axis(spec.xAxis),
    yAxis: Array.isArray(spec.yAxis) ? spec.yAxis.map(axis) : spec.yAxis && axis(spec.yAxis),
  };
}

/** A number beside an axis: "−0.25", "1200", "1e−4", "1e22". @param {number} value */
export function short(value) {
  const size = Math.abs(value);
  const far = size && (size < 0.001 || size >= 1e5);
  return real(far ? value.toExponential().replace("e+", "e") : String(Number(value.toPrecision(6))));
}

/** With a real minus sign, as the player writes it. @param {string} text */
function real(text) {
  return text.replaceAll("-", "−");
}

/** "%.4g", "%.1f %%" or "%d", as Streamlit's charts take it, as a function. */
export function formatter(text = "%.4g") {
  const parts = /^(.*?)%\.?(\d*)([dfg])(.*)$/.exec(text);
  if (!parts) throw new Error(`"${text}" is no format of a number.`);
  const [, before, digits, kind, after] = parts;
  const number = (/** @type {number} */ x) => {
    if (kind === "g") return String(Number(x.toPrecision(Number(digits))));
    return x.toFixed(kind === "d" ? 0 : Number(digits));
  };
  return (/** @type {unknown} */ value) =>
    typeof value === "number" && Number.isFinite(value)
      ? (before + real(number(value)) + after).replace("%%", "%")
      : "–";
}
