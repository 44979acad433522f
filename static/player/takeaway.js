/** Pictures, files and links to take away. */

import { h } from "./dom.js";

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

/** The drawing as a file of its own: every style that comes from the page is written into it.
 * @param {import("./graph.js").Graph} graph */
export function svgText(graph) {
  const copy = /** @type {SVGSVGElement} */ (graph.svg.cloneNode(true));
  const originals = [...graph.svg.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((node, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of STYLES)
      if (style.getPropertyValue(name)) node.style.setProperty(name, style.getPropertyValue(name));
    node.removeAttribute("tabindex");
  });
  const { width, height } = graph.plan;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `-16 -16 ${width + 32} ${height + 32}`);
  copy.setAttribute("width", String(Math.ceil(width + 32)));
  copy.setAttribute("height", String(Math.ceil(height + 32)));
  copy.querySelector("g").removeAttribute("transform");
  copy.style.background = getComputedStyle(graph.element).getPropertyValue("--page");
  return new XMLSerializer().serializeToString(copy);
}

/** @param {import("./graph.js").Graph} graph @returns {Promise<Blob>} twice the size, for a slide */
export async function png(graph) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(graph))}`;
  await image.decode();
  const canvas = h("canvas", { width: image.width * 2, height: image.height * 2 });
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(graph.element).getPropertyValue("--page");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** The menu. @param {{graph: import("./graph.js").Graph, onLink: (() => string) | null, onHtml: (() => void) | null, script: () => string}} options */
export class Takeaway {
  constructor({ graph, onLink, onHtml, script }) {
    this.script = script;
    const note = h("span", { role: "status" });
    const item = (text, action) =>
      h("button", { type: "button", onclick: async () => (note.textContent = (await action()) ?? "") }, text);
    this.scriptItem = item("Python script", () =>
      save(new Blob([script()], { type: "text/x-python" }), "experiment.py"),
    );
    this.element = h(
      "div",
      { class: "takeaway", role: "group", "aria-label": "Take away" },
      h("span", {}, "Take away"),
      item("SVG", () => save(new Blob([svgText(graph)], { type: "image/svg+xml" }), "graph.svg")),
      item("PNG", async () => save(await png(graph), "graph.png")),
    );
    if (onHtml) this.element.append(item("HTML page", () => onHtml() ?? "The page is being made."));
    this.element.append(this.scriptItem);
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
    this.element.append(note);
    this.note = note;
  }

  update() {
    this.scriptItem.hidden = !this.script();
  }
}
