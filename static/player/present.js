/** The player alone, over the whole window: of the screen where the browser allows that, else of the page. */

export class Present {
  /** @param {HTMLElement} element @param {() => void} onChange */
  constructor(element, onChange) {
    this.element = element;
    this.onChange = onChange;
    this.on = false;
    this.onFullscreen = () => {
      if (this.on && !this.full() && !this.element.matches(":popover-open")) this.leave();
    };
    document.addEventListener("fullscreenchange", this.onFullscreen);
  }

  /** Does the screen show it and nothing else? In a shadow tree the document names only the host. */
  full() {
    const root = /** @type {Document | ShadowRoot} */ (this.element.getRootNode());
    return root.fullscreenElement === this.element;
  }

  async enter() {
    if (this.on) return;
    this.on = true;
    this.element.classList.add("present");
    try {
      await this.element.requestFullscreen();
    } catch {
      // Not allowed here, or not known: above everything else on the page then.
      if (!this.on) return;
      this.element.popover = "manual";
      this.element.showPopover();
    }
    if (!this.on) this.close(); // left before it was there
    this.element.focus();
    this.onChange();
  }

  leave() {
    if (!this.on) return;
    this.on = false;
    this.element.classList.remove("present");
    this.close();
    this.onChange();
  }

  close() {
    if (this.element.popover) {
      this.element.hidePopover();
      this.element.popover = null;
    }
    if (this.full()) document.exitFullscreen().catch(() => {});
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
