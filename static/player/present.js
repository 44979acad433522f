/** Presentation mode: a player or a page fills the screen, or its window if the browser forbids full screen. */

import { rememberScroll } from "./dom.js";

export class Present {
  /** @param {HTMLElement} element @param {string} name its class meanwhile @param {Element} place what is scrolled back
   * to where it was, with all around it @param {() => void} onChange */
  constructor(element, name, place, onChange) {
    this.element = element;
    this.name = name;
    this.place = place;
    this.onChange = onChange;
    this.entering = false; // the end of an earlier full screen may be announced meanwhile
    /** @type {Promise<void> | undefined} */
    this.exiting = undefined;
    this.scrollBack = () => {};
    this.onFullscreen = () => {
      const ended = !this.entering && this.root().fullscreenElement === null;
      if (this.on && ended && !this.element.matches(":popover-open")) this.leave();
    };
    document.addEventListener("fullscreenchange", this.onFullscreen);
  }

  get on() {
    return this.element.classList.contains(this.name);
  }

  /** Return what knows the element in full screen: for a shadow tree, `document` names only the host. */
  root() {
    return /** @type {Document | ShadowRoot} */ (this.element.getRootNode());
  }

  async enter() {
    if (this.on) return;
    this.entering = true;
    this.scrollBack = rememberScroll(this.place);
    this.element.classList.add(this.name);
    await this.exiting;
    try {
      await this.element.requestFullscreen();
    } catch {
      // Full screen is forbidden or unsupported: a player covers the page instead.
      if (!this.on || this.element === document.documentElement) return;
      this.element.popover = "manual";
      this.element.showPopover();
    } finally {
      this.entering = false;
    }
    if (!this.on) return this.close(); // leave() was called while full screen was starting
    this.element.focus();
    this.onChange();
  }

  leave() {
    if (!this.on) return;
    this.element.classList.remove(this.name);
    this.close();
    this.scrollBack();
    this.element.focus({ preventScroll: true }); // what had the focus may be hidden now
    this.onChange();
  }

  close() {
    if (this.element.popover) {
      this.element.hidePopover();
      this.element.popover = null;
    }
    if (this.root().fullscreenElement === this.element) this.exiting = document.exitFullscreen().catch(() => {});
  }

  toggle() {
    if (this.on) this.leave();
    else this.enter();
  }

  /** Stay as it is when the full screen ends. */
  ignore() {
    document.removeEventListener("fullscreenchange", this.onFullscreen);
  }

  destroy() {
    this.ignore();
    this.leave();
  }
}
