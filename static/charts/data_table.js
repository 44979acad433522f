/** The table of numbers under a picture: collapsed, and filled only while it is open. */

import { h } from "../player/dom.js";

/** @import { TableData } from "../types.js" */

export class DataTable {
  constructor() {
    /** @type {TableData | null} */
    this.shown = null;
    this.table = h("table");
    this.element = h("details", { ontoggle: () => this.write() }, h("summary", {}, "As a table"), this.table);
  }

  /** Show other numbers. @param {string[]} headers @param {string[][]} rows */
  show(headers, rows) {
    this.shown = { headers, rows };
    this.write();
  }

  /** Open or close the table from the page's switch, and hide its own. @param {boolean} open */
  open(open) {
    this.element.classList.add("switched");
    this.element.open = open;
  }

  write() {
    if (!this.element.open || !this.shown) return;
    const heads = this.shown.headers.map((text) => h("th", { scope: "col" }, text));
    const lines = this.shown.rows.map((cells) => h("tr", {}, ...cells.map((text) => h("td", {}, text))));
    this.table.replaceChildren(h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...lines));
  }
}
