/** Looking at a large drawing through a small window: drag to move, buttons and Ctrl + wheel to zoom, fit. */

import { setAttribute } from "./dom.js";

/** @import { Point, Size } from "./layout.js" */

const SMALLEST = 0.05;
const LARGEST = 4;
const FIT_AT_MOST = 2;
const BUTTONS = 36; // pixels at the bottom; a graph that is presented has none
const [READABLE, IN_HAND] = [0.75, 0.6]; // in a window, and on a telephone, which is held closer
const FROM_AFAR = 1.34; // the smallest digits of a drawing have 12 pixels; presented, they have 16
const TOO_SMALL = 0.35; // for the small print
const COMFORTABLE = 1; // what has to be cut is at least not made smaller
const MARGIN = 12; // pixels between what an event is about and the edge of the window

export class View {
  /** @param {SVGSVGElement} svg @param {SVGGElement} scene what moves @param {() => void} onMove */
  constructor(svg, scene, onMove) {
    this.onMove = onMove;
    this.svg = svg;
    this.scene = scene;
    this.size = { width: 1, height: 1 };
    this.fitted = true;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    svg.addEventListener("pointerdown", (event) => this.grab(event));
    this.window = { width: 0, height: 0, buttons: BUTTONS };
    this.presented = false;
    this.point = { x: 0, y: 0 }; // that is seen where not all is
    this.observer = new ResizeObserver(() => {
      this.measure();
      if (this.fitted) this.open(this.size, this.point);
      else this.onMove();
    });
    this.observer.observe(svg);
  }

  /** Once per change: asking while an event is being drawn would cost a layout. */
  measure() {
    this.presented = this.svg.closest(".present") !== null;
    const buttons = this.presented ? 0 : BUTTONS;
    this.window = { width: this.svg.clientWidth, height: this.svg.clientHeight, buttons };
  }

  /** The scale from which on a drawing can be read. */
  readable() {
    if (this.presented) return FROM_AFAR;
    return this.svg.closest(".narrow") ? IN_HAND : READABLE;
  }

  /** The whole drawing, centred. @param {Size} [size] of the drawing */
  fit(size = this.size) {
    this.size = size;
    if (!this.window.width) this.measure();
    const { width, height, buttons } = this.window;
    if (!width || !height) return;
    this.fitted = true;
    this.scale = Math.min((width - 24) / size.width, (height - 24 - buttons) / size.height, FIT_AT_MOST);
    this.x = (width - size.width * this.scale) / 2;
    this.y = (height - buttons - size.height * this.scale) / 2;
    this.apply();
  }

  /** The first look at a drawing: all of it, or the part around a point where all of it would be too small to read.
   * @param {Size} size @param {Point} point */
  open(size, point) {
    this.point = point;
    this.fit(size);
    if (this.scale >= this.readable()) return;
    this.fitted = false;
    this.scale = this.presented ? FROM_AFAR : COMFORTABLE;
    this.centre(point);
  }

  /** Bring a point of the drawing to the middle, as far as no part of the window stays empty for it that the rest of
   * the drawing could fill. @param {Point} point */
  centre(point) {
    const { width, height, buttons } = this.window;
    /** @param {number} at @param {number} extent of the drawing @param {number} room */
    const offset = (at, extent, room) => {
      const spare = room - extent * this.scale;
      if (spare > -2 * MARGIN) return spare / 2;
      return Math.min(MARGIN, Math.max(spare - MARGIN, room / 2 - at * this.scale));
    };
    this.x = offset(point.x, this.size.width, width);
    this.y = offset(point.y, this.size.height, height - buttons);
    this.apply();
  }

  /** @param {number} factor @param {number} [x] @param {number} [y] the point that stays where it is */
  zoom(factor, x = this.window.width / 2, y = this.window.height / 2) {
    const scale = Math.min(LARGEST, Math.max(SMALLEST, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.fitted = false;
    this.apply();
  }

  /** Move only if a part of a box is out of sight, and then to its middle. @param {(Point & Size)[]} boxes of which
   * the first that has room in the window is meant, or the last */
  reveal(boxes) {
    if (this.fitted) return;
    const room = { width: this.window.width, height: this.window.height - this.window.buttons };
    const margin = this.presented ? Math.min(room.width, room.height) / 4 : MARGIN;
    const fits = (/** @type {Size} */ size) =>
      size.width * this.scale <= room.width - 2 * margin && size.height * this.scale <= room.height - 2 * margin;
    const { x, y, width, height } = boxes.find(fits) ?? boxes[boxes.length - 1];
    const [left, top] = [this.x + x * this.scale, this.y + y * this.scale];
    const [right, bottom] = [left + width * this.scale, top + height * this.scale];
    if (left >= margin && right <= room.width - margin && top >= margin && bottom <= room.height - margin) return;
    this.centre({ x: x + width / 2, y: y + height / 2 });
  }

  apply() {
    this.svg.classList.toggle("far", this.scale < TOO_SMALL);
    setAttribute(
      this.scene,
      "transform",
      `translate(${this.x.toFixed(1)} ${this.y.toFixed(1)}) scale(${this.scale.toFixed(4)})`,
    );
    this.onMove();
  }

  /** Whether any of a box is in the window. @param {Point} middle @param {Size} size */
  sees(middle, size) {
    /** @param {number} length @param {number} offset @param {number} extent */
    const reach = (length, offset, extent) => Math.abs(offset - length / 2) <= (length + extent * this.scale) / 2;
    return (
      reach(this.window.width, this.x + middle.x * this.scale, size.width) &&
      reach(this.window.height, this.y + middle.y * this.scale, size.height)
    );
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls the page
    event.preventDefault();
    const box = this.svg.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
  }

  /** @param {PointerEvent} event */
  grab(event) {
    if (event.button !== 0) return;
    const start = { x: event.clientX - this.x, y: event.clientY - this.y };
    const origin = { x: event.clientX, y: event.clientY };
    const move = (/** @type {PointerEvent} */ later) => {
      if (Math.hypot(later.clientX - origin.x, later.clientY - origin.y) < 4) return;
      this.x = later.clientX - start.x;
      this.y = later.clientY - start.y;
      this.fitted = false;
      this.apply();
    };
    const drop = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", drop);
      removeEventListener("pointercancel", drop);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", drop);
    addEventListener("pointercancel", drop);
  }

  destroy() {
    this.observer.disconnect();
  }
}
