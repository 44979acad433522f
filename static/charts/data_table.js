/** The table of numbers under a picture: collapsed, and filled only while it is open. */

import { h, setText } from "../player/dom.js";

/** @import { TableData } from "../types.js" */

/** Return what a table is called, which says if rows are left out. @param {TableData} shown */
export function nameOf({ rows, of = 0 }) {
  return of > rows.length ? `As a table: ${rows.length} of ${of} rows` : "As a table";
}

export class DataTable {
  constructor() {
    /** @type {TableData | null} */
    this.shown = null;
    this.table = h("table");
    this.summary = h("summary");
    this.element = h("details", { ontoggle: () => this.write() }, this.summary, this.table);
  }

  /** Show other numbers. @param {TableData} shown */
  show(shown) {
    this.shown = shown;
    setText(this.summary, nameOf(shown));
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
