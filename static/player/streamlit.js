/** The player as a Streamlit component. The loader in lab/ui/player.py calls `show` whenever new data have come. */

import { mount } from "./player.js";

const players = new WeakMap();
const here = new URL(".", import.meta.url);
const style = fetch(new URL("player.css", here)).then(async (answer) => {
  const sheet = new CSSStyleSheet();
  return sheet.replace(await answer.text());
});

/** @param {{parentElement: ShadowRoot, data: Uint8Array, setStateValue: Function, setTriggerValue: Function}} component */
export async function show(component) {
  const root = component.parentElement;
  let entry = players.get(root);
  if (!entry) {
    entry = { component, text: "" };
    players.set(root, entry);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, await style];
    entry.player = mount(root, {
      graphviz: new URL("../graphviz/graphviz.js", here).href,
      send: (state) => entry.component.setStateValue("state", state),
      ask: (wish) => entry.component.setTriggerValue("want", wish),
    });
    component = entry.component;
  }
  entry.component = component; // its functions are new with each run
  if (!entry.player) return; // the first call is still waiting for the style; it will show these data
  const text = new TextDecoder().decode(component.data);
  if (text === entry.text) return;
  entry.text = text;
  entry.player.update(JSON.parse(text));
}

/** @param {ShadowRoot} root */
export function remove(root) {
  players.get(root)?.player?.destroy();
  players.delete(root);
}
