/** The bar above the picture in Present mode: the program, and the choices of the page around the player. */

import { h } from "./dom.js";

/** @import { PlayerData } from "../types.js" */

export class Bar {
  /** @param {(name: string, value: string) => void} onChoose */
  constructor(onChoose) {
    this.onChoose = onChoose;
    this.key = "";
    this.element = h("div", { class: "bar", role: "group", "aria-label": "Program and engine" });
    // What comes and goes stands elsewhere, so that no other button moves.
    this.offers = h("span", { class: "offers" });
  }

  /** Show the program and the choices. @param {PlayerData} data */
  update({ text = "", switches = [], outdated = false }) {
    const key = JSON.stringify([text, switches, outdated]);
    if (key === this.key) return;
    this.key = key;
    const groups = switches.map(({ name, options, value }) => {
      const buttons = options.map(([option, label]) =>
        h("button", { "aria-pressed": option === value, onclick: () => this.onChoose(name, option) }, label),
      );
      const shown = options.length > 2 && !options[0][1].startsWith(name) ? name : ""; // the others say what they are
      const group = h("span", { class: "switch", role: "group", "aria-label": name }, shown, ...buttons);
      return { group, offered: value === null };
    });
    const [offers, chosen] = [true, false].map((offered) => groups.filter((one) => one.offered === offered));
    const line = text.trim().replaceAll(/\s*\n\s*/g, "; ");
    const program = h("code", { title: text }, outdated ? `This has no graph; below is an earlier one: ${line}` : line);
    const buttons = () => [...this.element.querySelectorAll("button")];
    const focused = buttons().find((button) => button.matches(":focus"));
    this.element.replaceChildren(...(text ? [program] : []), ...chosen.map(({ group }) => group));
    this.offers.replaceChildren(...offers.map(({ group }) => group));
    this.element.hidden = !text && !switches.length;
    const same = buttons().find((button) => button.textContent === focused?.textContent);
    if (focused) (same ?? buttons().find((button) => button.ariaPressed === "true"))?.focus();
  }
}
