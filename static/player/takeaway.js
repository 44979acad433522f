/** The menu that exports the graph as a picture, a file or a link. */

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
  const drawing = graph.current();
  if (!drawing) throw new Error("The graph is not drawn yet.");
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
  const { width, height } = drawing.plan;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `-16 -16 ${width + 32} ${height + 32}`);
  copy.setAttribute("width", String(Math.ceil(width + 32)));
  copy.setAttribute("height", String(Math.ceil(height + 32)));
  copy.querySelector("g")?.removeAttribute("transform");
  copy.style.background = getComputedStyle(graph.element).getPropertyValue("--page");
  return new XMLSerializer().serializeToString(copy);
}

/** Return the drawing as a PNG, at twice its size for slides. @param {Graph} graph @returns {Promise<Blob>} */
async function png(graph) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(graph))}`;
  await image.decode();
  const canvas = h("canvas", { width: image.width * 2, height: image.height * 2 });
  const tooLarge = new Error("The graph is too large for a picture. The SVG has no limit.");
  const context = canvas.getContext("2d");
  if (!context) throw tooLarge;
  context.fillStyle = getComputedStyle(graph.element).getPropertyValue("--page");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(tooLarge)), "image/png"),
  );
}

/** The export menu. */
export class Takeaway {
  /** @param {object} options
   * @param {Graph} options.graph
   * @param {(() => string) | null} options.onLink writes the address and returns it
   * @param {((wish: {what: "html" | "script"}) => void) | null} options.ask requests a file from the server */
  constructor({ graph, onLink, ask }) {
    this.note = h("span", { role: "status" });
    /** @param {string} text @param {() => string | void | Promise<string | void>} action returns the status to show */
    const item = (text, action) => {
      const onclick = async () => {
        try {
          this.note.textContent = (await action()) ?? "";
        } catch (error) {
          this.note.textContent = error instanceof Error ? error.message : String(error);
        }
      };
      return h("button", { onclick }, text);
    };
    /** @param {string} text @param {"html" | "script"} what */
    const requestItem = (text, what) =>
      item(text, () => {
        ask?.({ what });
        return "It is being made.";
      });
    this.scriptItem = requestItem("Python script", "script");
    this.element = h(
      "div",
      { class: "takeaway", role: "group", "aria-label": "Export" },
      h("span", {}, "Export"),
      item("SVG", () => save(new Blob([svgText(graph)], { type: "image/svg+xml" }), "graph.svg")),
      item("PNG", async () => save(await png(graph), "graph.png")),
    );
    if (ask) this.element.append(requestItem("HTML page", "html"), this.scriptItem);
    if (onLink) {
      this.element.append(
        item("Copy link", async () => {
          const address = onLink();
          try {
            await navigator.clipboard.writeText(address);
            return "Link copied.";
          } catch {
            return "The address bar holds the link.";
          }
        }),
      );
    }
    this.element.append(this.note);
  }

  /** Show or hide the item for the script. @param {boolean} hasScript */
  update(hasScript) {
    this.scriptItem.hidden = !hasScript;
  }
}
