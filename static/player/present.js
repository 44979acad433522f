/** Presentation mode: the player fills the screen, or only the page if the browser forbids full screen. */

export class Present {
  /** @param {HTMLElement} element @param {() => void} onChange */
  constructor(element, onChange) {
    this.element = element;
    this.onChange = onChange;
    this.on = false;
    this.entering = false; // the end of an earlier full screen may be announced meanwhile
    /** @type {Promise<void> | undefined} */
    this.exiting = undefined;
    this.onFullscreen = () => {
      if (this.on && !this.entering && !this.full() && !this.element.matches(":popover-open")) this.leave();
    };
    document.addEventListener("fullscreenchange", this.onFullscreen);
  }

  /** Return whether the element is in full screen. Asks the root: for a shadow tree, `document` names only the host. */
  full() {
    const root = /** @type {Document | ShadowRoot} */ (this.element.getRootNode());
    return root.fullscreenElement === this.element;
  }

  async enter() {
    if (this.on) return;
    this.on = this.entering = true;
    this.element.classList.add("present");
    await this.exiting;
    try {
      await this.element.requestFullscreen();
    } catch {
      // Full screen is forbidden or unsupported: cover the page instead.
      if (!this.on) return;
      this.element.popover = "manual";
      this.element.showPopover();
    } finally {
      this.entering = false;
    }
    if (!this.on) this.close(); // leave() was called while full screen was starting
    this.element.focus();
    this.onChange();
  }

  leave() {
    if (!this.on) return;
    this.on = false;
    this.element.classList.remove("present");
    this.close();
    this.element.focus({ preventScroll: true }); // what had the focus may be hidden now
    this.onChange();
  }

  close() {
    if (this.element.popover) {
      this.element.hidePopover();
      this.element.popover = null;
    }
    if (this.full()) this.exiting = document.exitFullscreen().catch(() => {});
  }

  toggle() {
    if (this.on) this.leave();
    else this.enter();
  }

  destroy() {
    document.removeEventListener("fullscreenchange", this.onFullscreen);
    this.leave();
  }
}
