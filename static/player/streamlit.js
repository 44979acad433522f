/** The player as a component of a page. */

import { mount } from "../mount.js";
import { createPlayer } from "./player.js";

/** @import { PlayerData } from "../types.js" */

/** @type {Map<string, import("./player.js").Place>} */
const places = new Map();
const here = new URL(".", import.meta.url);

export const show = mount(
  ({ root, keep, tell }) => {
    const player = createPlayer(root, {
      graphviz: { source: new URL("../graphviz/graphviz.js", here).href, worker: new URL("worker.js", here).href },
      send: (state) => keep("state", state),
      ask: (wish) => tell("want", wish),
      typed: (field) =>
        /** @type {HTMLTextAreaElement | null} */ (document.querySelector(`.st-key-${field} textarea`))?.value,
      places,
    });
    return {
      element: player.element,
      show: (/** @type {PlayerData} */ data) => player.update(data),
      remove: () => player.destroy(),
    };
  },
  new URL("player.css", here),
);
