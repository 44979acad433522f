/** Projector mode: F enlarges the page for the last row and keeps its picture in the window, until F or Escape. If a
 * player is in the window, F presses its Present button, and the player fills the screen (player/present.js). */

import { BROUGHT, EDITOR, h, INTERACTIVE, inWindow, isInField, setText } from "../player/dom.js";
import { Present } from "../player/present.js";

const MIN_ZOOM = 1.5; // on a projector
const MIN_ZOOM_WIDTH = 840; // pixels of the narrowest window with that zoom; a phone's page is not enlarged
const WIDTH = 683; // CSS pixels that the zoomed window has, or fewer at the minimum zoom
const HEIGHT = 512;
const GAP = 8; // pixels between the picture and the bar
const MIN_HEIGHT = 90; // pixels
export const PICTURE = "[class*=st-key-picture-]";
const COMPONENTS = "[data-testid^=stBidiComponent]"; // that may contain a player
/** Elements that may be a page's picture: graphs, components without a text field such as charts (but no list of
 * tasks), and containers whose key says so. */
const PICTURES = `:is([data-testid=stGraphVizChart], ${COMPONENTS}):not([class*=st-key-tasks-] *), ${PICTURE}`;
const MAIN = "[data-testid=stMain]";
const NAMES = { "-1": /(Back|Undo)$/, 0: / again$/, 1: /(?<! again)$/ }; // of the button that does a step
export const QUESTION = `${MAIN} [role=radiogroup]:not([aria-required=true])`; // a setting has always an answer
const PLAY = `${MAIN} button:enabled:has([aria-label="Shortcut P"])`; // starts and stops a run
const ANSWER = "input[type=radio], [role=radio]";
const NAME = "projecting";
/** @type {Record<string, -1 | 0 | 1>} back, to the start after the last step, or on */
const STEPS = { PageDown: 1, ArrowRight: 1, PageUp: -1, ArrowLeft: -1, Home: 0 };

export class Projector {
  /** @param {AbortSignal} signal ends the listening */
  constructor(signal) {
    this.back = h("button", { title: "Back (left arrow)", onclick: () => press(stepper(-1)) }, "←");
    this.next = h("button", { title: "Next", onclick: () => press(stepper(1) ?? stepper(0)) }, "→");
    const leave = h("button", { onclick: () => this.present.leave() }, "Leave (F)");
    const group = { class: "project-bar", role: "group", "aria-label": "Projecting" };
    this.bar = h("div", group, this.back, this.next, leave);
    this.frame = 0; // the request for the frame that scrolls to the picture
    /** @type {Element | undefined} the picture whose size is observed */
    this.watched = undefined;
    this.following = false; // until the reader scrolls, the picture stays in the window
    this.present = new Present(document.documentElement, NAME, this.bar, () => {
      if (!this.present.on) this.stop();
    });
    this.resizes = new ResizeObserver(() => this.arrive());
    this.mutations = new MutationObserver(() => {
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.arrive()); // once the page is laid out
    });
    // After the page's own listeners, which may take the key.
    addEventListener("keydown", (event) => this.press(event), { signal });
    addEventListener("keydown", (event) => this.pressOnAnswer(event), { signal, capture: true });
    addEventListener("resize", () => this.fit(), { signal });
    for (const scroll of ["wheel", BROUGHT])
      addEventListener(scroll, () => this.stopFollowing(), { passive: true, signal });
    signal.addEventListener("abort", () => {
      this.stop();
      this.present.ignore(); // the next page is projected, too
    });
    this.waits = this.present.on; // another page, or F came early: it may have a player that is not there yet
    if (this.waits) this.follow();
  }

  /** Update the bar and scroll to the picture, or hand over to a player that has come. */
  arrive() {
    const player = this.waits && presenter();
    if (player) {
      this.present.leave();
      Promise.resolve(this.present.exiting).then(() => press(presenter())); // or its end would end that one, too
      return;
    }
    this.back.hidden = !stepper(-1);
    const next = stepper(1) ?? stepper(0);
    this.next.hidden = !next;
    const key = next?.matches(PLAY) ? "(P)" : next === stepper(0) ? "(Home)" : "→";
    setText(this.next, `${nameOf(next)} ${key}`);
    if (this.following) this.reveal();
  }

  /** Act on F, Escape, the keys that step, and the space bar. @param {KeyboardEvent} event */
  press(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isInField(event)) return;
    if (event.key.toLowerCase() === "f") this.project();
    else if (!this.present.on) return;
    else if (event.key === "Escape") this.present.leave();
    else if (event.key === " ") {
      const target = /** @type {Element} */ (event.composedPath()[0]);
      if (target.closest(INTERACTIVE) || !press(document.querySelector(PLAY))) return;
    } else if (/^[1-9]$/.test(event.key)) {
      const asked = [...document.querySelectorAll(QUESTION)].find(inWindow);
      if (!press(asked?.querySelectorAll(ANSWER)[Number(event.key) - 1])) return;
    } else if (/^(ArrowUp|ArrowDown|End)$/.test(event.key)) return this.stopFollowing();
    else if (!(event.key in STEPS) || isMovedByKeys(event)) return;
    else if (!press(stepper(STEPS[event.key])) && !stepper(0)) return this.stopFollowing(); // it scrolls
    event.preventDefault();
  }

  /** Act on a key that an answer with the focus would keep to itself. @param {KeyboardEvent} event */
  pressOnAnswer(event) {
    if (!this.present.on || !(event.target instanceof Element && event.target.matches(ANSWER))) return;
    this.press(event);
    if (event.defaultPrevented) event.stopPropagation();
  }

  /** Enter or leave the view for a projector. */
  project() {
    const player = presenter();
    if (this.present.on && !player?.matches(".leave")) return this.present.leave();
    if (press(player)) return;
    this.present.enter();
    this.follow();
  }

  /** Keep the picture in the window while the page and its charts take their new size, until the reader scrolls. */
  follow() {
    this.following = true;
    this.fit();
    const content = document.querySelector("[data-testid=stMainBlockContainer]");
    if (content) {
      this.resizes.observe(content);
      this.mutations.observe(content, { childList: true, subtree: true });
    }
    this.arrive();
  }

  /** Set the zoom for this window. */
  fit() {
    const least = Math.max(1, MIN_ZOOM * Math.min(1, innerWidth / MIN_ZOOM_WIDTH));
    const zoom = Math.max(least, Math.min(innerWidth / WIDTH, innerHeight / HEIGHT));
    document.documentElement.style.setProperty("--projected", String(zoom));
    if (this.following) requestAnimationFrame(() => this.reveal());
  }

  /** Leave the page as it is. */
  stop() {
    this.waits = false;
    this.stopFollowing();
    this.mutations.disconnect();
  }

  stopFollowing() {
    this.following = false;
    this.resizes.disconnect();
    this.watched = undefined;
  }

  /** Scroll the picture into the window, above the bar, with as much of the text above it as fits. */
  reveal() {
    const main = document.querySelector(MAIN);
    const picture = main && pictureOf(main);
    if (!picture) return;
    if (picture !== this.watched) {
      if (this.watched) this.resizes.unobserve(this.watched);
      this.resizes.observe(picture); // next to a longer column it grows without the page growing
      this.watched = picture;
    }
    const { top, bottom } = picture.getBoundingClientRect();
    main.scrollTop += Math.min(top, bottom - this.bar.getBoundingClientRect().top + GAP);
    main.scrollTop += cutAbove(main, picture.getBoundingClientRect());
  }
}

