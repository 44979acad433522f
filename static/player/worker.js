/** Graphviz in a thread of its own, so that the page answers while a graph is laid out. It is told where Graphviz is
 * (an address, or its text in a page from a disk), then what to lay out; it is ended when it takes too long.
 * A plain script without imports: as a Blob, it also starts in a page from a disk, where a module would not. */

/** @import { Graphviz } from "../types.js" */

/** @type {Promise<Graphviz>} */
let loading;

/** @param {string} source */
async function load(source) {
  const inside = source.includes("\n") || source.includes("export{");
  const address = inside ? URL.createObjectURL(new Blob([source], { type: "text/javascript" })) : source;
  const { Graphviz } = await import(address);
  return Graphviz.load();
}

globalThis.onmessage = async ({ data }) => {
  try {
    if (data.source !== undefined) {
      loading = load(data.source);
      await loading;
      postMessage({ ready: true });
      return;
    }
    const graphviz = await loading;
    for (const [index, dot] of data.dots.entries()) postMessage({ index, answer: graphviz.layout(dot, "json", "dot") });
    postMessage({ done: true });
  } catch (error) {
    postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
};
