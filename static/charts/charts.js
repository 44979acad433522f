/** Charts. Those that change many times a second read one hidden text on the page, the feed: with an element for each
 * chart Streamlit would go through the whole page for each of them. */

import * as echarts from "../echarts/echarts.js";
import { writeReached } from "../keep/reached.js";
import { mount } from "../mount.js";
import { Network } from "../network/network.js";
import { Debounced, h, mayMove, observeSight, setAttribute, setText } from "../player/dom.js";
import { announce, teller } from "./channel.js";
import { DataTable } from "./data_table.js";

/** @import { Place } from "../mount.js" */
/** @import { AxisSpec, ChartSpec, Payload, ShownChart, ShownProgress } from "../types.js" */

/** @typedef {object} Part of a slot: a chart, the progress of the run or the network
 * @property {HTMLElement} element
 * @property {() => void} remove
 * @property {DataTable} [table]
 * @property {(shown: never) => void} show takes this part of the payload, whose type differs from part to part */

const SEND_DELAY_MS = 120; // without another move, before the page is told
const ANSWER_MS = 1500; // in which the page has certainly answered to a chosen epoch
const DRAW_MARGIN = "200px"; // how far outside the window a chart is already drawn
/** @type {Map<string, Feed>} */
const feeds = new Map();
/** @type {Set<Slot>} */
const slots = new Set();

/** Reads the hidden text that lies beside it on the page. */
export class Feed {
  /** @param {Place} place @param {string} name of the feed: the key of Streamlit's container */
  constructor({ root }, name) {
    this.name = name;
    this.text = "";
    /** @type {Payload} */
    this.payload = {};
    this.box = /** @type {HTMLElement} */ (root).closest(`.st-key-${name}`);
    this.changes = new MutationObserver(() => this.read());
    feeds.set(name, this);
  }

  show() {
    if (this.box) this.changes.observe(this.box, { subtree: true, childList: true, characterData: true });
    this.read();
  }

  /** Read the text, and pass it on. While Streamlit lays the page out again, another text may be here, or a second one,
   * for a moment. */
  read() {
    const text = this.box?.textContent ?? "";
    if (text === this.text || !text.startsWith("{")) return;
    try {
      this.payload = JSON.parse(text);
    } catch {
      return;
    }
    this.text = text;
    for (const slot of slots) if (slot.feed === this.name) slot.fill(this.payload);
  }

  remove() {
    this.changes.disconnect();
    if (feeds.get(this.name) === this) feeds.delete(this.name);
  }
}

/** A place on the page for one or more parts. */
class Slot {
  constructor() {
    this.element = h("div", { class: "slot" });
    /** @type {Map<string, Part>} */
    this.figures = new Map();
    this.feed = "";
    slots.add(this);
  }

  /** Show the parts with these keys (charts, "progress", "network"), from a feed or from the data.
   * @param {{keys: string[], feed?: string, payload?: Payload}} data */
  show({ keys, feed = "", payload }) {
    this.layOut(keys);
    this.feed = feed;
    this.fill(payload ?? feeds.get(feed)?.payload ?? {});
  }

  /** Add and remove parts so that the slot has these. @param {string[]} keys */
  layOut(keys) {
    for (const [key, figure] of this.figures) {
      if (keys.includes(key)) continue;
      figure.remove();
      this.figures.delete(key);
    }
    for (const key of keys) {
      if (this.figures.has(key)) continue; // moving it would take the focus from it
      const part = key === "progress" ? new Progress() : key === "network" ? new Network() : new Figure(key);
      this.figures.set(key, part);
      this.element.append(part.element);
    }
  }

  /** Show what a payload has for the parts. @param {Payload} payload */
  fill(payload) {
    const { tables } = /** @type {{tables?: boolean}} */ (payload);
    if (tables !== undefined) for (const figure of this.figures.values()) figure.table?.open(tables);
    for (const [key, shown] of Object.entries(payload)) this.figures.get(key)?.show(/** @type {never} */ (shown));
  }

  remove() {
    this.layOut([]);
    slots.delete(this);
  }
}

/** A slider with the epoch that the instruments show: it follows the training and can be moved back. */
class Progress {
  constructor() {
    this.reached = 0; // epochs
    this.movedAt = -ANSWER_MS; // when the learner last moved it
    this.chosen = 0; // the epoch that the learner moved it to; the maximum means: follow the training
    this.telling = new Debounced(() => announce("epoch", this.chosen), SEND_DELAY_MS);
    this.words = h("p");
    this.bar = h("input", { type: "range", min: 0, "aria-label": "Show the epoch", oninput: () => this.move() });
    this.element = h("div", { class: "run-progress" }, this.words, this.bar);
  }

  move() {
    const epoch = Number(this.bar.value);
    this.movedAt = performance.now();
    this.chosen = epoch < this.reached ? epoch : Number(this.bar.max);
    this.telling.postpone();
  }

