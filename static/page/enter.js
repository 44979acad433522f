/** Enter applies the expression of the Graph lab; Shift+Enter starts another line. Streamlit applies a text area with
 * Ctrl+Enter, which is what it gets here instead. */

const FIELD = ".st-key-graph-expression textarea";

/** @param {KeyboardEvent} event */
export function press(event) {
  const { key, target, shiftKey, ctrlKey, metaKey, isComposing } = event;
  if (key !== "Enter" || shiftKey || ctrlKey || metaKey || isComposing) return;
  if (!(target instanceof HTMLTextAreaElement) || !target.matches(FIELD)) return;
  event.preventDefault();
  event.stopPropagation();
  target.dispatchEvent(new KeyboardEvent("keydown", { key, ctrlKey: true, bubbles: true, cancelable: true }));
}
