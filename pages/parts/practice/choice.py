"""The choice of a page's engine: the lab's, or one that the visitor has built.

Engines of earlier visits are restored: the browser has stored their code, which is checked again once in a visit. The
JavaScript is in static/practice/.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

import streamlit as st

from lab.practice import isolation, learner_engine
from lab.practice.folder import MAX_BYTES
from lab.practice.judge_processes import Checking
from lab.practice.render_report import render_report
from lab.ui import binding, page, places
from lab.ui.table import with_code
from lab.ui.widgets import button, switch
from pages.parts.practice import finished
from pages.parts.practice.finished import Engine
from pages.parts.practice.processes import judge_in_turn
from practice import COURSES

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


def choose(name: str, on_change: Callable[[], None], others: Mapping[str, str] = MappingProxyType({})) -> Engine | None:
    """Draw the choice of an engine, if there is one, and return the visitor's engine; None for the lab's.

    Also names engines that could not be restored. name: of the page, as for `held`. on_change: callback for another
    choice. others: the page's own engines with their labels.
    """
    engines, missed = finished.engines(), missing()
    _replace_unavailable(name, others)
    if not engines and not missed and not others:
        return None
    names = {
        LABS: "The lab’s",
        **others,
        **{key: f"Yours: {engine.course.title.lower()}" for key, engine in engines.items()},
    }
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        if len(names) > 1 and st.session_state[f"{name}-engine"] in names:  # the chosen one may be under check
            st.markdown("Engine", width="content")
            switch("Engine", names, f"{name}-engine", on_change=on_change, persist_state="session", bare=True)
        if engine := chosen(name):
            badge(engine)
        for key in missed:
            label = f"“{COURSES[key].title}” was not restored: see why"
            page.link_to("pages/build_it_yourself.py", label, "warning", {"tab": "passes"})
    return engine


def _replace_unavailable(name: str, others: Collection[str]) -> None:
    """Switch to the lab's engine if the one in the address cannot be had, with a note until another is chosen."""
    session = st.session_state
    asked, note = session[f"{name}-engine"], f"{name} engine lacking"
    known = asked in finished.engines() or asked in others
    may_come = asked in session.get(_CHECKING, {}) or (
        asked not in session.get(_ASKED, ()) and not isolation.unavailable()
    )
    if asked != LABS and not known and not may_come:
        session[note], session[f"{name}-engine"] = asked, LABS
        st.rerun()  # so that the address changes, too
    elif asked != LABS:
        session.pop(note, None)
    if lacking := session.get(note):
        title = COURSES[lacking].title
        st.info(
            f"The link asks for your engine “{title}”, but this browser has no finished one. This is the lab’s engine.",
            icon=":material/help:",
        )


def badge(engine: Engine) -> None:
    """Show the name of the visitor's engine as a badge."""
    st.badge(engine.name, icon=":material/verified:", color="green")


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

    lacking = {} if isolation.unavailable() else {key: COURSES[key] for key in learner_engine.ENGINES}
    lacking = {
        key: it for key, it in lacking.items() if key not in finished.engines() and key not in session.get(_ASKED, ())
    }
    shown = {
        "wanted": session.get(f"{name}-engine") in lacking,
        "courses": [
            {"key": key, "last": course.tasks[-1].key, "tasks": len(course.tasks)} for key, course in lacking.items()
        ],
    }
    places.mount("engines", _STORED, shown, on_back_change=back)
    if is_restoring():
        _progress()


def is_restoring() -> bool:
    """Tell whether an engine of an earlier visit is being checked."""
    return bool(st.session_state.get(_CHECKING))


def missing() -> dict[str, str]:
    """Return the courses whose engine could not be restored: key -> why, in a sentence."""
    session = st.session_state
    there = {*finished.engines(), *session.get(_CHECKING, {})}
    return {key: why for key, why in session.get(_REFUSED, {}).items() if key not in there}


@st.fragment(run_every=TICK)
def _progress() -> None:
    checks: list[Checking] = [*st.session_state.get(_CHECKING, {}).values()]
    working = [one for one in checks if not one.done]
    if not working:
        st.rerun()
    share = sum(1.0 if one.done else one.share for one in checks) / len(checks)
    st.progress(share, f"Checking your engine again: {working[0].at}")


def show_missing() -> None:
    """Show which engines could not be restored, why, and what the visitor can do."""
    session = st.session_state

    def again(key: str) -> None:
        session[_ASKED] = session[_ASKED] - {key}

    for key, why in missing().items():
        course = COURSES[key]
        st.markdown(f":material/warning: “{course.title}” was not restored. {with_code(why)} Your text stays as it is.")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            button("Check it again", f"own again {key}", again, key)
            where = {"tab": "courses", "course": key, "task": course.tasks[-1].key}
            page.link_to("pages/build_it_yourself.py", "See your text", "code", where)
