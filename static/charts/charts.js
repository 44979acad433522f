// The charts of the Training lab. The page lays them out once; a text that stands hidden on it, the feed, says what they
// show. With Streamlit's own chart the browser goes through the whole page for each chart that changes.

import * as echarts from "../echarts/echarts.js";
import { h, setAttribute, setText } from "../player/dom.js";
import { Units } from "../units/units.js";
import { Twin } from "./twin.js";

const MARGIN = "200px"; // a chart so far out of sight is drawn already
const boards = new Map(); // the element that Streamlit gave to a board -> the board
const changes = new MutationObserver(() => boards.forEach((board) => board.read()));
let latest = { text: "", shown: {} }; // what was read last: several boards read the same

/** Room for charts, and for "progress" and "units". `feed` is the class of the place of the text, `keys` say which. */
export function show({ data, parentElement }) {
  const { feed, keys } = JSON.parse(new TextDecoder().decode(data));
  if (!boards.has(parentElement)) boards.set(parentElement, new Board(parentElement));
  boards.get(parentElement).lay(feed, keys);
  changes.observe(document.body, { subtree: true, childList: true, characterData: true });
}

export function remove(parentElement) {
  boards.get(parentElement)?.lay("", []);
  boards.delete(parentElement);
}

class Board {
  constructor(parent) {
    this.parent = parent;
    this.figures = new Map();
  }

  lay(feed, keys) {
    for (const [key, figure] of this.figures) {
      if (keys.includes(key)) continue;
      figure.remove();
      this.figures.delete(key);
    }
    for (const key of keys) {
      if (this.figures.has(key)) continue; // to move it would take the focus from it
      this.figures.set(key, { progress: () => new Progress(), units: () => new Units() }[key]?.() ?? new Figure(key));
      this.parent.append(this.figures.get(key).element);
    }
    this.feed = feed;
    this.text = "";
    if (feed) this.read();
  }

  read() {
    const text = document.querySelector(`.${this.feed}`)?.textContent ?? "";
    if (text === this.text) return;
    this.text = text;
    if (text !== latest.text) latest = { text, shown: text ? JSON.parse(text) : {} };
    for (const [key, shown] of Object.entries(latest.shown)) this.figures.get(key)?.show(shown);
  }
}

/** How far the run has come. */
class Progress {
  constructor() {
    this.words = h("p");
    this.bar = h("progress", { max: 1, "aria-label": "Progress of the run" });
    this.element = h("div", { class: "run-progress" }, this.words, this.bar);
  }

  show({ share, text }) {
    setText(this.words, text);
    this.bar.value = share;
  }

  remove() {
    this.element.remove();
  }
}

/** A chart under its heading, with its numbers as a table. */
class Figure {
  constructor(key) {
    this.title = document.createTextNode("");
    this.note = h("small");
    this.picture = h("div", { class: "picture", role: "img" });
    this.twin = new Twin();
    const heading = h("h2", { id: `training-${key}` }, this.title, " ", this.note);
    this.element = h("section", { class: "figure", "data-chart": key }, heading, this.picture, this.twin.element);
    this.sight = new IntersectionObserver(([entry]) => this.see(entry.isIntersecting), { rootMargin: MARGIN });
    this.sight.observe(this.picture);
    this.size = new ResizeObserver(() => this.chart?.resize());
    this.size.observe(this.picture);
  }

  show(shown) {
    this.shown = shown;
    this.drawn = false;
    setText(this.title, shown.title);
    setText(this.note, shown.note);
    setAttribute(this.picture, "aria-label", shown.alt);
    this.picture.style.height = `${shown.height}px`;
    if (this.seen) this.draw();
    this.twin.show(shown.headers, shown.rows);
  }

  see(seen) {
    this.seen = seen;
    if (seen && this.shown && !this.drawn) this.draw();
  }

  draw() {
    this.drawn = true;
    const style = getComputedStyle(this.picture);
    const colours = ["--st-text-color", "--st-border-color", "--st-background-color"].map((name) =>
      style.getPropertyValue(name),
    );
    const look = [...colours, style.fontFamily];
    if (this.look !== look.join()) {
      this.chart?.dispose();
      this.chart = echarts.init(this.picture, theme(...look));
      this.chart.getZr().setSleepAfterStill(1); // frames that it goes on asking for, with nothing new to draw
      this.look = look.join();
    }
    const { spec, backdrop } = this.shown;
    const tooltip = spec.tooltip && { ...spec.tooltip, valueFormatter: formatter(spec.tooltip.valueFormatter) };
    this.chart.setOption({ ...spec, tooltip }, { notMerge: true });
    // A picture behind the grid costs a hundredth of a chart of as many cells.
    const [left, top, right, bottom] = backdrop?.edges ?? [];
    this.picture.style.background = backdrop
      ? `${left}px ${top}px / calc(100% - ${left + right}px) calc(100% - ${top + bottom}px) no-repeat url(data:image/png;base64,${backdrop.png})`
      : "";
  }

  remove() {
    this.sight.disconnect();
    this.size.disconnect();
    this.chart?.dispose();
    this.element.remove();
  }
}

/** What Streamlit's theme means for a chart. */
function theme(text, border, paper, fontFamily) {
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

/** "%.4g", "%.1f %%" or "%d", as Streamlit's charts take it, as a function. */
function formatter(text = "%.4g") {
  const [, before, digits, kind, after] = text.match(/^(.*?)%\.?(\d*)([dfg])(.*)$/);
  const number = {
    d: (x) => x.toFixed(0),
    f: (x) => x.toFixed(digits),
    g: (x) => String(Number(x.toPrecision(digits))),
  }[kind];
  return (value) => (Number.isFinite(value) ? (before + number(value) + after).replace("%%", "%") : "–");
}