/** Return whether a key moves what has the focus, such as a slider; answers are moved by up and down.
 * @param {KeyboardEvent} event */
function isMovedByKeys({ key, target }) {
  const moved = "input:not([type=radio]), [role=slider], [role=tab], [role=application]";
  return !key.startsWith("Page") && target instanceof Element && target.closest(moved) !== null;
}

/** Return the end of what the window's edge cuts above a picture, 0 if nothing.
 * @param {Element} main @param {DOMRect} picture */
function cutAbove(main, { top, left, right }) {
  const rows = [...main.querySelectorAll("[data-testid=stElementContainer], [role=tablist]")];
  const boxes = rows.map((one) => one.getBoundingClientRect());
  const above = boxes.filter((one) => one.bottom <= top && one.left < right && one.right > left);
  return Math.max(0, ...above.filter((one) => one.top < 0).map(({ bottom }) => bottom));
}

/** Return the button that starts or ends presenting the player in the window, if there is a player. */
function presenter() {
  const players = [...document.querySelectorAll(COMPONENTS)]
    .flatMap(inside)
    .flatMap((one) => [...one.querySelectorAll(".player")]);
  const seen = players.find((one) => inWindow(one) && !one.matches(".still"));
  return seen?.querySelector(seen.matches(".present") ? ".leave" : ".present-button");
}

/** Return the highest picture on the page with at least half as large a visible area as the largest.
 * @param {Element} main */
function pictureOf(main) {
  const topOf = (/** @type {Element} */ one) => one.getBoundingClientRect().top;
  const found = [...main.querySelectorAll(PICTURES)]
    .filter((one) => one.clientHeight > MIN_HEIGHT && !inside(one).some((part) => part.querySelector(EDITOR)))
    .toSorted((one, other) => topOf(one) - topOf(other));
  const visibleArea = (/** @type {Element} */ one) => {
    const { top, bottom, width } = one.getBoundingClientRect();
    return Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0)) * width;
  };
  const largest = Math.max(...found.map(visibleArea));
  return found.find((one) => visibleArea(one) >= largest / 2);
}

/** Return a component and all elements in it, with shadow roots in place of their hosts. @param {Element} component */
function inside(component) {
  return [component, ...component.querySelectorAll("*")].flatMap((one) => one.shadowRoot ?? one);
}

/** Return the button that does a step: a primary one, except for the step back. @param {-1 | 0 | 1} by */
function stepper(by) {
  const kind = by < 0 ? "" : "[data-testid^=stBaseButton-primary]";
  const shown = [...document.querySelectorAll(`${MAIN} button${kind}:enabled`)].filter(
    (one) => one instanceof HTMLElement && one.offsetParent,
  );
  return shown.find((one) => NAMES[by].test(nameOf(one)));
}

/** Return what a button is called. @param {Element | undefined} button */
function nameOf(button) {
  return button?.querySelector("p")?.textContent ?? "";
}

/** Press a button; return whether there is one. @param {Element | null | undefined} button */
function press(button) {
  if (button instanceof HTMLElement) button.click();
  return button instanceof HTMLElement;
}
