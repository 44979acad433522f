/** The menu that exports the graph as a picture or a file. */

import { h, save } from "./dom.js";

/** @import { Graph } from "./graph.js" */

const STYLES = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "font-family",
  "font-size",
  "font-weight",
  "opacity",
  "visibility",
  "paint-order",
  "stroke-linejoin",
  "image-rendering",
];

/** Return the drawing as a self-contained SVG, with the page's styles written into it. @param {Graph} graph */
function svgText(graph) {
  const copy = /** @type {SVGSVGElement} */ (graph.svg.cloneNode(true));
  const originals = [...graph.svg.querySelectorAll("*")];
  /** @type {NodeListOf<SVGElement>} */
  const nodes = copy.querySelectorAll("*");
  nodes.forEach((node, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of STYLES)
      if (style.getPropertyValue(name)) node.style.setProperty(name, style.getPropertyValue(name));
    node.removeAttribute("tabindex");
  });
  const { width, height } = graph.view.size;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `-16 -16 ${width + 32} ${height + 32}`);
  copy.setAttribute("width", String(Math.ceil(width + 32)));
  copy.setAttribute("height", String(Math.ceil(height + 32)));
  copy.querySelector("g")?.removeAttribute("transform");
  copy.style.background = getComputedStyle(graph.element).getPropertyValue("--page");
  return new XMLSerializer().serializeToString(copy);
}

/** The export menu. */
export class Takeaway {
  /** @param {Graph} graph
   * @param {((wish: {what: "html" | "script"}) => void) | null} ask requests a file from the server */
  constructor(graph, ask) {
    this.note = h("span", { role: "status" });
    const svg = () => save(new Blob([svgText(graph)], { type: "image/svg+xml" }), "graph.svg");
    /** @param {string} text @param {"html" | "script"} what */
    const request = (text, what) => {
      const onclick = () => {
        ask?.({ what });
        this.note.textContent = "It is being made.";
      };
      return h("button", { onclick, hidden: !ask }, text);
    };
    this.script = request("Python script", "script");
    this.element = h(
      "div",
      { class: "takeaway", role: "group", "aria-label": "Export" },
      h("span", {}, "Export"),
      h("button", { onclick: () => svg() }, "SVG"),
      request("HTML page", "html"),
      this.script,
      this.note,
    );
  }
}
