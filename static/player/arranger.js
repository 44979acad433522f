/** The one who has a graph laid out: by Graphviz in a worker while that is quick enough, else by depth. */

import { arrangeByDepth, describe, ARRANGEMENTS, withGraphviz } from "./layout.js";

/** @import { Plan, Size } from "./layout.js" */
/** @import { Playback } from "./playback.js" */

/** @typedef {object} Engine
 * @property {string} source where Graphviz is: an address, or its text
 * @property {string} worker the address of worker.js */

/** @typedef {{index: number, answer: string} | {done: true} | {ready: true} | {error: string}} Report of the worker */

const LOADING = 10_000; // milliseconds that Graphviz may take to load
const LIMIT = 1_200; // that it may take for a graph nobody has asked to wait for
const PATIENT = 60_000; // for one that somebody has
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

  /** The layout, of several styles, in which the window shows the graph largest; small cards only where they help.
   * Always answers: with a plan that is `simple` where Graphviz has none in time, or where nobody waits for it.
   * @param {Playback} playback @param {Set<string>} folded @param {Size} room
   * @param {{patient?: boolean, onProgress?: (milliseconds: number) => void}} options
   * @returns {Promise<Plan>} */
  arrange(playback, folded, room, { patient = false, onProgress = () => {} } = {}) {
    this.cancel(); // what the worker does now nobody wants any more
    if (!this.worker) this.start();
    const descriptions = ARRANGEMENTS.map((style) => describe(playback, folded, style));
    /** @type {Plan | null} */
    let best = null;
    let most = 0;
    return new Promise((resolve) => {
      const begin = performance.now();
      const limit = patient ? PATIENT : LIMIT;
      let deadline = begin + (this.loaded ? limit : LOADING);
      /** @param {boolean} early before the worker was done */
      const finish = (early) => {
        clearInterval(ticking);
        this.listener = null;
        this.cancel = () => {};
        if (early) this.stop();
        resolve(best ?? arrangeByDepth(descriptions[0]));
      };
      const ticking = setInterval(() => {
        const now = performance.now();
        if (now > deadline) finish(true);
        else onProgress(now - begin);
      }, TICK);
      this.cancel = () => finish(true);
      this.listener = (report) => {
        if ("ready" in report) {
          deadline = performance.now() + limit;
        } else if ("index" in report) {
          const plan = withGraphviz(descriptions[report.index], report.answer);
          const { liking } = ARRANGEMENTS[report.index];
          const score = liking * Math.min(room.width / plan.width, room.height / plan.height, 1);
          if (score > most) [best, most] = [plan, score];
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
