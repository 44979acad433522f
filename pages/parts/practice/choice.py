"""The choice of a page's engine: the lab's, or one that the visitor has built.

Engines of earlier visits are restored: the browser has stored their code, which is checked again once in a visit. The
JavaScript is in static/practice/.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping

import streamlit as st

from lab.practice import isolation, learner_engine
from lab.practice.folder import MAX_BYTES
from lab.practice.judge_processes import Checking
from lab.practice.render_report import render_report
from lab.ui import binding, page, progress
from lab.ui.table import with_code
from lab.ui.widgets import row, switch
from pages.parts.practice import finished
from pages.parts.practice.finished import Engine
from pages.parts.practice.processes import judge_in_turn
from practice import COURSES
from practice.task import Course

LABS = "lab"  # value of the field for the lab's engine; for the visitor's it is the key of a course
TICK = 0.4  # seconds between two updates of a check's progress
# Session keys: the component, courses that the browser was asked for, running checks, and why a check failed.
_STORED, _ASKED, _CHECKING, _REFUSED = "own here", "own asked", "own coming", "own refused"


def held(name: str, *others: str) -> binding.HeldValue:
    """Return a page's engine for the address. name: of the page; others: its own engines, such as broken ones."""
    return binding.choice(f"{name}-engine", LABS, *others, *learner_engine.ENGINES)


def chosen(name: str) -> Engine | None:
    """Return the visitor's engine that this page uses; None for the lab's."""
    return finished.engines().get(st.session_state[f"{name}-engine"])


def choose(name: str, on_change: Callable[[], None], others: Mapping[str, str]) -> None:
    """Draw the choice of an engine. A page in whose address is one that cannot be had gets the lab's.

    name: of the page, as for `held`. on_change: callback for another choice. others: the page's own engines with their
    labels.
    """
    session, key = st.session_state, f"{name}-engine"
    yours = {key: f"Yours: {engine.course.title.lower()}" for key, engine in finished.engines().items()}
    names = {LABS: "The lab’s", **others, **yours}
    if session[key] not in names:
        if session[key] in session.get(_CHECKING, {}) or session[key] in _lacking():
            return  # it may still come
        session[key] = LABS
    with row(gap="small", width="content"):
        st.markdown("Engine", width="content")
        switch("Engine", names, key, on_change=on_change, persist_state="session", bare=True)


def _lacking() -> dict[str, Course]:
    """Return the courses whose engine the browser may have and has not been asked for yet."""
    known = () if isolation.unavailable() else learner_engine.ENGINES
    there = {*finished.engines(), *st.session_state.get(_ASKED, ())}
    return {key: COURSES[key] for key in known if key not in there}


def restore(name: str = "") -> None:
    """Ask the browser for the engines that this visit lacks, check them, and show the progress.

    name  of a page with a choice of engines, as for `held`: the browser then also reports if it does not have the one
          in the address
    """
    session = st.session_state
    if all(checking.done for checking in session.get(_CHECKING, {}).values()):
        for key, checking in session.pop(_CHECKING, {}).items():
            report = checking.report
            finished.note_check(COURSES[key], checking.key, checking.source, report)
            if not report:
                why = render_report(COURSES[key], checking.key, report, "")["headline"]
                session[_REFUSED] = session.get(_REFUSED, {}) | {key: why}

    def back() -> None:
        texts = session[_STORED].get("back")
        for key, course in lacking.items():
            text = texts.get(key) if isinstance(texts, dict) else None
            session[_ASKED] = {*session.get(_ASKED, ()), key}
            if isinstance(text, str) and len(text) <= MAX_BYTES:
                checking = Checking(course, course.tasks[-1].key, text, secrets.randbits(32), judge_in_turn())
                session[_CHECKING] = session.get(_CHECKING, {}) | {key: checking}

    lacking = _lacking()
    shown = {
        "wanted": session.get(f"{name}-engine") in lacking,
        "courses": [
            {"key": key, "last": course.tasks[-1].key, "tasks": len(course.tasks)} for key, course in lacking.items()
        ],
    }
    progress.mount("engines", _STORED, shown, on_back_change=back)
    if is_restoring():
        _progress()


def is_restoring() -> bool:
    """Return whether an engine of an earlier visit is being checked."""
    return bool(st.session_state.get(_CHECKING))


@st.fragment(run_every=TICK)
def _progress() -> None:
    checks: list[Checking] = [*st.session_state.get(_CHECKING, {}).values()]
    working = [one for one in checks if not one.done]
    if not working:
        st.rerun()
    share = sum(1.0 if one.done else one.share for one in checks) / len(checks)
    st.progress(share, f"Checking your engine again: {working[0].at}")


def show_missing() -> None:
    """Show which engines could not be restored, and why; another check of the text is the way to one."""
    there = {*finished.engines(), *st.session_state.get(_CHECKING, {})}
    for key, why in st.session_state.get(_REFUSED, {}).items():
        if key not in there:
            course = COURSES[key]
            st.markdown(f":material/warning: “{course.title}” was not restored. {with_code(why)}")
            where = {"tab": "courses", "course": key, "task": course.tasks[-1].key}
            page.link_to("pages/build_it_yourself.py", "See your text", "code", where)
