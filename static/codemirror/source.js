/** The parts of CodeMirror that static/practice/editor.js uses. `npm run vendor:editor` bundles them, with everything
 * that they import, into codemirror.js. */

export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { pythonLanguage } from "@codemirror/lang-python";
export { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { EditorState, StateEffect, StateField } from "@codemirror/state";
export {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
export { tags } from "@lezer/highlight";
