import assert from "node:assert/strict";
import { test } from "node:test";

import { bestFor } from "../../static/player/layout.js";
import { View } from "../../static/player/view.js";

/** @import { Plan, Size } from "../../static/player/layout.js" */

const READ = 1.286; // the smallest scale of a presented drawing
const WINDOWS = [
  { width: 1002, height: 485 },
  { width: 496, height: 460 },
];

/** @type {() => void} what the browser calls when the window of the drawing has another size */
let resized = () => {};
let calm = false; // the reader has asked the system for less motion

/** Return a presented view in a window, and what sets another size of the window. @param {Size} size
 * @param {string[]} around selectors of what the view is in */
function presented(size, around = [".present"]) {
  const closest = (/** @type {string} */ selector) => (around.includes(selector) ? {} : null);
  const element = () => {
    const set = new Map();
    const animate = (/** @type {unknown} */ path) => set.set("path", path);
    return { addEventListener() {}, animate, closest, set, getAttribute: () => "", setAttribute: set.set.bind(set) };
  };
  const [svg, scene] = [{ ...element(), clientWidth: size.width, clientHeight: size.height }, element()];
  const observer = class {
    /** @param {() => void} report */
    constructor(report) {
      resized = report;
    }
    observe() {}
  };
  Object.assign(globalThis, { ResizeObserver: observer, matchMedia: () => ({ matches: calm }) });
  const view = new View(/** @type {any} */ (svg), /** @type {any} */ (scene));
  const resize = (/** @type {Size} */ next) => {
    Object.assign(svg, { clientWidth: next.width, clientHeight: next.height });
    resized();
  };
  resize(size);
  return { view, resize };
}

/** Return whether a box of the drawing is in the window as a whole.
 * @param {View} view @param {import("../../static/player/layout.js").Point & Size} box */
function isWhole({ x, y, scale, window }, box) {
  const [left, top] = [x + box.x * scale, y + box.y * scale];
  return left >= 0 && top >= 0 && left + box.width * scale <= window.width && top + box.height * scale <= window.height;
}

test("a presented drawing that can be read as a whole is shown as a whole, and another follows the events", () => {
  for (const [i, size] of WINDOWS.entries()) {
    const { view, resize } = presented(size);
    view.open({ width: 350, height: 300 }, { x: 0, y: 0 });
    assert.ok(view.fitted && view.scale >= READ);
    const large = { width: 2000, height: 900 };
    view.open(large, { x: 0, y: 0 });
    for (let x = 0; x <= large.width - 340; x += 83) {
      for (let y = 0; y <= large.height - 330; y += 57) {
        const box = { x, y, width: 340, height: 330 }; // two cards of an event: nearly as high as the window
        view.reveal([box]);
        assert.equal(view.scale, READ);
        assert.ok(isWhole(view, box), `${x} ${y} in ${size.width}`);
        resize({ ...size, width: size.width - 40 });
        assert.ok(isWhole(view, box), `${x} ${y}, when the window has become smaller`);
        resize(WINDOWS[i]);
      }
    }
  }
});

test("a presented drawing can be read until the reader makes it smaller, and what is lit stays in sight", () => {
  const { view, resize } = presented(WINDOWS[0]);
  const box = { x: 1600, y: 500, width: 300, height: 300 };
  view.open({ width: 2000, height: 900 }, { x: 0, y: 0 });
  view.reveal([box]);
  view.turn();
  assert.ok(view.scale === READ && isWhole(view, box));
  view.zoom(0.5);
  for (const size of WINDOWS) {
    resize(size);
    assert.ok(view.scale === READ / 2 && isWhole(view, box));
  }
  view.turn();
  assert.ok(view.scale === READ && isWhole(view, box));
});

test("a presented drawing glides to the next event, unless the reader wants less motion", () => {
  for (calm of [true, false]) {
    const { view } = presented(WINDOWS[0]);
    view.open({ width: 2000, height: 900 }, { x: 0, y: 0 });
    const before = view.placing;
    view.reveal([{ x: 1600, y: 500, width: 300, height: 300 }]);
    const { transform } = /** @type {any} */ (Reflect.get(view.scene, "set")).get("path") ?? {};
    assert.deepEqual(transform, calm ? undefined : [before, view.placing]);
  }
});

