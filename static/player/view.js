/** Panning and zooming of the drawing: drag to move, buttons or Ctrl + wheel to zoom. */

import { mayMove, setAttribute, untilReleased } from "./dom.js";
import { fitTo } from "./layout.js";

/** @import { Point, Size } from "./layout.js" */

export const [MIN_SCALE, MAX_SCALE, MAX_FIT_SCALE] = [0.05, 4, 2];
const [BUTTON_ROW, BUTTON_ROW_PHONE] = [36, 52]; // pixels at the bottom; absent in a presentation
const [MIN_READABLE, MIN_READABLE_PHONE] = [0.75, 0.6]; // scales; a phone is held closer
const PRESENTED_SCALE = 1.286; // text of 14 pixels grows to 18
const PRESENTED_SCALE_PHONE = 0.72; // a phone is held in the hand: 10 pixels
const [CROPPED_SCALE, CROPPED_SCALE_PHONE] = [1, 0.84]; // for a drawing that does not fit; text of 12 pixels: 10
const VIEW_MARGIN = 6; // pixels between an event's nodes and the edge of the view
const GLIDE = { duration: 300, easing: "ease-out" }; // of a presented drawing that follows the events

/** The visible part of a drawing. */
export class View {
  /** @param {SVGSVGElement} svg @param {SVGGElement} scene the moving part */
  constructor(svg, scene) {
    this.svg = svg;
    this.scene = scene;
    this.size = { width: 1, height: 1 };
    this.fitted = true; // all of it is shown
    this.wished = false; // because the reader wants that, whatever its scale
    this.free = false; // the reader has moved or zoomed it
    /** @type {(Point & Size)[]} what was to be revealed last */
    this.boxes = [];
    this.scale = 1;
    this.followed = 1; // the scale of a drawing that does not fit
    this.x = 0;
    this.y = 0;
    svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    svg.addEventListener("pointerdown", (event) => this.grab(event));
    this.window = { width: 0, height: 0, buttons: BUTTON_ROW };
    this.presented = false;
    this.point = { x: 0, y: 0 }; // the centre while the drawing does not fit
    this.placing = ""; // of the moving part, as CSS
    this.observer = new ResizeObserver(() => {
      this.measure();
      if (!this.free) this.open(this.size, this.point);
      this.reveal(this.boxes);
    });
    this.observer.observe(svg);
  }

  /** Store the window's size, because reading it while an event is drawn would cost a layout. */
  measure() {
    const presented = this.svg.closest(".present") !== null;
    if (presented !== this.presented) this.free = this.wished = false; // it is looked at from another distance now
    this.presented = presented;
    const { clientWidth: width, clientHeight: height } = this.svg;
    const row = this.svg.closest(".narrow") ? BUTTON_ROW_PHONE : BUTTON_ROW;
    this.window = { width, height, buttons: this.presented ? 0 : row };
  }

  /** Return the smallest scale at which a drawing is readable. */
  readable() {
    const phone = this.svg.closest(".narrow");
    if (this.presented) return phone ? PRESENTED_SCALE_PHONE : PRESENTED_SCALE;
    return phone ? MIN_READABLE_PHONE : MIN_READABLE;
  }

  /** Show a drawing: all of it, centred, or the part around a point if all of it would be too small to read.
   * @param {Size} size @param {Point} point */
  open(size, point) {
    Object.assign(this, { size, point, free: false });
    if (!this.window.width) this.measure();
    const { width, height } = this.window;
    if (!width || !height) return;
    const { scale, right, bottom } = fitTo(size, this.window, !this.presented);
    this.fitted = this.wished || scale >= this.readable();
    const phone = this.svg.closest(".narrow") && !this.presented;
    this.followed = Math.max(this.readable(), phone ? CROPPED_SCALE_PHONE : CROPPED_SCALE);
    this.scale = this.fitted ? Math.min(scale, MAX_FIT_SCALE) : this.followed;
    if (!this.fitted) return this.centre(point);
    this.x = (width - right - size.width * this.scale) / 2;
    this.y = (height - bottom - size.height * this.scale) / 2;
    this.apply();
  }

  /** Show all of the drawing, or, if that is shown, again the part that follows the events. A presented drawing stays
   * readable. */
  turn() {
    const visible = this.window.width > 0; // a drawing beside this one may be hidden
    this.wished = !this.fitted && !this.presented && visible;
    this.open(this.size, this.point);
    this.reveal(this.boxes);
  }

