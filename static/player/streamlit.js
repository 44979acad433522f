/** The player as a Streamlit component. The loader in lab/ui/player.py calls `show` with new data. */

import { isCurrentPage } from "../current_page.js";
import { mount } from "./player.js";

/** @import { Component } from "../types.js" */
/** @typedef {{component: Component<ShadowRoot>, text: string, player?: ReturnType<typeof mount>}} Entry */

/** @type {WeakMap<ShadowRoot, Entry>} */
const players = new WeakMap();
/** @type {Map<string, import("./player.js").Place>} */
const places = new Map();
const here = new URL(".", import.meta.url);
const style = fetch(new URL("player.css", here)).then(async (answer) => {
  const sheet = new CSSStyleSheet();
  return sheet.replace(await answer.text());
});

/** Show a component's data, building its player on the first call. @param {Component<ShadowRoot>} component */
export async function show(component) {
  const root = component.parentElement;
  const known = players.get(root);
  const entry = known ?? { component, text: "" };
  entry.component = component; // each run of the script brings new functions
  if (!known) {
    players.set(root, entry);
    const sheet = await style;
    if (players.get(root) !== entry) return; // it was removed while the style loaded
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    entry.player = mount(root, {
      graphviz: {
        source: new URL("../graphviz/graphviz.js", here).href,
        worker: new URL("worker.js", here).href,
      },
      send: (state) => isCurrentPage() && entry.component.setStateValue("state", state),
      ask: (wish) => isCurrentPage() && entry.component.setTriggerValue("want", wish),
      typed: (field) =>
        /** @type {HTMLTextAreaElement | null} */ (document.querySelector(`.st-key-${field} textarea`))?.value,
      places,
    });
  }
  if (!entry.player) return; // the first call still waits for the style and will show these data
  const text = new TextDecoder().decode(entry.component.data);
  if (text === entry.text) return;
  entry.text = text;
  entry.player.update(JSON.parse(text));
}

/** Destroy the player if its place on the page is gone: Streamlit also calls this after each update.
 * @param {ShadowRoot} root */
export function remove(root) {
  if (root.isConnected) return;
  players.get(root)?.player?.destroy();
  players.delete(root);
}
