/** The one who has a graph laid out: by Graphviz in a worker while that is quick enough, else by depth. */

import { arrangeByDepth, describe, stylesFor, withGraphviz } from "./layout.js";

/** @import { Plan } from "./layout.js" */
/** @import { Playback } from "./playback.js" */

/** @typedef {object} Engine
 * @property {string} source where Graphviz is: an address, or its text
 * @property {string} worker the address of worker.js */

/** @typedef {{index: number, answer: string} | {done: true} | {ready: true} | {error: string}} Report of the worker */

const LOADING = 10_000; // milliseconds that Graphviz may take to load
const LIMIT = 1_200; // that it may take for a graph nobody has asked to wait for
const PATIENT = 60_000; // for one that somebody has
const LONG_FROM = 500; // cards that take long to make, too: loading counts
const TICK = 200; // between two reports of progress

export class Arranger {
  /** @param {Engine} engine */
  constructor(engine) {
    this.engine = engine;
    /** @type {Worker | null} */
    this.worker = null;
    this.loaded = false;
    /** @type {((report: Report) => void) | null} */
    this.listener = null;
    /** @type {() => void} what to do when nobody wants to wait any longer */
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
      this.stop(); // a page that may not have workers
    }
  }

  stop() {
    this.worker?.terminate();
    this.worker = null;
  }

  /** A layout for each style that the graph is tried in. Always answers: with one plan that is `simple` where Graphviz
   * does not answer in time, or where nobody waits for it.
   * @param {Playback} playback @param {Set<string>} folded
   * @param {{afar?: boolean, patient?: boolean, onProgress?: (milliseconds: number) => void}} options
   * @returns {Promise<Plan[]>} */
  arrange(playback, folded, { afar = false, patient = false, onProgress = () => {} } = {}) {
    this.cancel(); // what the worker does now nobody wants any more
    if (!this.worker) this.start();
    const descriptions = stylesFor(playback, folded, afar).map((style) => describe(playback, folded, style));
    /** @type {Plan[]} */
    const plans = [];
    return new Promise((resolve) => {
      const begin = performance.now();
      const limit = patient ? PATIENT : LIMIT;
      const many = !patient && descriptions[0].items.size > LONG_FROM;
      let deadline = begin + (this.loaded || many ? limit : LOADING);
      /** @param {boolean} early before the worker was done */
      const finish = (early) => {
        clearInterval(ticking);
        this.listener = null;
        this.cancel = () => {};
        if (early) this.stop();
        resolve(plans.length ? plans : [arrangeByDepth(descriptions[0])]);
      };
      const ticking = setInterval(() => {
        const now = performance.now();
        if (now > deadline) finish(true);
        else onProgress(now - begin);
      }, TICK);
      this.cancel = () => finish(true);
      this.listener = (report) => {
        if ("ready" in report) {
          if (!many) deadline = performance.now() + limit;
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
