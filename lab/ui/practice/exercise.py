"""A file for the learner to write, with its check: editor and result, for any page with tasks. The JavaScript is in
static/practice/.

The text lives in the browser and comes here with a check only; it goes to a process of its own and nowhere else. What
its code gives back is shown as text, by the browser.

A page asks for `finished` at its beginning, draws `exercise`, and ends with `wait`.
"""

from __future__ import annotations

import secrets
from datetime import datetime
from pathlib import Path
from typing import Any

import streamlit as st

from lab.practice import folder as own_folder
from lab.practice import sandbox
from lab.practice.checker import Report
from lab.practice.checking import Checking
from lab.practice.folder import Changed, FolderError
from lab.practice.told import told
from lab.trace.recording import strict_json
from lab.ui import progress
from lab.ui.assets import loading
from lab.ui.practice import own
from lab.ui.practice.processes import pool
from practice.task import Ladder

WATCH = 2.0  # seconds between two looks at the learner's own folder
PAUSE = 0.3  # seconds after which the page says again what a check is at

_CSS = """
.exercise { --good: light-dark(#00694b, #5fd3a8); --wrong: light-dark(#a3123f, #ff9db0);
  --muted: light-dark(#566070, #a9b4c0); display: flex; flex-direction: column; gap: 0.4rem;
  height: max(27rem, calc(100vh - 13.5rem)); color: var(--st-text-color); font: 400 0.9rem/1.45 var(--st-font); }
.exercise * { box-sizing: border-box; }
[hidden] { display: none !important; }
.bar { display: flex; flex-wrap: wrap; gap: 0.3rem 0.4rem; align-items: center; }
button { font: inherit; color: inherit; background: var(--st-background-color); cursor: pointer; padding: 0.2rem 0.6rem;
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, 0.4rem); }
button:hover:enabled { border-color: var(--st-primary-color); }
:is(button, .result, pre, figure):focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
button:disabled { cursor: not-allowed; color: var(--muted); }
button.check:enabled { color: light-dark(#fff, #06202f); background: light-dark(#0069a5, #56b4e9); font-weight: 600;
  border-color: transparent; }
p { margin: 0; }
.said, .help { font-size: 0.8rem; color: var(--muted); }
.said:empty { display: none; }
.question { padding: 0.4rem 0.6rem; border-left: 4px solid var(--wrong);
  background: var(--st-secondary-background-color); }
.editor { flex: 1 1 12rem; min-height: 9rem; border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius); overflow: hidden; }
.result { flex: 0 1 auto; max-height: 50%; overflow: auto; padding: 0.5rem 0.7rem;
  border-left: 4px solid var(--st-border-color); background: var(--st-secondary-background-color); }
.exercise:not([data-state]) .result, [data-state=""] .result { display: none; }
[data-state="passed"] .result { border-left-color: var(--good); }
[data-state="failed"] .result { border-left-color: var(--wrong); }
.headline { font-weight: 600; }
[data-state="passed"] .headline { color: var(--good); }
[data-state="failed"] .headline { color: var(--wrong); }
.sentence { white-space: pre-wrap; overflow-wrap: anywhere; margin-top: 0.2rem; }
.sentence button { font-size: 0.8rem; padding: 0 0.4rem; }
code, pre, td { font-family: var(--st-code-font); }
.sentence code { font-size: 0.85em; padding: 0 0.2em; border-radius: 3px; background: var(--st-background-color); }
h4 { margin: 0.5rem 0 0.2rem; font-size: 0.8rem; font-weight: 600; color: var(--muted); }
.case { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); gap: 0 1.2rem; }
.case > div { min-width: 0; }
pre { margin: 0.2rem 0; padding: 0.4rem 0.6rem; font-size: 0.8rem; line-height: 1.4; overflow: auto;
  background: var(--st-background-color); border: 1px solid var(--st-border-color); border-radius: 0.3rem; }
.came { flex-direction: column; } .body pre { max-height: 12rem; }
.values { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; }
figure { margin: 0; max-width: 100%; overflow-x: auto; font-size: 0.85rem; }
figure > code { overflow-wrap: anywhere; white-space: pre-wrap; }
figcaption { display: inline; color: var(--muted); } figcaption::after { content: ": "; }
figcaption code, caption code { color: var(--st-text-color); }
table { border-collapse: separate; border-spacing: 2px; font-size: 0.82rem; }
caption { text-align: left; white-space: nowrap; color: var(--muted); }
td { padding: 0.05rem 0.4rem; text-align: right; white-space: pre; border: 1px solid var(--st-border-color);
  border-radius: 3px; background: var(--st-background-color); }
.row table { border-spacing: 0; } .row tr { display: flex; flex-wrap: wrap; gap: 2px; }
.wrong { color: var(--wrong); font-weight: 600; } td.wrong { border: 2px solid var(--wrong); }
.checks { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: 0.4rem 0 0; padding: 0; list-style: none;
  font-size: 0.8rem; color: var(--muted); }
.checks .fails { color: var(--wrong); font-weight: 600; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
dialog { width: min(60rem, 94vw); max-height: 86vh; color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: 0.5rem; }
dialog::backdrop { background: rgb(0 0 0 / 45%); }
.copies { display: grid; grid-template-columns: minmax(12rem, 2fr) 3fr; gap: 0.7rem; margin-bottom: 0.6rem; }
.copies ul { margin: 0; padding: 0; list-style: none; max-height: 60vh; overflow: auto; }
.copies li button { width: 100%; text-align: left; font-size: 0.8rem; margin-bottom: 0.2rem; }
.copies li button[aria-pressed="true"] { border-color: var(--st-primary-color); font-weight: 600; }
.copies pre { max-height: 60vh; min-height: 8rem; }
@media (max-width: 640px) {
  .exercise { height: auto; }
  .editor { height: 55vh; flex: none; }
  .result { max-height: none; }
  .copies { grid-template-columns: 1fr; } .copies ul, .copies pre { max-height: 30vh; }
}
"""
_component = st.components.v2.component(
    "tensor_ops_lab_exercise",
    css=_CSS,
    js=loading("practice/exercise.js")
    + """export default function (component) {
  loading.then(
    (exercise) => exercise.show(component),
    () => component.parentElement.append("The editor could not be loaded. Load the page again."),
  );
  return () => loading.then((exercise) => exercise.remove(component.parentElement), () => {});
}""",
)


