"""An exercise: an editor for the learner's file, and the result of checking it. The JavaScript is in static/practice/.

The browser keeps the text and sends it only for a check; it runs in a separate process and goes nowhere else. The
browser shows the output of its code as text.

A page calls `finished_check` at its beginning, draws `exercise`, and ends with `wait`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import streamlit as st

from lab.practice import isolation, progress_file
from lab.practice.checker import CheckReport
from lab.practice.folder import MAX_BYTES
from lab.practice.judge_processes import Checking
from lab.practice.progress_file import hashed
from lab.practice.render_report import next_task, render_report
from lab.text import strict_json
from lab.ui import progress
from lab.ui.assets import component
from pages.parts.practice import finished
from pages.parts.practice.processes import judge_in_turn, judges
from practice.task import Course

PAUSE = 0.5  # seconds between two updates of a check's progress
CROWD = 4  # so many more checks wait for their turn: as much more time between two updates, which cost the server work

# One key for all texts: if it changed, Streamlit would show both editors until the page has run, which takes long
# during a check.
_KEY = "exercise"

_component = component("exercise", "practice/exercise.js", lost="The editor")


def finished_check(course: Course) -> CheckReport | None:
    """Return the report of a check in the run of the page in which it has finished; otherwise None."""
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
    following = next_task(course, checking.key) if report else None
    session[_name(course, "shown at")] = checking.key, following.key if following else ""
    for key, passed in report.passed.items():
        if passed:
            progress.passed(course.progress_key(key))
    if failed := progress_file.stumbled(report, ""):
        task, stumble = failed
        progress.stumbled(course.progress_key(task), stumble.check, stumble.mistake)
    finished.note_check(course, checking.key, checking.source, report)
    return report


def exercise(
    course: Course,
    key: str,
    lines: str,
    *,
    again: str = "Start again",
    onward: str = "",
    go: Callable[[], None] = lambda: None,
) -> None:
    """Draw the editor of a course's file, which is checked against the tasks up to `key`, and the result at its task.

    lines: code that starts the task. again: label of the button that restores the starter. onward: label of the button
    that appears when all tasks are passed; "" for no button. go: its callback.
    """
    session = st.session_state

    def check() -> None:
        asked = session[_KEY].get("check")
        if not isinstance(asked, dict) or not isinstance(text := asked.get("text"), str):
            return
        is_here = asked.get("key") == course.key  # it may have been sent before the page changed to another text
        if is_here and len(text) <= MAX_BYTES and not isolation.unavailable():
            stop()
            session[_name(course, "checking")] = Checking(course, key, text, secrets.randbits(32), judge_in_turn())

    def stop() -> None:
        if running := session.get(_name(course, "checking")):
            running.stop()

    checking: Checking | None = session.get(_name(course, "checking"))
    why_not = isolation.unavailable()
    if not why_not:
        judges()  # starts a process, so that the first check need not wait for it
    shown: dict[str, Any] = {
        "key": course.key,
        "file": course.file,
        "starter": course.starter,
        "again": again,
        "lines": lines,
        "working": checking.at if checking else None,
        "result": session.get(_name(course, "result")) if key in session.get(_name(course, "shown at"), ()) else None,
        "how": why_not or isolation.isolation(),
        "runs": not why_not,
        "onward": onward,
    }
    _component(key=_KEY, data=strict_json(shown).encode(), on_check_change=check, on_stop_change=stop, on_go_change=go)


def wait(course: Course) -> None:
    """Rerun the page while a check is running; call it at the end of the page."""
    checking: Checking | None = st.session_state.get(_name(course, "checking"))
    if checking:
        checking.wait(PAUSE)
        checking.wait(PAUSE * judges().waiting / CROWD)
        st.rerun()


def _name(course: Course, what: str) -> str:
    return f"exercise {course.key} {what}"
