/** Heat maps of arrays: small pictures on the cards, and a table of cells for the selected node. */

import { brief, cellOrAll, flat, indexText, numeral, shapeOf, shapeText, toNumber } from "./format.js";
import { h, moveFocus, section } from "./dom.js";
import { gridOf } from "./layout.js";
import { fullShape } from "./states.js";

/** @import { Value } from "../types.js" */
/** @import { Grid } from "./layout.js" */
/** @import { Frame, TraceStates } from "./states.js" */

/** @typedef {{negative: number[], positive: number[]}} Palette */

// 0 has the colour of paper. Colour-blind readers can tell the ends apart too; gradients are orange everywhere.
/** @type {Record<"value" | "gradient", Palette>} */
export const PALETTES = {
  value: { negative: [118, 42, 131], positive: [27, 120, 55] },
  gradient: { negative: [33, 102, 172], positive: [214, 96, 24] },
};
const ZERO = [245, 243, 240];
const NOT_FINITE = [70, 70, 70];

/** Return a number's colour on a scale from −largest to largest.
 * @param {number} x @param {number} largest @param {Palette} palette */
export function heat(x, largest, palette = PALETTES.gradient) {
  if (!Number.isFinite(x)) return NOT_FINITE;
  const share = largest > 0 ? Math.min(1, Math.abs(x) / largest) : 0;
  const end = x < 0 ? palette.negative : palette.positive;
  return ZERO.map((low, i) => Math.round(low + share * (end[i] - low)));
}

/** Return a colour's relative luminance, as WCAG defines it. @param {number[]} colour */
export function luminance(colour) {
  const [red, green, blue] = colour.map((byte) => {
    const share = byte / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Return whether white text has more contrast on a colour than black. @param {number[]} colour */
export function isDark(colour) {
  return (luminance(colour) + 0.05) ** 2 < 1.05 * 0.05;
}

/** Build the legend of the heat maps' colours. @returns {HTMLElement} */
export function legendOfColours() {
  /** @param {number[]} colour @param {string} text */
  const swatch = (colour, text) => [h("i", { class: "swatch", style: `background: rgb(${colour.join(" ")})` }), text];
  return h(
    "span",
    { class: "colours" },
    "value: ",
    ...swatch(PALETTES.value.negative, "negative "),
    ...swatch(PALETTES.value.positive, "positive · "),
    "grad: ",
    ...swatch(PALETTES.gradient.negative, "negative "),
    ...swatch(PALETTES.gradient.positive, "positive · "),
    ...swatch(ZERO, "0 · "),
    ...swatch(NOT_FINITE, "NaN or ∞; a stronger colour is a larger number"),
  );
}

/** Return the largest finite magnitude, or 0. @param {number[]} numbers */
export function largestOf(numbers) {
  return numbers.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);
}

/** Return a picture with one pixel for each cell as a data: URL. A bitmap is plain bytes, so no canvas is needed.
 * @param {Value} value @param {Grid} grid
 * @param {Palette} palette */
export function bitmap(value, { rows, columns, stride }, palette = PALETTES.gradient) {
  const numbers = flat(value).map(toNumber);
  const largest = largestOf(numbers);
  const rowBytes = Math.ceil((columns * 3) / 4) * 4;
  const size = 54 + rowBytes * rows;
  const bytes = new Uint8Array(size);
  const header = new DataView(bytes.buffer);
  bytes.set([0x42, 0x4d]); // "BM"
  header.setUint32(2, size, true);
  header.setUint32(10, 54, true); // where the pixels begin
  header.setUint32(14, 40, true); // the length of the second header
  header.setInt32(18, columns, true);
  header.setInt32(22, -rows, true); // negative: the first row is the top one
  header.setUint16(26, 1, true);
  header.setUint16(28, 24, true); // bits per pixel
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const [red, green, blue] = heat(numbers[row * stride + column], largest, palette);
      bytes.set([blue, green, red], 54 + row * rowBytes + column * 3);
    }
  }
  return `data:image/bmp;base64,${btoa(String.fromCharCode(...bytes))}`;
}

/** Count the numbers that are not finite: "2 NaN, 1 ∞", or "" if there are none. @param {Value} value */
export function notFinite(value) {
  const numbers = flat(value).map(toNumber);
  const nan = numbers.filter(Number.isNaN).length;
  const infinite = numbers.filter((x) => Math.abs(x) === Infinity).length;
  return [nan ? `${nan} NaN` : "", infinite ? `${infinite} ∞` : ""].filter(Boolean).join(", ");
}

