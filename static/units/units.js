/** Small maps of the units of a layer. Pointing at one, or moving the focus to it, is told to the page, which shows it
 * large. The teller is a component of its own, outside of what is redrawn while training: only there is it heard at
 * once. */

import { DataTable } from "../charts/data_table.js";
import { h, setAttribute } from "../player/dom.js";

/** @import { Component, ShownUnits } from "../types.js" */

const EVENT = "tensor-ops-lab-unit";
const PAUSE = 80; // milliseconds that the pointer stays before it means something

/** The maps as a part of a board of charts. */
export class Units {
  constructor() {
    /** @type {HTMLCanvasElement[]} */
    this.canvases = [];
    this.group = h("div", { class: "unit-maps", role: "group" });
    this.twin = new DataTable();
    this.element = h("section", { class: "figure", "data-chart": "units" }, this.group, this.twin.element);
  }

  /** @param {ShownUnits} shown */
  show({ maps, palette, side, label, headers, rows }) {
    const colours = palette.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
    setAttribute(this.group, "aria-label", label);
    for (const canvas of this.canvases.splice(maps.length)) canvas.parentElement?.remove();
    while (this.canvases.length < maps.length) {
      const canvas = h("canvas");
      this.group.append(button(this.canvases.length, canvas));
      this.canvases.push(canvas);
    }
    maps.forEach((map, unit) => {
      const canvas = this.canvases[unit];
      if (canvas.dataset.shown === palette[0] + map) return;
      canvas.dataset.shown = palette[0] + map;
      canvas.width = canvas.height = side;
      const image = new ImageData(side, side);
      [...map].forEach((digit, at) => image.data.set([...colours[parseInt(digit, 36)], 255], 4 * at));
      canvas.getContext("2d")?.putImageData(image, 0, 0);
    });
    this.twin.show(headers, rows);
  }

  remove() {
    this.element.remove();
  }
}

/** @param {number} unit @param {HTMLCanvasElement} canvas */
function button(unit, canvas) {
  const name = `Unit ${unit + 1}`;
  const element = h("button", { type: "button", title: name, "aria-label": name }, canvas);
  const point = () => window.dispatchEvent(new CustomEvent(EVENT, { detail: unit }));
  const leave = () => window.dispatchEvent(new CustomEvent(EVENT, { detail: null }));
  element.onpointerenter = point;
  element.onpointerleave = leave;
  element.onfocus = point;
  element.onblur = leave;
  return element;
}

/** Tells the page the number of the unit, from 0; null when it is none. @param {Component<ShadowRoot>} component */
export function tell({ setStateValue }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  /** @type {number | null} */
  let told = null;
  const heard = (/** @type {Event} */ event) => {
    const unit = /** @type {CustomEvent<number | null>} */ (event).detail;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (unit === told) return;
      told = unit;
      setStateValue("unit", unit);
    }, PAUSE);
  };
  window.addEventListener(EVENT, heard);
  return () => {
    clearTimeout(waiting);
    window.removeEventListener(EVENT, heard);
  };
}
