/** A Python editor made with CodeMirror, in the page's colours. */

import {
  bracketMatching,
  Decoration,
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
  StateEffect,
  StateField,
  syntaxHighlighting,
  tags,
} from "../codemirror/codemirror.js";
import { h, withCode } from "../player/dom.js";

const TAKEN = "take"; // the CodeMirror event of a change made in another tab
const TAB_LEAVES_MS = 30_000; // after Escape
const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.self], color: "light-dark(#a0206a, #ff9ecb)" },
  { tag: [tags.string, tags.special(tags.string)], color: "light-dark(#0b6534, #86dca6)" },
  { tag: [tags.number, tags.bool, tags.null], color: "light-dark(#0a549e, #85c5ff)" },
  { tag: tags.comment, color: "light-dark(#566070, #a9b4c0)", fontStyle: "italic" },
  { tag: [tags.definition(tags.variableName), tags.function(tags.definition(tags.variableName))], fontWeight: "600" },
  { tag: [tags.className, tags.definition(tags.className)], color: "light-dark(#6b3fa0, #d8b4ff)", fontWeight: "600" },
  { tag: tags.meta, color: "light-dark(#6b3fa0, #d8b4ff)" },
]);
const ERROR_COLOUR = "light-dark(#a3123f, #ff9db0)";
const LOOK = EditorView.theme({
  "&": { height: "100%", color: "var(--st-text-color)", backgroundColor: "var(--st-background-color)" },
  "&.cm-focused": { outline: "2px solid var(--st-primary-color)", outlineOffset: "-2px" },
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
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent", outline: `1px dashed ${ERROR_COLOUR}` },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0 1px" },
  ".cm-lint-marker-error": { content: "none", textAlign: "center" },
  ".cm-lint-marker-error::after": { content: "'✗'", color: ERROR_COLOUR, fontWeight: "700" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: `underline wavy ${ERROR_COLOUR}` },
  ".cm-tooltip, .cm-panels": {
    color: "var(--st-text-color)",
    backgroundColor: "var(--st-secondary-background-color)",
    border: "1px solid var(--st-border-color)",
  },
  ".cm-tooltip": { maxWidth: "min(30rem, 90vw)", fontFamily: "var(--st-font)", fontSize: "0.85rem" },
  ".cm-diagnostic-error": { borderLeft: `4px solid ${ERROR_COLOUR}` },
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

/** Lines that are lit, and how: names of classes. @typedef {Map<number, string>} LitLines */

const LIGHT = /** @type {typeof StateEffect.define<LitLines>} */ (StateEffect.define)();
const LIT = StateField.define({
  create: () => Decoration.none,
  update(lines, { changes, effects, state }) {
    const effect = effects.find((one) => one.is(LIGHT));
    if (!effect) return lines.map(changes);
    const known = [...effect.value].filter(([line]) => line >= 1 && line <= state.doc.lines).sort(([a], [b]) => a - b);
    return Decoration.set(
      known.map(([line, name]) => Decoration.line({ class: name }).range(state.doc.line(line).from)),
    );
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** An error in the text, and its place.
 * @typedef {{line: number, column?: number | null, sentence: string}} Mark */

/** Make an editor in a parent element. @param {HTMLElement} parent @param {string} label @param {string} text
 * @param {{changed: (text: string) => void, check: () => void, pointed?: (line: number | null) => void}} on
 *   pointed: called with the line under the pointer, or that of a moved cursor */
export function editor(parent, label, text, on) {
  const check = () => {
    on.check();
    return true;
  };
  const letTabLeave = (/** @type {EditorView} */ one) => {
    one.setTabFocusMode(TAB_LEAVES_MS);
    return false; // Escape may have another meaning, too
  };
  const extensions = [
    keymap.of([
      { key: "Ctrl-Enter", mac: "Ctrl-Enter", run: check },
      { key: "Meta-Enter", run: check },
      { key: "Escape", run: letTabLeave },
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
    LIT,
    pythonLanguage,
    syntaxHighlighting(COLOURS),
    LOOK,
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    EditorView.updateListener.of(({ transactions, state, selectionSet }) => {
      if (transactions.some((one) => one.docChanged && !one.isUserEvent(TAKEN))) on.changed(state.doc.toString());
      if (selectionSet) on.pointed?.(state.doc.lineAt(state.selection.main.head).number);
    }),
    EditorView.domEventHandlers({
      mousemove(event, { state }) {
        const at = view.posAtCoords(event);
        on.pointed?.(at === null ? null : state.doc.lineAt(at).number);
      },
      mouseleave: () => on.pointed?.(null),
    }),
  ];
  const root = /** @type {Document | ShadowRoot} */ (parent.getRootNode());
  const view = new EditorView({ parent, root, state: EditorState.create({ doc: text, extensions }) });
  // The page cannot see that a key belongs to an editor, and would use it as a shortcut; those with Ctrl may be its own
  for (const kind of /** @type {const} */ (["keydown", "keypress", "keyup"]))
    parent.addEventListener(kind, (event) => event.ctrlKey || event.metaKey || event.stopPropagation());

  return {
    text: () => view.state.doc.toString(),
    focus: () => view.focus(),
    destroy: () => view.destroy(),

    /** Replace the text; undo restores the old one. @param {string} other */
    replace(other) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: other }, selection: { anchor: 0 } });
    },

    /** Take a text from another tab: change only what differs, keep the cursor where it is and do not call `changed`.
     * @param {string} other */
    take(other) {
      const here = view.state.doc.toString();
      let from = 0;
      while (from < here.length && here[from] === other[from]) from++;
      let [to, end] = [here.length, other.length];
      for (; to > from && end > from && here[to - 1] === other[end - 1]; end--) to--;
      view.dispatch({ changes: { from, to, insert: other.slice(from, end) }, userEvent: TAKEN });
    },

    /** Add lines at the end and go there. @param {string} lines */
    append(lines) {
      const { doc } = view.state;
      const { length } = doc;
      const wanted = /^\s/.test(lines) ? 2 : 3; // one empty line above a method, two above other code
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

    /** Underline errors, except on lines that are gone. @param {Mark[]} marks */
    mark(marks) {
      const { doc } = view.state;
      const known = marks.filter(({ line }) => line >= 1 && line <= doc.lines);
      view.dispatch(
        setDiagnostics(
          view.state,
          known.map(({ line, column, sentence }) => {
            const { from, to, text: all } = doc.line(line);
            const start = Math.min(from + (column ? column - 1 : all.search(/\S|$/)), to);
            const renderMessage = () => h("span", {}, ...withCode(sentence));
            return { from: start, to, severity: "error", message: sentence, renderMessage };
          }),
        ),
      );
    },

    /** Light lines, and no others. @param {LitLines} lines */
    light(lines) {
      view.dispatch({ effects: LIGHT.of(lines) });
    },

    /** Scroll to the cursor when the editor has become smaller. */
    showCursor() {
      view.dispatch({
        effects: EditorView.scrollIntoView(view.state.selection.main.head, { y: "nearest", yMargin: 30 }),
      });
    },

    /** Put the cursor at a line and column, from 1. @param {number} line @param {number | null} [column] */
    goTo(line, column) {
      const at = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
      const anchor = Math.min(at.from + (column ? column - 1 : 0), at.to);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
      view.focus();
    },
  };
}
