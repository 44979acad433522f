/** A worker that runs Graphviz, so that the page stays responsive during a layout. The first message gives Graphviz's
 * address (or its source text, on a page opened from disk), later ones the graphs; arranger.js ends a slow worker.
 * A plain script without imports: started from a Blob, it also runs on a page opened from disk. A module would not. */

/** @import { Graphviz } from "../types.js" */

/** @type {Promise<Graphviz>} */
let loading;

/** Load Graphviz. @param {string} source its address or its source text */
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