  /** Show the progress of the run. @param {ShownProgress} shown */
  show({ reached, epochs, cursor, text, trained }) {
    this.reached = reached;
    writeReached(trained);
    setText(this.words, text);
    setAttribute(this.bar, "max", String(epochs));
    setAttribute(this.bar, "aria-valuetext", `epoch ${cursor ?? Math.floor(reached)}`);
    this.bar.style.setProperty("--reached", String(reached / epochs));
    // What the page sends may be older than the epoch just chosen.
    const answered = !this.telling.waiting && (cursor ?? epochs) === this.chosen;
    if (answered || performance.now() - this.movedAt > ANSWER_MS)
      this.bar.value = String(cursor ?? Math.floor(reached));
  }

  remove() {
    this.element.remove();
  }
}

/** A chart with its heading and a table of its numbers. */
export class Figure {
  /** @param {string} key */
  constructor(key) {
    /** @type {ShownChart | null} */
    this.shown = null;
    this.drawn = false;
    this.seen = false;
    /** @type {echarts.Chart | null} */
    this.chart = null;
    this.look = ""; // the theme that the instance was made with
    this.zoom = 1; // for which it was made
    this.title = document.createTextNode("");
    this.note = h("small");
    this.picture = h("div", { class: "picture", role: "img" });
    for (const kind of ["mousemove", "mousedown", "mouseup", "click"])
      this.picture.addEventListener(kind, (event) => unzoom(/** @type {MouseEvent} */ (event)), { capture: true });
    this.table = new DataTable();
    const heading = h("h2", { id: `training-${key}` }, this.title, " ", this.note);
    this.element = h("section", { class: "figure", "data-chart": key }, heading, this.picture, this.table.element);
    this.sight = observeSight(this.picture, (seen) => this.see(seen), DRAW_MARGIN);
    this.size = new ResizeObserver(() => this.resize());
    this.size.observe(this.picture);
  }

  /** Show new data; draw the chart if it is in sight. @param {ShownChart} shown */
  show(shown) {
    this.shown = shown;
    this.drawn = false;
    setText(this.title, shown.title);
    setText(this.note, shown.note);
    setAttribute(this.picture, "aria-label", shown.alt);
    // A square picture is as wide as it is high, so that equal ranges are drawn to one scale.
    const { square } = shown.spec;
    this.picture.style.height = square ? "auto" : shown.height;
    this.picture.style.maxWidth = square ? shown.height : "";
    this.picture.style.aspectRatio = square ? "1" : "";
    if (this.seen) this.draw(shown);
    this.table.show(shown);
  }

  /** Draw the chart if it has come near the window. @param {boolean} seen */
  see(seen) {
    this.seen = seen;
    if (seen && this.shown && !this.drawn) this.draw(this.shown);
  }

  /** Draw the chart, with its background image if it has one. @param {ShownChart} shown */
  draw({ spec, backdrop }) {
    this.drawn = true;
    const chart = this.instance();
    const { zero, placing, ...options } = spec;
    this.picture.style.cursor = placing ? "crosshair" : "";
    this.picture.querySelectorAll(".clicked").forEach((point) => point.remove());
    // Series that keep their id move to their new place; any other chart is drawn anew.
    const moves = spec.animation === true && mayMove();
    const how = moves ? { replaceMerge: ["series", "xAxis", "yAxis"] } : { notMerge: true };
    chart.setOption({ ...options, animation: moves, ...numbers(spec, zero) }, how);
    if (!backdrop) {
      this.picture.style.background = "";
      return;
    }
    // An image behind the grid costs a hundredth of what a chart with as many cells costs.
    const [left, top, right, bottom] = backdrop.edges;
    const size = `calc(100% - ${left + right}px) calc(100% - ${top + bottom}px)`;
    const picture = `url(data:image/png;base64,${backdrop.png})`;
    this.picture.style.background = `${left}px ${top}px / ${size} no-repeat ${picture}`;
  }

  /** Fit the chart to its new size; draw it again when the page is zoomed, or its pixels would be seen. */
  resize() {
    if (this.drawn && this.shown && this.zoom !== zoomOf(this.picture)) this.draw(this.shown);
    else this.chart?.resize();
  }

  /** Return the ECharts instance; make a new one when the theme or the zoom has changed. */
  instance() {
    const style = getComputedStyle(this.picture);
    const look = {
      text: style.getPropertyValue("--st-text-color"),
      border: style.getPropertyValue("--st-border-color"),
      paper: style.getPropertyValue("--st-background-color"),
      fontFamily: style.fontFamily,
    };
    const key = Object.values(look).join();
    const zoom = zoomOf(this.picture);
    if (this.chart && this.look === key && this.zoom === zoom) return this.chart;
    this.look = key;
    this.zoom = zoom;
    this.chart?.dispose();
    this.chart = echarts.init(this.picture, theme(look), { devicePixelRatio: devicePixelRatio * zoom });
    this.chart.getZr().setSleepAfterStill(1); // frames that it requests with nothing new to draw
    this.chart.getZr().on("click", ({ offsetX, offsetY }) => this.click([offsetX, offsetY]));
    return this.chart;
  }

