/** F projects the page: large enough for the last row, with its picture and what it says in the window, until F or
 * Escape. Where a player can be seen, F presses its button Present, and it shows itself alone (player/present.js). */

import { h } from "../player/dom.js";

/** @import { Component } from "../types.js" */

const LEAST = 1.5; // times as large, at least
const WIDTH = 683; // CSS pixels of the window that the page has then, as far as it is not smaller still
const HEIGHT = 512;
const EDGE = 8; // pixels between the picture and the bar
const SMALL = 90; // pixels of height, of what is no picture
/** What a page shows, besides words: grids, charts and graphs, and components in which nothing is written. */
const PICTURES = ["stGraphVizChart", "stEChartsChart", "stImage", "stBidiComponentIsolated", "stBidiComponentRegular"]
  .map((name) => `[data-testid=${name}]`)
  .join();
const COMPONENTS = "[data-testid^=stBidiComponent]"; // in which a player may be
const MAIN = "[data-testid=stMain]";
const EDITOR = "textarea, [contenteditable=true]";
const WRITES = `input:not([type=range], [type=radio], [type=checkbox]), select, [role=combobox], ${EDITOR}`;
const DIALOG = "dialog[open], [role=dialog], [role=alertdialog]";
const STEPS = /^(Steps?|Event|Node|Passes)$/; // names of sliders by which one goes through something
const BACK = /(Back|Undo)$/;
const NAME = "projecting";

const back = h("button", { type: "button", title: "Back (Page Up)", onclick: () => step(-1) }, "◂");
const next = h("button", { type: "button", title: "Next (Page Down)", onclick: () => step(1) }, "▸");
const leaves = h("button", { type: "button", onclick: leave }, "Leave (F)");
const bar = h("div", { class: "project-bar", role: "group", "aria-label": "Projecting" }, back, next, leaves);

/** Called with each run of a page; a listener that is there is not added twice.
 * @param {Component<HTMLElement>} component */
export function listen({ parentElement }) {
  if (bar.parentElement !== parentElement) parentElement.append(bar);
  addEventListener("keydown", press); // after the page's own listeners, which may take the key
  addEventListener("resize", fit);
  addEventListener("wheel", stay, { passive: true });
  document.addEventListener("fullscreenchange", left);
  if (on()) requestAnimationFrame(arrive);
}

/** The page has been laid out. Streamlit may have begun at its top again. */
function arrive() {
  back.hidden = !stepper(-1);
  next.hidden = !stepper(1);
  if (follows) reveal();
}

function on() {
  return document.documentElement.classList.contains(NAME);
}

/** @param {KeyboardEvent} event */
function press(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const [target] = event.composedPath();
  if ((target instanceof Element && target.closest(WRITES)) || document.querySelector(DIALOG)) return;
  if (event.key.toLowerCase() === "f") project();
  else if (!on()) return;
  else if (event.key === "Escape") leave();
  else if (/^(Arrow|Home|End)/.test(event.key)) return stay();
  else if (event.key !== "PageDown" && event.key !== "PageUp") return;
  else if (!step(event.key === "PageDown" ? 1 : -1)) return stay(); // nothing to step through: the page scrolls
  event.preventDefault();
}

/** The button of a player in the window that begins to present it, or ends that; undefined where there is none. */
function presenter() {
  const players = [...document.querySelectorAll(COMPONENTS)]
    .flatMap(inside)
    .flatMap((one) => [...one.querySelectorAll(".player")]);
  const seen = players.find((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return top < innerHeight && bottom > 0 && !one.matches(".still");
  });
  return seen?.querySelector(seen.matches(".present") ? ".leave" : ".present-button");
}

function project() {
  const button = on() ? null : presenter();
  if (on()) leave();
  else if (button instanceof HTMLElement) button.click();
  else enter();
}

function enter() {
  document.documentElement.classList.add(NAME);
  document.documentElement.requestFullscreen?.().catch(() => {}); // not allowed here: over the page's own window then
  follows = true;
  fit();
  const content = document.querySelector("[data-testid=stMainBlockContainer]");
  if (content) {
    laid.observe(content);
    drawn.observe(content, { childList: true, subtree: true });
  }
  arrive();
}

function leave() {
  stay();
  document.documentElement.classList.remove(NAME);
  if (document.fullscreenElement === document.documentElement) document.exitFullscreen().catch(() => {});
}

/** Escape ends the full screen before any page hears of it. */
function left() {
  if (on() && document.fullscreenElement === null) leave();
}

/** How many times as large, for this window. */
function fit() {
  const times = Math.max(LEAST, Math.min(innerWidth / WIDTH, innerHeight / HEIGHT));
  document.documentElement.style.setProperty("--projected", String(times));
  if (follows) requestAnimationFrame(reveal);
}

/** While the page takes its new size, charts last of all, the picture stays in the window; until someone scrolls. */
const laid = new ResizeObserver(reveal);
const drawn = new MutationObserver(() => {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(reveal);
});
let frame = 0; // in which it is looked at again
/** @type {Element | undefined} */
let watched; // the picture
let follows = false;

function stay() {
  follows = false;
  laid.disconnect();
  watched = undefined;
  drawn.disconnect();
  cancelAnimationFrame(frame);
}

/** Bring the picture into the window, above the bar, and as much of what stands above it as there is room for. */
function reveal() {
  const main = document.querySelector(MAIN);
  const picture = main && pictureOf(main);
  if (!picture) return;
  if (picture !== watched) {
    if (watched) laid.unobserve(watched);
    laid.observe(picture); // beside a longer column it grows without the page growing
    watched = picture;
  }
  const { top, bottom } = picture.getBoundingClientRect();
  main.scrollTop += Math.min(top, bottom - bar.getBoundingClientRect().top + EDGE);
}

/** The first one that can be seen half as much of as of any; the first where none can be seen. @param {Element} main */
function pictureOf(main) {
  const found = [...main.querySelectorAll(PICTURES)].filter((one) => one.clientHeight > SMALL && !writes(one));
  const seen = (/** @type {Element} */ one) => {
    const { top, bottom, width } = one.getBoundingClientRect();
    return Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0)) * width;
  };
  const most = Math.max(...found.map(seen));
  return found.find((one) => seen(one) >= most / 2);
}

/** Is something written in a component? @param {Element} component */
function writes(component) {
  return inside(component).some((one) => one.querySelector(EDITOR));
}

/** A component and all in it, shadow trees in place of their hosts. @param {Element} component */
function inside(component) {
  return [component, ...component.querySelectorAll("*")].flatMap((one) => one.shadowRoot ?? one);
}

/** What goes on, or back: the button that is lit, the one that undoes, else a slider of steps. @param {1 | -1} by */
function stepper(by) {
  const shown = [...document.querySelectorAll(`${MAIN} :is(button:enabled, input[type=range])`)].filter(
    (one) => one instanceof HTMLElement && one.offsetParent,
  );
  const lit = (/** @type {Element} */ one) => one.matches("[data-testid^=stBaseButton-primary]");
  const undoes = (/** @type {Element} */ one) => one.matches("button") && BACK.test(one.textContent ?? "");
  return shown.find(by > 0 ? lit : undoes) ?? shown.find((one) => STEPS.test(one.ariaLabel ?? ""));
}

/** Is there something to step through? @param {1 | -1} by */
function step(by) {
  const found = stepper(by);
  const key = by > 0 ? "ArrowRight" : "ArrowLeft";
  if (found instanceof HTMLButtonElement) found.click();
  else found?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  return found !== undefined;
}
