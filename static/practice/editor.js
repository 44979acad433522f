/** The editor: CodeMirror with Python, in the page's colours. */

import {
  bracketMatching,
  defaultKeymap,
  drawSelection,
  EditorState,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSelectionMatches,
  highlightSpecialChars,
  HighlightStyle,
  history,
  historyKeymap,
  indentOnInput,
  indentUnit,
  indentWithTab,
  keymap,
  lineNumbers,
  lintGutter,
  lintKeymap,
  pythonLanguage,
  search,
  searchKeymap,
  setDiagnostics,
  syntaxHighlighting,
  tags,
} from "../codemirror/codemirror.js";

const TAKEN = "take"; // a change that was made elsewhere
const WAY_OUT = 30_000; // milliseconds after Escape in which Tab leaves the editor
const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.self], color: "light-dark(#a0206a, #ff9ecb)" },
  { tag: [tags.string, tags.special(tags.string)], color: "light-dark(#0b6534, #86dca6)" },
  { tag: [tags.number, tags.bool, tags.null], color: "light-dark(#0a549e, #85c5ff)" },
  { tag: tags.comment, color: "light-dark(#566070, #a9b4c0)", fontStyle: "italic" },
  { tag: [tags.definition(tags.variableName), tags.function(tags.definition(tags.variableName))], fontWeight: "600" },
  { tag: [tags.className, tags.definition(tags.className)], color: "light-dark(#6b3fa0, #d8b4ff)", fontWeight: "600" },
  { tag: tags.meta, color: "light-dark(#6b3fa0, #d8b4ff)" },
]);
const WRONG = "light-dark(#a3123f, #ff9db0)";
const LOOK = EditorView.theme({
  "&": { height: "100%", color: "var(--st-text-color)", backgroundColor: "var(--st-background-color)" },
  "&.cm-focused": { outline: "2px solid var(--st-primary-color)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--st-code-font)", fontSize: "0.84rem", lineHeight: "1.45" },
  ".cm-content": { caretColor: "var(--st-text-color)" },
  ".cm-cursor": { borderLeft: "2px solid var(--st-text-color)" },
  ".cm-gutters": {
    color: "light-dark(#566070, #a9b4c0)",
    backgroundColor: "var(--st-secondary-background-color)",
    borderRight: "1px solid var(--st-border-color)",
  },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--st-primary-color) 9%, transparent)",
  },
  ".cm-activeLineGutter": { color: "var(--st-text-color)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--st-primary-color) 30%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--st-primary-color) 18%, transparent)" },
  "&.cm-focused .cm-matchingBracket": {
    backgroundColor: "color-mix(in srgb, var(--st-primary-color) 30%, transparent)",
    outline: "1px solid var(--st-primary-color)",
  },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent", outline: `1px dashed ${WRONG}` },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0 1px" },
  ".cm-lint-marker-error": { content: "none", textAlign: "center" },
  ".cm-lint-marker-error::after": { content: "'✗'", color: WRONG, fontWeight: "700" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: `underline wavy ${WRONG}` },
  ".cm-tooltip, .cm-panels": {
    color: "var(--st-text-color)",
    backgroundColor: "var(--st-secondary-background-color)",
    border: "1px solid var(--st-border-color)",
  },
  ".cm-tooltip": { maxWidth: "min(30rem, 90vw)", fontFamily: "var(--st-font)", fontSize: "0.85rem" },
  ".cm-diagnostic-error": { borderLeft: `4px solid ${WRONG}` },
  ".cm-panels button, .cm-panels input": {
    color: "inherit",
    background: "var(--st-background-color)",
    border: "1px solid var(--st-border-color)",
    fontSize: "0.8rem",
  },
  ".cm-panel.cm-search label": { fontSize: "0.8rem" },
  ".cm-searchMatch": { backgroundColor: "light-dark(#ffe08a, #6b5200)" },
  ".cm-searchMatch-selected": { backgroundColor: "light-dark(#ffb84d, #9a6a00)" },
});

/** What is wrong, and where.
 * @typedef {{line: number, column?: number | null, sentence: string}} Mark */