  /** Tell of the epoch clicked on a curve over the epochs, or of the point clicked on a plane.
   * @param {[number, number]} place */
  click(place) {
    if (this.shown?.spec.placing && this.chart?.containPixel({ gridIndex: 0 }, place)) {
      // Mark the point until the chart is drawn with it: `draw` removes the mark.
      const [left, top] = place.map((pixels) => `${pixels}px`);
      this.picture.append(h("span", { class: "clicked", style: `left: ${left}; top: ${top}` }));
      announce("point", this.chart.convertFromPixel({ xAxisIndex: 0, yAxisIndex: 0 }, place));
      return;
    }
    const axis = [this.shown?.spec.xAxis].flat()[0];
    if (axis?.name !== "epoch" || !this.chart?.containPixel({ gridIndex: 0 }, place)) return;
    announce("epoch", Math.round(this.chart.convertFromPixel({ xAxisIndex: 0 }, place[0])));
  }

  remove() {
    this.sight.disconnect();
    this.size.disconnect();
    this.chart?.dispose();
    this.element.remove();
  }
}

/** Return the zoom in which an element is drawn; an older browser does not know it. @param {Element} element */
function zoomOf(element) {
  return element.currentCSSZoom ?? 1;
}

/** Give an event its place in the pixels of the picture, which ECharts expects: a browser has those of the window.
 * @param {MouseEvent} event */
function unzoom(event) {
  const [zoom, { offsetX, offsetY }] = [zoomOf(/** @type {Element} */ (event.target)), event];
  if (zoom === 1) return;
  Object.defineProperties(event, { offsetX: { value: offsetX / zoom }, offsetY: { value: offsetY / zoom } });
}

/** Return an ECharts theme with the colours and the font of Streamlit's, and what all charts have in common.
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
    animation: false,
    grid: { outerBoundsMode: "none" },
    textStyle: words,
    legend: { textStyle: words },
    tooltip: { backgroundColor: paper, borderColor: border, textStyle: words, renderMode: "richText", confine: true },
    categoryAxis: axis,
    valueAxis: { ...axis, axisLabel: { ...axis.axisLabel, hideOverlap: true } },
    logAxis: axis,
  };
}

/** Return the axes and the tooltip with functions that format their numbers.
 * @param {ChartSpec} spec @param {number | undefined} zero where a logarithmic axis shows 0 */
export function numbers(spec, zero) {
  const axis = (/** @type {AxisSpec} */ one, second = 0) => {
    if (one.type === "category" || one.axisLabel?.formatter) return one;
    const { type, min = 0, max } = one;
    const end = type === "value" && max !== undefined ? Math.max(Math.abs(min), Math.abs(max)) : undefined;
    const write = (/** @type {number} */ value) => (value === zero && !second ? "0" : short(value, end));
    return { ...one, axisLabel: { ...one.axisLabel, formatter: write } };
  };
  const value = formatter(spec.tooltip?.valueFormatter);
  const valueFormatter = (/** @type {unknown} */ shown) => (zero !== undefined && shown === zero ? "0" : value(shown));
  return {
    tooltip: spec.tooltip && { ...spec.tooltip, valueFormatter },
    xAxis: Array.isArray(spec.xAxis) ? spec.xAxis.map(axis) : spec.xAxis && axis(spec.xAxis),
    yAxis: Array.isArray(spec.yAxis) ? spec.yAxis.map(axis) : spec.yAxis && axis(spec.yAxis),
  };
}

/** Format a number for an axis: "−0.25", "1200", "1e−4", "1e22".
 * @param {number} value @param {number} end the end of a linear axis, which decides the form of all its numbers */
export function short(value, end = value) {
  const size = Math.abs(end);
  const far = value && (size < 0.001 || size >= 1e5);
  const number = Number(value.toPrecision(6));
  return (far ? number.toExponential().replace("e+", "e") : String(number)).replaceAll("-", "−");
}

/** Return the function that formats numbers as "%.4g", "%.1f %%" or "%d" says, the formats of Streamlit's charts. */
export function formatter(text = "%.4g") {
  const parts = /^(.*?)%\.?(\d*)([dfg])(.*)$/.exec(text);
  if (!parts) throw new Error(`"${text}" is not a number format.`);
  const [, before, digits, kind, after] = parts;
  const number = (/** @type {number} */ x) => {
    if (kind === "g") return String(Number(x.toPrecision(Number(digits))));
    return x.toFixed(kind === "d" ? 0 : Number(digits));
  };
  return (/** @type {unknown} */ value) =>
    typeof value === "number" && Number.isFinite(value)
      ? (before + number(value).replaceAll("-", "−") + after).replace("%%", "%")
      : "–";
}

export const show = mount(
  (place, { keys, feed, tells }) => {
    if (tells) return teller(place, tells);
    return keys ? new Slot() : new Feed(place, feed);
  },
  new URL("charts.css", import.meta.url),
);
