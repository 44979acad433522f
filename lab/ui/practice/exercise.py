"""A file for the learner to write, with its check: editor and result, for any page with tasks. The JavaScript is in
static/practice/.

The text lives in the browser and comes here with a check only; it goes to a process of its own and nowhere else. What
its code gives back is shown as text, by the browser.

A page asks for `finished` at its beginning, draws `exercise`, and ends with `wait`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import streamlit as st

from lab.practice import folder as own_folder
from lab.practice import record, sandbox
from lab.practice.checker import CheckReport
from lab.practice.checking import Checking
from lab.practice.folder import Changed, FolderError
from lab.practice.progress_file import hashed
from lab.practice.render_report import render_report
from lab.text import strict_json
from lab.ui import progress
from lab.ui.assets import component
from lab.ui.practice import finished
from lab.ui.practice.processes import pool
from practice.task import Course

WATCH = 2.0  # seconds between two looks at the learner's own folder
PAUSE = 0.3  # seconds after which the page says again what a check is at

# One for all texts: where a key changes, Streamlit shows both editors until the page has come to rest, and that is long
# while a check is at work.
_KEY = "exercise"

_component = component("exercise", "practice/exercise.js", lost="The editor", style="practice/exercise.css")


def finished_check(course: Course) -> CheckReport | None:
    """The report of a check, in the run of the page in which it is done."""
    session = st.session_state
    checking: Checking | None = session.get(_name(course, "checking"))
    if checking is None or not checking.done:
        return None
    del session[_name(course, "checking")]
    report = checking.report
    session[_name(course, "result")] = render_report(course, checking.key, report, checking.printed) | {
        "hash": hashed(checking.source),
        "tasksPassed": sum(report.passed.values()),
    }
    for key, passed in report.passed.items():
        if passed:
            progress.passed(course.deed(key))
    if failed := record.stumbled(report, ""):
        task, stumble = failed
        progress.stumbled(course.deed(task), stumble.check, stumble.mistake)
    finished.note_check(course, checking.key, checking.source, report)
    return report


def begin(course: Course, key: str, text: str) -> None:
    """Check a text against the tasks up to that of the key; a check of the same file that is still at work ends."""
    session = st.session_state
    if running := session.get(_name(course, "checking")):
        running.stop()
    session[_name(course, "checking")] = Checking(course, key, text, secrets.randbits(32), pool().runner)


def exercise(
    course: Course,
    key: str,
    lines: str,
    folder: Path | None = None,
    *,
    again: str = "Start again",
    onward: str = "",
    go: Callable[[], None] = lambda: None,
) -> None:
    """The editor of a course's file, which a check holds against the tasks up to that of the key.

    lines: to begin the task with. folder: of the learner's own editor, where the file then is. again: on the button
    that puts the starter back. onward: where the way goes on once all tasks are passed, on a button; "" for no such
    place. go: called, before the next run, when it is pressed. Raises FolderError.
    """
    session = st.session_state
    disk = own_folder.start(folder, course) if folder else None
    name = f"{course.key} in {folder}" if folder else course.key  # of the text, as the browser keeps it

    def check() -> None:
        asked = session[_KEY].get("check")
        if not isinstance(asked, dict) or not isinstance(text := asked.get("text"), str):
            return
        if asked.get("key") != name:  # it was on its way while the page went to another text
            return
        if len(text) > own_folder.MAX_BYTES or sandbox.unavailable():
            return
        session.pop(_name(course, "complaint"), None)
        if folder:
            try:
                own_folder.keep(folder, course, text, datetime.now())
                own_folder.write(folder, course, text, str(asked.get("seen")))
            except Changed:
                pass  # the browser asks, as soon as it is shown the file
            except FolderError as error:
                session[_name(course, "complaint")] = str(error)
        begin(course, key, text)

    def stop() -> None:
        if running := session.get(_name(course, "checking")):
            running.stop()

    complaint = session.get(_name(course, "complaint"))
    if complaint:
        st.text(complaint)
    checking: Checking | None = session.get(_name(course, "checking"))
    why_not = sandbox.unavailable()
    if not why_not:
        pool()  # the first check finds a process ready
    shown: dict[str, Any] = {
        "key": name,
        "file": course.file,
        "starter": course.starter,
        "again": again,
        "lines": lines,
        "working": checking.at if checking else None,
        "result": session.get(_name(course, "result")),
        "how": why_not or sandbox.isolation() + (f" It is in {folder / course.file}." if folder else ""),
        "runs": not why_not,
        "onward": onward,
        "disk": {"text": disk.text, "stamp": disk.stamp} if disk else None,
    }
    _component(key=_KEY, data=strict_json(shown).encode(), on_check_change=check, on_stop_change=stop, on_go_change=go)
    if folder and disk:
        _watch(course, folder, disk.stamp)


def wait(course: Course) -> None:
    """As long as a check is at work, let the page run again: at its end, when all of it is there."""
    checking: Checking | None = st.session_state.get(_name(course, "checking"))
    if checking:
        checking.wait(PAUSE)
        st.rerun()


@st.fragment(run_every=WATCH)
def _watch(course: Course, folder: Path, shown: str) -> None:
    """Let the page run again when the learner's own editor has saved."""
    try:
        disk = own_folder.read(folder, course)
    except FolderError:
        disk = None
    if disk is None or disk.stamp != shown:
        st.rerun()


def _name(course: Course, what: str) -> str:
    return f"exercise {course.key} {what}"