/** The value and the gradient of the selected array, cell by cell. Arrow keys move between cells. */
export class Arrays {
  /** @param {(position: number | null) => void} onCell */
  constructor(onCell) {
    this.onCell = onCell;
    this.panel = section("Cells", "cells");
    this.element = this.panel.element;
    this.readout = h("p", { class: "readout" });
    this.shown = "";
  }

  /** Show the cells of a node's value and gradient. @param {TraceStates} states @param {Frame} frame
   * @param {number} id @param {number | null} cell */
  paint(states, frame, id, cell) {
    const node = states.nodes[id];
    const full = fullShape(node);
    this.element.hidden = node.shape.length === 0;
    if (this.element.hidden) return;
    const value = states.isKnown(id, frame) ? node.value : null;
    const gradient = frame.gradients.get(id) ?? null;
    const key = JSON.stringify([id, value, gradient, cell]);
    if (key === this.shown) return;
    this.shown = key;
    const focused = this.element.matches(":focus-within");
    this.panel.heading.textContent = `Cells of ${states.name(id)} ${shapeText(full)}`;
    if (cell === null) {
      this.readout.textContent = "Choose a cell to see its arithmetic alone in the ledger.";
    } else {
      const valueText = value === null ? "not run yet" : brief(cellOrAll(value, cell), full);
      const gradientText = gradient === null ? states.gradientText(id, frame) : brief(cellOrAll(gradient, cell), full);
      const where = states.name(id) + indexText(node.shape, cell, full);
      this.readout.textContent = `${where}: value ${valueText}, gradient ${gradientText}`;
    }
    const maps = h("div", { class: "maps" }, this.map("value", value, node.shape, cell, full));
    if (node.requires_grad)
      maps.append(this.map("gradient", gradient, gradient === null ? node.shape : shapeOf(gradient), cell, full));
    this.panel.body.replaceChildren(maps, this.readout);
    const entry = /** @type {HTMLElement | null} */ (this.panel.body.querySelector('button[tabindex="0"]'));
    if (focused) entry?.focus();
  }

  /** Return a table that shows an array as a heat map. @param {string} title @param {Value | null} value
   * @param {number[]} shape @param {number | null} chosen @param {number[]} full the shape in the program */
  map(title, value, shape, chosen, full) {
    const grid = gridOf(shape);
    const numbers = value === null ? [] : flat(value).map(toNumber);
    const largest = largestOf(numbers);
    const first = chosen !== null && title === "value" ? chosen : 0;
    const onkeydown = (/** @type {KeyboardEvent} */ event) =>
      moveFocus(event, [...table.querySelectorAll("button")], grid.columns);
    const table = h("table", { class: "heat", onkeydown });
    for (let row = 0; row < grid.rows; row += 1) {
      const line = h("tr");
      for (let column = 0; column < grid.columns; column += 1) {
        const position = row * grid.stride + column;
        const x = numbers[position];
        const text = value === null ? "–" : numeral(x);
        const palette = title === "value" ? PALETTES.value : PALETTES.gradient;
        const [red, green, blue] = value === null ? ZERO : heat(x, largest, palette);
        const dark = isDark([red, green, blue]);
        const button = h(
          "button",
          {
            tabindex: position === first ? 0 : -1,
            "aria-pressed": position === chosen,
            "aria-label": `${title} ${indexText(shape, position, full)}: ${value === null ? "not computed yet" : text}`,
            title: value === null ? "not computed yet" : String(x),
            class: value === null ? "empty" : dark ? "on-dark" : "",
            style: value === null ? "" : `background: rgb(${red} ${green} ${blue})`,
            onclick: () => this.onCell(position === chosen ? null : position),
          },
          text,
        );
        line.append(h("td", {}, button));
      }
      table.append(line);
    }
    const caption = h("figcaption", {}, title);
    if (grid.cropped) caption.append(` (the first ${grid.rows} × ${grid.columns})`);
    const marks = value === null ? "not computed yet" : notFinite(value);
    if (marks) caption.append(h("span", { class: "mark" }, ` ${marks}`));
    return h("figure", {}, caption, h("div", { class: "scroll" }, table));
  }
}
