/** A pad of 32 x 32 pixels for drawing a digit with the pointer or the keyboard. It sends the drawing to the page as a
 * string of zeros and ones. */

import { keep as store, kept } from "../keep/keep.js";
import { mount } from "../mount.js";
import { bringIntoWindow, Debounced, h } from "../player/dom.js";

/** @import { Place } from "../mount.js" */
/** @import { Point } from "../player/layout.js" */

const SIDE = 32;
const BLOCK = 4; // pixels on each side of a block, which the keyboard draws at once
const PEN_RADIUS = 2.6; // pixels: strokes as thick as those of the digits that were learned
const START_BLOCK = { x: 3, y: 3 }; // where the keyboard cursor starts
const REPORT_MS = 120; // between two reports while the pen moves

/** @param {Place} place on the page */
function pad({ keep }) {
  const canvas = h("canvas", {
    width: 320,
    height: 320,
    tabindex: 0,
    role: "application",
    "aria-label": "Pad to draw a digit on. By keyboard: the arrow keys move, space draws or erases a block.",
  });
  const clear = h("button", {}, "Clear the pad");
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const ink = new Uint8Array(SIDE * SIDE);
  /** @type {Point | null} the block under the keyboard cursor; null without keyboard focus */
  let cursor = null;
  /** @type {Point | null} the end of the stroke so far; null while the pen is up */
  let last = null;
  const reporting = new Debounced(() => {
    keep("ink", ink.join(""));
    store({ digit: ink.join("") }).catch(() => {});
  }, REPORT_MS);
  const report = () => reporting.waiting || reporting.postpone();

  /** Return a colour of the theme. @param {string} name @param {string} fallback */
  const colour = (name, fallback) => getComputedStyle(canvas).getPropertyValue(name).trim() || fallback;

  const draw = () => {
    const size = canvas.width / SIDE;
    pen.fillStyle = colour("--st-background-color", "white");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.fillStyle = colour("--st-text-color", "black");
    ink.forEach((on, at) => on && pen.fillRect((at % SIDE) * size, Math.floor(at / SIDE) * size, size, size));
    if (cursor) {
      pen.strokeStyle = colour("--st-primary-color", "blue");
      pen.lineWidth = 3;
      pen.strokeRect(cursor.x * BLOCK * size + 1.5, cursor.y * BLOCK * size + 1.5, BLOCK * size - 3, BLOCK * size - 3);
    }
  };

  /** Ink the pixels within the radius of the pen. @param {number} x @param {number} y */
  const dot = (x, y) => {
    for (let i = Math.max(0, Math.floor(y - PEN_RADIUS)); i <= Math.min(SIDE - 1, y + PEN_RADIUS); i++)
      for (let j = Math.max(0, Math.floor(x - PEN_RADIUS)); j <= Math.min(SIDE - 1, x + PEN_RADIUS); j++)
        if (Math.hypot(j + 0.5 - x, i + 0.5 - y) <= PEN_RADIUS) ink[i * SIDE + j] = 1;
  };

  const pointAt = (/** @type {PointerEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return { x: ((event.clientX - box.left) / box.width) * SIDE, y: ((event.clientY - box.top) / box.height) * SIDE };
  };

  /** Draw a line with the pen. @param {Point} from @param {Point} to */
  const stroke = (from, to) => {
    const steps = Math.ceil(Math.hypot(to.x - from.x, to.y - from.y)) + 1;
    for (let k = 1; k <= steps; k++)
      dot(from.x + ((to.x - from.x) * k) / steps, from.y + ((to.y - from.y) * k) / steps);
    last = to;
    draw();
    report();
  };

  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    stroke(pointAt(event), pointAt(event));
  };
  canvas.onpointermove = (event) => last && stroke(last, pointAt(event));
  canvas.onpointerup = canvas.onpointercancel = () => (last = null);

  canvas.onkeydown = (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const blocks = SIDE / BLOCK;
    const { x, y } = cursor ?? START_BLOCK;
    cursor = { x, y };
    if (move) {
      cursor = { x: (x + move[0] + blocks) % blocks, y: (y + move[1] + blocks) % blocks };
    } else if (event.key === " " || event.key === "Enter") {
      const at = (/** @type {number} */ i, /** @type {number} */ j) => (y * BLOCK + i) * SIDE + x * BLOCK + j;
      const value = ink[at(0, 0)] ? 0 : 1;
      for (let i = 0; i < BLOCK; i++) for (let j = 0; j < BLOCK; j++) ink[at(i, j)] = value;
      report();
    } else return;
    event.preventDefault();
    event.stopPropagation(); // the page has shortcuts on the same keys
    draw();
  };
  canvas.onfocus = () => {
    cursor = canvas.matches(":focus-visible") ? { ...START_BLOCK } : null;
    draw();
  };
  canvas.onblur = () => {
    cursor = null;
    draw();
  };
  clear.onclick = () => {
    ink.fill(0);
    draw();
    report();
  };
  kept().then(
    ({ digit = "" }) => {
      if (ink.includes(1) || !digit.includes("1")) return;
      ink.set([...digit].map(Number).slice(0, ink.length));
      draw();
      report();
    },
    () => {},
  );
  const element = h("div", {}, canvas, clear);
  return { element, show: (/** @type {{led: boolean}} */ { led }) => led && bringIntoWindow(element), draw };
}

export const show = mount(pad, new URL("digit_pad.css", import.meta.url));
