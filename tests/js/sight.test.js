import assert from "node:assert/strict";
import { test } from "node:test";

import { Figure } from "../../static/charts/charts.js";
import { Network } from "../../static/network/network.js";

test("of several changes of sight that are reported at once, the last one counts", (t) => {
  /** @type {((changes: {isIntersecting: boolean}[]) => void)[]} */
  const reports = [];
  class Observer {
    /** @param {() => void} report */
    constructor(report) {
      if (new.target !== Observer) reports.push(report);
    }
    observe() {}
  }
  class SightObserver extends Observer {}
  const nothing = () => {};
  const made = () => ({
    addEventListener: nothing,
    append: nothing,
    setAttribute: nothing,
    toggleAttribute: nothing,
    style: {},
  });
  const document = { createElement: made, createElementNS: made, createTextNode: made };
  const page = { document, ResizeObserver: Observer, IntersectionObserver: SightObserver };
  Object.assign(globalThis, page);
  t.after(() => Object.keys(page).forEach((name) => Reflect.deleteProperty(globalThis, name)));
  const [figure, network] = [new Figure("loss"), new Network()];
  for (const changes of [[false], [false, true], [true, false], [false, true, false, true]]) {
    for (const report of reports) report(changes.map((isIntersecting) => ({ isIntersecting })));
    const last = changes[changes.length - 1];
    assert.deepEqual([figure.seen, network.seen], [last, last], String(changes));
  }
});