/** An editor of Python. @param {HTMLElement} parent @param {string} label @param {string} text
 * @param {{changed: (text: string) => void, check: () => void}} on */
export function editor(parent, label, text, on) {
  const check = () => {
    on.check();
    return true;
  };
  const wayOut = (/** @type {EditorView} */ one) => {
    one.setTabFocusMode(WAY_OUT);
    return false; // Escape may mean something else besides
  };
  const extensions = [
    keymap.of([
      { key: "Ctrl-Enter", mac: "Ctrl-Enter", run: check },
      { key: "Meta-Enter", run: check },
      { key: "Escape", run: wayOut },
      ...searchKeymap,
      ...lintKeymap,
      indentWithTab,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    lineNumbers(),
    lintGutter(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    highlightSelectionMatches(),
    history(),
    drawSelection(),
    indentUnit.of("    "),
    EditorState.tabSize.of(4),
    indentOnInput(),
    bracketMatching(),
    search({ top: true }),
    pythonLanguage,
    syntaxHighlighting(COLOURS),
    LOOK,
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    EditorView.updateListener.of(({ transactions, state }) => {
      if (transactions.some((one) => one.docChanged && !one.isUserEvent(TAKEN))) on.changed(state.doc.toString());
    }),
  ];
  const root = /** @type {Document | ShadowRoot} */ (parent.getRootNode());
  const view = new EditorView({ parent, root, state: EditorState.create({ doc: text, extensions }) });
  // In a component the page sees no editor behind a key, and would take letters for its own shortcuts.
  for (const kind of /** @type {const} */ (["keydown", "keypress", "keyup"]))
    parent.addEventListener(kind, (event) => event.stopPropagation());

  return {
    text: () => view.state.doc.toString(),
    focus: () => view.focus(),
    destroy: () => view.destroy(),

    /** Another text; undo brings the one before back. @param {string} other */
    replace(other) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: other }, selection: { anchor: 0 } });
    },

    /** Take a text that was written elsewhere: only what differs changes, and the cursor stays where it is. Nobody is
     * told of it. @param {string} other */
    take(other) {
      const here = view.state.doc.toString();
      let from = 0;
      while (from < here.length && here[from] === other[from]) from++;
      let [to, end] = [here.length, other.length];
      for (; to > from && end > from && here[to - 1] === other[end - 1]; end--) to--;
      view.dispatch({ changes: { from, to, insert: other.slice(from, end) }, userEvent: TAKEN });
    },

    /** Add lines at the end, and go there. @param {string} lines */
    append(lines) {
      const { doc } = view.state;
      const { length } = doc;
      const wanted = /^\s/.test(lines) ? 2 : 3; // a method stands nearer to what is above it
      const there = /\n*$/.exec(doc.sliceString(length - wanted))?.[0].length ?? 0;
      const gap = length ? "\n".repeat(wanted - there) : "";
      const end = length + gap.length + lines.length;
      view.dispatch({
        changes: { from: length, insert: gap + lines },
        selection: { anchor: end },
        scrollIntoView: true,
      });
      view.focus();
    },

    /** @param {Mark[]} marks of lines that may no longer be there */
    mark(marks) {
      const { doc } = view.state;
      const known = marks.filter(({ line }) => line >= 1 && line <= doc.lines);
      view.dispatch(
        setDiagnostics(
          view.state,
          known.map(({ line, column, sentence }) => {
            const { from, to, text: all } = doc.line(line);
            const start = Math.min(from + (column ? column - 1 : all.search(/\S|$/)), to);
            return { from: start, to, severity: "error", message: sentence };
          }),
        ),
      );
    },

    /** The cursor, where there is less room now. */
    showCursor() {
      view.dispatch({
        effects: EditorView.scrollIntoView(view.state.selection.main.head, { y: "nearest", yMargin: 30 }),
      });
    },

    /** @param {number} line @param {number | null} [column] */
    goTo(line, column) {
      const at = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
      const anchor = Math.min(at.from + (column ? column - 1 : 0), at.to);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
      view.focus();
    },
  };
}