def finished(ladder: Ladder) -> Report | None:
    """The report of a check, in the run of the page in which it is done."""
    state = st.session_state
    checking: Checking | None = state.get(_name(ladder, "checking"))
    if checking is None or not checking.done:
        return None
    del state[_name(ladder, "checking")]
    report = checking.report
    state[_name(ladder, "result")] = told(ladder, checking.key, report, checking.printed)
    for key, passed in report.passed.items():
        if passed:
            progress.passed(ladder.deed(key))
    own.checked(ladder, checking.key, checking.source, report)
    return report


def begin(ladder: Ladder, key: str, text: str) -> None:
    """Check a text against the tasks up to that of the key; a check of the same file that is still at work ends."""
    state = st.session_state
    if running := state.get(_name(ladder, "checking")):
        running.stop()
    state[_name(ladder, "checking")] = Checking(ladder, key, text, secrets.randbits(32), pool().runner)


def exercise(ladder: Ladder, key: str, lines: str, folder: Path | None = None, *, again: str = "Start again") -> None:
    """The editor of a ladder's file, which a check holds against the tasks up to that of the key.

    lines: to begin the task with. folder: of the learner's own editor, where the file then is. again: on the button
    that puts the starter back. Raises FolderError.
    """
    state = st.session_state
    disk = own_folder.start(folder, ladder) if folder else None
    name = _name(ladder, str(folder) if folder else "")

    def check() -> None:
        asked = state[name].get("check")
        if not isinstance(asked, dict) or not isinstance(text := asked.get("text"), str):
            return
        if len(text) > own_folder.LARGEST or sandbox.unavailable():
            return
        state.pop(_name(ladder, "complaint"), None)
        if folder:
            try:
                own_folder.keep(folder, ladder, text, datetime.now())
                own_folder.write(folder, ladder, text, str(asked.get("seen")))
            except Changed:
                pass  # the browser asks, as soon as it is shown the file
            except FolderError as error:
                state[_name(ladder, "complaint")] = str(error)
        begin(ladder, key, text)

    def stop() -> None:
        if running := state.get(_name(ladder, "checking")):
            running.stop()

    complaint = state.get(_name(ladder, "complaint"))
    if complaint:
        st.text(complaint)
    checking: Checking | None = state.get(_name(ladder, "checking"))
    why_not = sandbox.unavailable()
    if not why_not:
        pool()  # the first check finds a process ready
    shown: dict[str, Any] = {
        "key": f"{ladder.key} in {folder}" if folder else ladder.key,
        "file": ladder.file,
        "starter": ladder.starter,
        "again": again,
        "lines": lines,
        "working": checking.at if checking else None,
        "result": state.get(_name(ladder, "result")),
        "how": why_not or sandbox.promise() + (f" It is in {folder / ladder.file}." if folder else ""),
        "runs": not why_not,
        "disk": {"text": disk.text, "stamp": disk.stamp} if disk else None,
    }
    _component(key=name, data=strict_json(shown).encode(), on_check_change=check, on_stop_change=stop)
    if folder and disk:
        _watch(ladder, folder, disk.stamp)


def wait(ladder: Ladder) -> None:
    """As long as a check is at work, let the page run again: at its end, when all of it is there."""
    checking: Checking | None = st.session_state.get(_name(ladder, "checking"))
    if checking:
        checking.wait(PAUSE)
        st.rerun()


@st.fragment(run_every=WATCH)
def _watch(ladder: Ladder, folder: Path, shown: str) -> None:
    """Let the page run again when the learner's own editor has saved."""
    try:
        disk = own_folder.read(folder, ladder)
    except FolderError:
        disk = None
    if disk is None or disk.stamp != shown:
        st.rerun()


def _name(ladder: Ladder, what: str) -> str:
    return f"exercise {ladder.key} {what}".rstrip()
