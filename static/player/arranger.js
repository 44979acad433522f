/** Graph layout: by Graphviz in a worker if it answers in time, otherwise by depth. */

import { arrangeByDepth, ARRANGEMENTS, describe, withGraphviz } from "./layout.js";

/** @import { Plan } from "./layout.js" */
/** @import { TraceStates } from "./states.js" */

/** @typedef {object} Engine where the layout engine comes from
 * @property {string} source Graphviz: its address or its source text
 * @property {string} worker the address of worker.js */

/** @typedef {{index: number, answer: string} | {done: true} | {ready: true} | {error: string}} Report by the worker */

// Times are in milliseconds.
const LOAD_LIMIT_MS = 10_000;
const LAYOUT_LIMIT_MS = 1_200;

export class Arranger {
  /** @param {Engine} engine */
  constructor(engine) {
    this.engine = engine;
    /** @type {Worker | null} */
    this.worker = null;
    this.loaded = false;
    /** @type {((report: Report) => void) | null} */
    this.listener = null;
    /** @type {() => void} ends the layout in progress with what is there */
    this.cancel = () => {};
    this.start();
  }

  start() {
    this.loaded = false;
    try {
      const worker = new Worker(this.engine.worker);
      this.worker = worker;
      worker.onmessage = ({ data }) => {
        if (data.ready) this.loaded = true;
        this.listener?.(data);
      };
      worker.onerror = () => {
        this.stop();
        this.listener?.({ error: "it could not be loaded" });
      };
      worker.postMessage({ source: this.engine.source });
    } catch {
      this.stop(); // the page does not allow workers
    }
  }

  stop() {
    this.worker?.terminate();
    this.worker = null;
  }

  /** Lay the graph out in each style. Always resolves: if Graphviz fails, takes too long or is cancelled, to the plans
   * that are ready or to one `simple` plan.
   * @param {TraceStates} states @param {Set<string>} folded @param {boolean} afar @returns {Promise<Plan[]>} */
  arrange(states, folded, afar = false) {
    this.cancel(); // a layout still in progress is out of date
    if (!this.worker) this.start();
    const sizes = afar ? [true, false] : [false]; // large cells, and smaller ones if only they fit
    const styles = sizes.flatMap((size) => ARRANGEMENTS.map((style) => ({ ...style, afar: size })));
    const descriptions = styles.map((style) => describe(states, folded, style));
    /** @type {Plan[]} */
    const plans = [];
    return new Promise((resolve) => {
      /** @param {boolean} early the worker is not done, so it has to be stopped */
      const finish = (early) => {
        clearTimeout(limit);
        this.listener = null;
        this.cancel = () => {};
        if (early) this.stop();
        resolve(plans.length ? plans : [arrangeByDepth(descriptions[0])]);
      };
      let limit = setTimeout(() => finish(true), this.loaded ? LAYOUT_LIMIT_MS : LOAD_LIMIT_MS);
      this.cancel = () => finish(true);
      this.listener = (report) => {
        if ("ready" in report) {
          clearTimeout(limit);
          limit = setTimeout(() => finish(true), LAYOUT_LIMIT_MS);
        } else if ("index" in report) {
          plans.push(withGraphviz(descriptions[report.index], report.answer));
        } else {
          finish("error" in report);
        }
      };
      if (this.worker) this.worker.postMessage({ dots: descriptions.map(({ dot }) => dot) });
      else finish(false);
    });
  }

  destroy() {
    this.cancel();
    this.stop();
  }
}
