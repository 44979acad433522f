/** The key of this visit. The tab keeps it over a reload; no other tab and no other visitor has it. */

const NAME = "tensor-ops-lab visit";

/** Tell the page the key, unless it knows it. @param {import("../types.js").Component<HTMLElement>} component */
export function tell({ data, setStateValue }) {
  if (JSON.parse(new TextDecoder().decode(data)).known) return;
  let key = sessionStorage.getItem(NAME);
  if (!key) {
    key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    sessionStorage.setItem(NAME, key);
  }
  setStateValue("key", key);
}