  /** Move a point of the drawing towards the middle of the window, but leave no space empty that the drawing could
   * fill. @param {Point} point */
  centre(point) {
    const { width, height, buttons } = this.window;
    /** @param {number} at @param {number} extent of the drawing @param {number} room */
    const offset = (at, extent, room) => {
      const spare = room - extent * this.scale;
      if (spare > 0) return spare / 2;
      return Math.min(VIEW_MARGIN, Math.max(spare - VIEW_MARGIN, room / 2 - at * this.scale));
    };
    this.x = offset(point.x, this.size.width, width);
    this.y = offset(point.y, this.size.height, height - buttons);
    this.apply();
  }

  /** Zoom around a fixed point. @param {number} factor @param {number} [x] @param {number} [y] */
  zoom(factor, x = this.window.width / 2, y = this.window.height / 2) {
    const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    Object.assign(this, { free: true, fitted: false, wished: false });
    this.apply();
  }

  /** Move to the first box that fits in the window, or to the last with most of the first, unless it is visible. A
   * presented drawing shrinks to show one, as far as it can be read. @param {(Point & Size)[]} boxes */
  reveal(boxes) {
    this.boxes = boxes;
    if (this.fitted || !boxes.length) return;
    const room = { width: this.window.width, height: this.window.height - this.window.buttons };
    const scaleOf = (/** @type {Size} */ size) =>
      Math.min((room.width - 2 * VIEW_MARGIN) / size.width, (room.height - 2 * VIEW_MARGIN) / size.height);
    const { scale: before, placing } = this;
    const whole = boxes.find((box) => scaleOf(box) >= this.readable());
    if (this.presented && !this.free) this.scale = Math.min(this.followed, whole ? scaleOf(whole) : Infinity);
    const { x, y, width, height } = boxes.find((box) => scaleOf(box) >= this.scale) ?? boxes[boxes.length - 1];
    const [all] = boxes;
    const [left, top] = [this.x + all.x * this.scale, this.y + all.y * this.scale];
    const inside = (/** @type {number} */ at, /** @type {number} */ extent, /** @type {number} */ end) =>
      at >= VIEW_MARGIN && at + extent * this.scale <= end - VIEW_MARGIN;
    const isSeen = inside(left, all.width, room.width) && inside(top, all.height, room.height);
    if (isSeen && this.scale === before) return;
    /** The middle of `all`, or what is nearest to it with the box in the window.
     * @param {number} middle @param {number} at @param {number} extent @param {number} end */
    const near = (middle, at, extent, end) => {
      const half = (end / 2 - VIEW_MARGIN) / this.scale;
      return Math.max(at + extent - half, Math.min(middle, at + half));
    };
    this.centre({
      x: near(all.x + all.width / 2, x, width, room.width),
      y: near(all.y + all.height / 2, y, height, room.height),
    });
    if (this.presented && mayMove()) this.scene.animate({ transform: [placing, this.placing] }, GLIDE);
  }

  apply() {
    const { x, y, scale, size, window } = this;
    const over = [-x, x + size.width * scale - window.width, -y, y + size.height * scale - window.height];
    const cut = ["left", "right", "top", "bottom"].filter((_, i) => over[i] > 1); // where the drawing goes on
    setAttribute(this.svg, "data-cut", cut.join(" "));
    setAttribute(this.svg, "data-whole", String(this.fitted));
    this.placing = `translate(${x}px, ${y}px) scale(${scale})`;
    setAttribute(
      this.scene,
      "transform",
      `translate(${this.x.toFixed(1)} ${this.y.toFixed(1)}) scale(${this.scale.toFixed(4)})`,
    );
  }

  /** Zoom with Ctrl + wheel. @param {WheelEvent} event */
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls the page
    event.preventDefault();
    const box = this.svg.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
  }

  /** Start a drag. @param {PointerEvent} event */
  grab(event) {
    if (event.button !== 0) return;
    const start = { x: event.clientX - this.x, y: event.clientY - this.y };
    const origin = { x: event.clientX, y: event.clientY };
    untilReleased((later) => {
      if (Math.hypot(later.clientX - origin.x, later.clientY - origin.y) < 4) return;
      this.x = later.clientX - start.x;
      this.y = later.clientY - start.y;
      Object.assign(this, { free: true, fitted: false, wished: false });
      this.apply();
    });
  }

  destroy() {
    this.observer.disconnect();
  }
}