test("a drawing says on which sides it goes on", () => {
  const { view } = presented(WINDOWS[1]);
  const cut = () => /** @type {Map<string, string>} */ (Reflect.get(view.svg, "set")).get("data-cut") ?? "";
  view.open({ width: 350, height: 300 }, { x: 0, y: 0 });
  assert.equal(cut(), "");
  view.open({ width: 1000, height: 300 }, { x: 0, y: 0 });
  for (const [x, sides] of /** @type {const} */ ([
    [0, "right"],
    [500, "left right"],
    [900, "left"],
  ])) {
    view.centre({ x, y: 0 });
    assert.equal(cut(), sides);
  }
});

/** Return a plan of two cards and an edge. @param {Partial<Plan>} given @param {number} apart pixels between centres */
function plan(given, apart) {
  const card = { title: "", full: "", rim: 0, width: 150, height: 150, grid: null };
  const boxes = { "node-0": { x: 75, y: 75 }, "node-1": { x: 75 + apart, y: 75 } };
  const made = {
    down: false,
    compact: false,
    itemOf: Object.keys(boxes),
    boxes: new Map(Object.entries(boxes)),
    cards: new Map(Object.keys(boxes).map((key) => [key, card])),
    edges: [{ id: "1-0", child: 0, node: 1 }],
    height: 300,
    ...given,
  };
  return /** @type {Plan} */ (/** @type {unknown} */ (made));
}

test("while the two cards of an event are far apart, a presented drawing is smaller, as far as it can be read", () => {
  const card = { x: 300, y: 0, width: 100, height: 100 };
  for (const [around, largest, readable] of /** @type {const} */ ([
    [[".present"], READ, READ],
    [[".present", ".narrow"], 1, 0.72],
  ])) {
    const { view } = presented(WINDOWS[0], [...around]);
    view.open({ width: 4000, height: 900 }, { x: 0, y: 0 });
    for (const width of [740, 1300, 1500]) {
      const [far, whole] = [{ ...card, width }, (WINDOWS[0].width - 12) / width];
      view.reveal([far, card]);
      assert.ok(isWhole(view, card) && isWhole(view, far) === whole >= readable);
      assert.equal(view.scale, whole >= readable ? Math.min(largest, whole) : largest);
      view.reveal([card]);
      assert.equal(view.scale, largest);
    }
  }
});

test("the plan is one that is read as a whole, or else one in which an event's cards are in sight together", () => {
  const room = WINDOWS[0];
  const [far, near] = [plan({ width: 900 }, 700), plan({ width: 1500, down: true }, 200)];
  const [whole, compact] = [plan({ width: 700, compact: true }, 500), plan({ width: 1500, compact: true }, 200)];
  const [farWhole, farCut] = [plan({ width: 700, afar: true }, 500), plan({ width: 1500, afar: true }, 200)];
  const cases = [
    { plans: [far, near], best: near },
    { plans: [far, near, whole], best: whole },
    { plans: [compact, near], best: near },
    { plans: [far, compact], best: compact },
    { plans: [farCut, whole], best: whole }, // with smaller cells
    { plans: [farWhole, whole], best: farWhole },
    { plans: [farCut, near], best: farCut },
    { plans: [farCut, near, compact], dense: true, best: compact },
    { plans: [farCut, near], dense: true, best: near },
    { plans: [farWhole, whole, compact], dense: true, best: farWhole },
  ];
  for (const { plans, dense, best } of cases) {
    for (const order of [plans, plans.toReversed()]) assert.equal(bestFor(order, room, 2, READ, false, dense), best);
  }
});

test("of two drawings beside each other each shows the cards of both events, or else those of its own", () => {
  const [near, far] = [300, 1500].map((x) => ({ x, y: 300, width: 100, height: 100 }));
  for (const [other, both] of /** @type {const} */ ([
    [{ ...near, x: 560 }, true],
    [far, false],
  ])) {
    const union = { ...near, width: other.x + other.width - near.x };
    const views = [near, other].map((own) => {
      const { view } = presented(WINDOWS[1]);
      view.open({ width: 2000, height: 900 }, { x: 0, y: 0 });
      view.reveal([union, own, own]);
      assert.ok(isWhole(view, own) && isWhole(view, union) === both);
      return [view.x, view.y, view.scale];
    });
    assert.equal(String(views[0]) === String(views[1]), both);
  }
});
