import assert from "node:assert/strict";
import { test } from "node:test";

import { setComputedPage } from "../../static/current_page.js";
import { mount, THEME } from "../../static/mount.js";

/** @import { Place } from "../../static/mount.js" */

/** What an app is asked to do, and what the page is told, on a page with as much of a browser as is needed.
 * @param {import("node:test").TestContext} t */
function onPage(t) {
  const window = new EventTarget();
  class Observer {
    observe() {}
    disconnect() {}
  }
  const page = {
    addEventListener: window.addEventListener.bind(window),
    removeEventListener: window.removeEventListener.bind(window),
    ResizeObserver: Observer,
    document: { baseURI: "http://lab/" },
    location: { pathname: "/here" },
  };
  Object.assign(globalThis, page);
  t.after(() => Object.keys(page).forEach((name) => Reflect.deleteProperty(globalThis, name)));
  /** @type {unknown[]} */
  const done = [];
  /** @type {Place[]} */
  const places = [];
  const show = mount((place, data) => {
    places.push(place);
    done.push(["made", data]);
    return {
      show: (shown) => done.push(["shown", shown]),
      draw: () => done.push("drawn"),
      remove: () => done.push("removed"),
    };
  });
  const root = { isConnected: true };
  const run = (/** @type {unknown} */ data, of = root) =>
    show(
      /** @type {never} */ ({
        parentElement: of,
        data: new TextEncoder().encode(JSON.stringify(data)),
        setTriggerValue: (/** @type {unknown[]} */ ...parts) => done.push(["told", ...parts]),
        setStateValue: (/** @type {unknown[]} */ ...parts) => done.push(["kept", ...parts]),
      }),
    );
  const taken = () => done.splice(0);
  return { window, places, root, run, taken };
}

test("an app is made once, and shows data that are new", async (t) => {
  const { run, taken } = onPage(t);
  run(1);
  await Promise.resolve();
  assert.deepEqual(taken(), [["made", 1], ["shown", 1], "drawn"]); // prettier-ignore
  run(1);
  assert.deepEqual(taken(), []);
  run(2);
  assert.deepEqual(taken(), [["shown", 2], "drawn"]);
});

test("of two runs that come before the style, the later counts", async (t) => {
  const { run, taken } = onPage(t);
  run(1);
  run(2);
  await Promise.resolve();
  assert.deepEqual(taken(), [["made", 2], ["shown", 2], "drawn"]); // prettier-ignore
});

test("a call that was overtaken takes nothing away, one that has left the page takes its own", async (t) => {
  const { run, root, taken, window } = onPage(t);
  const first = run(1);
  await Promise.resolve();
  run(2, { isConnected: true });
  await Promise.resolve();
  const last = run(3);
  taken();
  first();
  assert.deepEqual(taken(), []);
  root.isConnected = false;
  last();
  assert.deepEqual(taken(), ["removed"]);
  window.dispatchEvent(new Event(THEME));
  assert.deepEqual(taken(), ["drawn"], "the other one");
});

test("an app is drawn again in other colours", async (t) => {
  const { run, taken, window } = onPage(t);
  run(1);
  await Promise.resolve();
  taken();
  window.dispatchEvent(new Event(THEME));
  assert.deepEqual(taken(), ["drawn"]);
});

test("the page is told what happens on it, and not on one that was left", async (t) => {
  const { run, taken, places } = onPage(t);
  t.after(() => setComputedPage("here"));
  run(1);
  await Promise.resolve();
  taken();
  for (const [path, expected] of /** @type {const} */ ([
    [
      "here",
      [
        ["told", "go", 1],
        ["kept", "unit", 2],
      ],
    ],
    ["there", []],
  ])) {
    setComputedPage(path);
    places[0].tell("go", 1);
    places[0].keep("unit", 2);
    assert.deepEqual(taken(), expected);
  }
});
