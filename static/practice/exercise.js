/** An exercise: the editor with the learner's file, its buttons, and the result of the last check.
 *
 * The browser stores the text at every change; the text goes to the server only with a check. */

import { mount } from "../mount.js";
import { h, save, setText } from "../player/dom.js";
import { hashed } from "../progress/hash.js";
import { editor } from "./editor.js";
import { Draft } from "./draft.js";
import { SharedText } from "./shared.js";
import { resultElements } from "./result.js";

/** @import { Place } from "../mount.js" */
/** @import { ShownExercise } from "../types.js" */
/** @import { Copy } from "./draft.js" */

const MAX_CHARACTERS = 300_000; // of a text that is checked

/** The place of the exercises of a course: one text has one editor. */
class Exercises {
  /** @param {Place} place */
  constructor(place) {
    this.place = place;
    /** @type {Exercise | null} */
    this.open = null;
  }

  /** @param {ShownExercise} shown */
  show(shown) {
    if (this.open?.shown.key !== shown.key) {
      this.remove();
      this.open = new Exercise(this.place, shown);
    }
    this.open.show(shown);
  }

  remove() {
    this.open?.remove();
  }
}

class Exercise {
  /** @param {Place} place @param {ShownExercise} shown */
  constructor({ root, tell }, shown) {
    this.shown = shown;
    this.send = tell;
    this.draft = new Draft(shown.key);
    /** the text of the last check since this page was opened, or "" */
    this.checked = "";
    this.drawn = "";
    const button = (/** @type {string} */ text, /** @type {() => void} */ onclick, name = "") =>
      h("button", { onclick, class: name }, text);
    this.checkButton = button("Check (Ctrl+Enter)", () => this.check(), "check");
    this.stopButton = button("Stop", () => this.send("stop", true));
    this.linesButton = button("Insert the starter lines", () => this.putIn());
    this.note = h("p", { class: "said", role: "status" });
    const place = h("div", { class: "editor" });
    this.how = h("span");
    const help = h(
      "p",
      { class: "help" },
      "Tab indents; Escape, then Tab leaves the editor; Ctrl+F searches. ",
      this.how,
    );
    this.headline = h("p", { class: "headline", role: "status" });
    this.body = h("div", { class: "body" });
    this.result = h("section", { class: "result", "aria-label": "Result" }, this.headline, this.body);
    this.copies = h("dialog", { "aria-label": "Earlier copies" });
    const bar = h(
      "div",
      { class: "bar" },
      this.checkButton,
      this.stopButton,
      this.linesButton,
      button("Earlier copies", () => this.openCopies()),
      button("Download", () => this.download()),
      button(shown.again, () => this.startAgain()),
      this.note,
    );
    this.element = h("div", { class: "exercise" }, bar, place, this.result, help, this.copies);
    root.append(this.element);
    this.element.addEventListener("keydown", (event) => {
      if (
        event.key !== "Enter" ||
        !(event.ctrlKey || event.metaKey) ||
        place.contains(/** @type {Node} */ (event.target))
      )
        return;
      event.preventDefault();
      this.check();
    });
    const text = this.draft.text() ?? shown.starter;
    this.editor = editor(place, `${shown.file}, in Python. To leave it: Escape, then Tab.`, text, {
      changed: (now) => this.store(now),
      check: () => this.check(),
    });
    this.shared = new SharedText(this.draft, {
      take: (other) => this.editor.take(other),
      replaced: (other) => this.keep(other),
    });
    this.wake = () => this.shared.wake();
    for (const waking of ["focus", "pageshow"]) addEventListener(waking, this.wake);
  }

  remove() {
    for (const waking of ["focus", "pageshow"]) removeEventListener(waking, this.wake);
    this.shared.close();
    this.editor.destroy();
    this.element.remove();
  }

  /** Show new data: the state of the check and its result. @param {ShownExercise} shown */
  show(shown) {
    this.shown = shown;
    const { working, result, how, runs, lines } = shown;
    this.linesButton.hidden = !lines;
    this.checkButton.disabled = !runs;
    this.stopButton.hidden = working === null;
    setText(this.how, how);
    const drawn = JSON.stringify([working, result]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    if (working !== null) {
      this.say(`Checking ${working}`, "working");
      return;
    }
    if (!result) {
      this.say("", "");
      return;
    }
    const finished = result.passed && shown.onward;
    const state = finished ? "finished" : result.passed ? "passed" : "failed";
    this.say(`${result.passed ? "✓" : "✗"} ${result.headline}`, state);
    this.body.replaceChildren(
      ...(finished ? [this.end(shown.onward, result.hash)] : []),
      ...resultElements(result, (line, column) => this.editor.goTo(line, column)),
    );
    // It may be longer than the window is high. Do not scroll to a result from an earlier visit.
    if (this.checked) this.result.scrollIntoView({ block: "nearest" });
    this.editor.showCursor();
    const { line, column, sentence } = result;
    const unchanged = result.hash === hashed(this.editor.text());
    this.editor.mark(line && unchanged ? [{ line, column, sentence: sentence || result.headline }] : []);
    this.draft.addResult(result.hash, result.headline, result.tasksPassed);
  }

  /** Return the end of a course. @param {string} onward @param {string} hash hash of the text that passed */
  end(onward, hash) {
    const text = this.draft.copies().findLast((copy) => hashed(copy.text) === hash)?.text ?? this.editor.text();
    const lines = text.trimEnd().split("\n").length;
    const sentence = `You have built an engine, in ${lines} ${lines === 1 ? "line" : "lines"} of your own code.`;
    const button = h("button", { class: "check", onclick: () => this.send("go", true) }, `${onward} →`);
    return h("div", { class: "end" }, h("p", {}, sentence), button);
  }

  /** Show a headline without details. @param {string} headline @param {string} state */
  say(headline, state) {
    setText(this.headline, headline);
    this.element.dataset.state = state;
    this.body.replaceChildren();
  }

  /** Store the text. @param {string} text */
  store(text) {
    if (this.shared.write(text)) setText(this.note, "");
    else setText(this.note, "This browser has no room to keep your text. Download it before you leave.");
  }

  /** Keep a text that another tab's newer text has replaced, or the other way round. @param {string} text */
  keep(text) {
    this.draft.copy({ text, note: "replaced by what you typed in another tab" });
    setText(this.note, "You changed this file in two tabs. The newer text is here, the other under Earlier copies.");
  }

  /** Store a copy of the text. The note does not replace the result of a check. @param {string} note */
  copy(note) {
    const [text, last] = [this.editor.text(), this.draft.copies().at(-1)];
    this.draft.copy({ text, note: last?.text === text && last.note ? "" : note });
  }

  check() {
    if (!this.shown.runs) return;
    const text = this.editor.text();
    if (text.length > MAX_CHARACTERS) {
      setText(this.note, `A check takes at most ${MAX_CHARACTERS / 1000} thousand characters. Your text is not lost.`);
      return;
    }
    this.checked = text;
    this.copy("");
    this.editor.mark([]);
    this.drawn = "";
    this.say("Checking", "working");
    this.send("check", { key: this.shown.key, text });
  }

  putIn() {
    const { lines } = this.shown;
    if (this.editor.text().includes(lines.trim())) setText(this.note, "These lines are in the file already.");
    else this.editor.append(lines);
  }

  startAgain() {
    const before = this.editor.text();
    this.copy("before you started again");
    this.editor.replace(this.shown.starter);
    const back = () => {
      this.editor.replace(before);
      setText(this.note, "Your text is back.");
    };
    const undo = h("button", { onclick: back }, "Undo");
    this.note.replaceChildren("This is the file to start with; your text is under Earlier copies. ", undo);
  }

  download() {
    save(new Blob([this.editor.text()], { type: "text/x-python" }), this.shown.file);
  }

  // -- Earlier copies

  openCopies() {
    const item = (/** @type {Copy} */ one) => {
      const lines = one.text.split("\n").length;
      const when = new Date(one.when).toLocaleString();
      const label = `${when}, ${lines} ${lines === 1 ? "line" : "lines"}${one.note && `: ${one.note}`}`;
      const take = h("button", { onclick: () => this.takeBack(one) }, "Restore this copy");
      const text = h("pre", { tabindex: 0, role: "region", "aria-label": "The copy" }, h("code", {}, one.text));
      return h("details", { name: "copy" }, h("summary", {}, label), take, text); // one of them is open
    };
    const all = this.draft.copies().reverse().map(item);
    const none = h("p", {}, "There are no copies yet. Each check keeps one.");
    const close = h("button", { onclick: () => this.copies.close() }, "Close");
    const title = h("h4", {}, "Earlier copies in this browser");
    this.copies.replaceChildren(title, ...(all.length ? all : [none]), h("div", { class: "bar" }, close));
    this.copies.showModal();
  }

  /** Put a copy back into the editor. @param {Copy} one */
  takeBack(one) {
    this.copy("before you restored an earlier copy");
    this.editor.replace(one.text);
    this.copies.close();
    setText(this.note, "The copy is back in the editor. Undo or Earlier copies bring back your last text.");
    this.editor.focus();
  }
}

export const show = mount((place) => new Exercises(place), new URL("exercise.css", import.meta.url));
