"""The engine that a page works with: the lab's, or one that the visitor has built. Those of earlier visits come back by
themselves: the browser has their texts, and each is checked again, once in a visit. The JavaScript is in
static/practice/."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

import streamlit as st

from lab.practice import learner_engine, sandbox
from lab.practice.checking import Checking
from lab.practice.folder import MAX_BYTES
from lab.practice.render_report import render_report
from lab.text import strict_json
from lab.ui import address, page, state
from lab.ui.address import Field
from lab.ui.assets import component, keep_value
from lab.ui.practice import finished
from lab.ui.practice.finished import Engine
from lab.ui.practice.processes import pool
from lab.ui.table import escape_markdown
from practice import COURSES
from practice.task import Course

LABS = "lab"  # whose engine: the lab's, or that of a course of tasks, where this visit has one
TICK = 0.4  # seconds between two looks at a check
LONGEST_DAYS = 100_000  # characters of what the browser says of days
_KEPT, _ASKED, _COMING, _REFUSED = "own here", "own asked", "own coming", "own refused"
_component = component("own_engines", "practice/finished.js")


def field(name: str, *others: str) -> Field:
    """What the address says of the engine of a page with this name, which may have others, such as broken ones."""
    return Field("engine", f"{name} engine", LABS, address.one_of(LABS, *others, *learner_engine.ENGINES))


def chosen(name: str) -> Engine | None:
    """The engine of a page with this name; None is the lab's."""
    return finished.engines().get(st.session_state[f"{name} engine"])


def choose(
    name: str, on_change: Callable[[], None] = state.step, others: Mapping[str, str] = MappingProxyType({})
) -> Engine | None:
    """The choice, in a row where the visitor has built an engine; None is the lab's. Says which has not come back.

    name: of the page, as `field` has it. on_change: called, before the next run, with another choice.
    others: the page's own engines, with what stands on their buttons.
    """
    engines, missed = finished.engines(), missing()
    _need_not(name, others)
    if not engines and not missed and not others:
        return None
    names = {
        LABS: "The lab’s",
        **others,
        **{key: f"Yours: {engine.course.title.lower()}" for key, engine in engines.items()},
    }
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        if len(names) > 1 and st.session_state[f"{name} engine"] in names:  # not while another one is being checked
            st.segmented_control(
                "Engine",
                [*names],
                format_func=names.__getitem__,
                key=f"{name} engine",
                required=True,
                on_change=on_change,
                label_visibility="collapsed",
            )
        if engine := chosen(name):
            badge(engine)
        for key in missed:
            said = f"“{COURSES[key].title}” has not come back: see why"
            page.link_to("pages/build_it_yourself.py", said, ":material/warning:", {"tab": "passes"})
    return engine


def _need_not(name: str, others: Collection[str]) -> None:
    """Where the engine that the address asks for is not there, and does not come, the page has the lab's, and says so.
    The note stays until another engine is chosen."""
    session = st.session_state
    asked, note = session[f"{name} engine"], f"{name} engine lacking"
    known = asked in finished.engines() or asked in others
    waiting = asked in session.get(_COMING, {}) or (asked not in session.get(_ASKED, ()) and not sandbox.unavailable())
    if asked != LABS and not known and not waiting:
        session[note], session[f"{name} engine"] = asked, LABS
        st.rerun()  # the address, too, is to say so
    elif asked != LABS:
        session.pop(note, None)
    if lacking := session.get(note):
        title = COURSES[lacking].title
        st.info(
            f"The link asks for an engine of yours, “{title}”, and this browser has none that is finished. "
            "This is the lab’s engine.",
            icon=":material/help:",
        )


def badge(engine: Engine) -> None:
    st.badge(engine.name, icon=":material/verified:", color="green")


def come_back(name: str = "", asks_for_days: bool = False) -> None:
    """Ask the browser for the engines that this visit lacks, check them, and say what the check is at.

    name  of a page with a choice of engines, as `field` has it: the browser then also says that it has not the one that
          the address asks for
    asks_for_days  of a visitor with an engine, the browser is to tell the days of tasks, for `all_days`
    """
    session = st.session_state
    if all(checking.done for checking in session.get(_COMING, {}).values()):
        for key, checking in session.pop(_COMING, {}).items():
            report = checking.report
            finished.note_check(COURSES[key], checking.key, checking.source, report)
            if not report:
                why = render_report(COURSES[key], checking.key, report, "")["headline"]
                session[_REFUSED] = session.get(_REFUSED, {}) | {key: why}

    def back() -> None:
        texts = session[_KEPT].get("back")
        for key, course in lacking.items():
            text = texts.get(key) if isinstance(texts, dict) else None
            session[_ASKED] = {*session.get(_ASKED, ()), key}
            if isinstance(text, str) and len(text) <= MAX_BYTES:
                checking = Checking(course, course.tasks[-1].key, text, secrets.randbits(32), pool().runner)
                session[_COMING] = session.get(_COMING, {}) | {key: checking}

    lacking = {} if sandbox.unavailable() else {key: COURSES[key] for key in learner_engine.ENGINES}
    lacking = {
        key: it for key, it in lacking.items() if key not in finished.engines() and key not in session.get(_ASKED, ())
    }
    shown = {
        "wanted": session.get(f"{name} engine") in lacking,
        "courses": [
            {"key": key, "last": course.tasks[-1].key, "tasks": len(course.tasks)} for key, course in lacking.items()
        ],
        "asksForDays": asks_for_days and bool(finished.engines()),
        "path": session.get("path", ""),
    }
    _component(key=_KEPT, data=strict_json(shown).encode(), on_back_change=back, on_days_change=keep_value)
    if coming():
        _progress()


def coming() -> bool:
    """Is an engine being checked again?"""
    return bool(st.session_state.get(_COMING))


def missing() -> dict[str, str]:
    """The keys of the courses whose engine has not come back -> why, in a sentence."""
    session = st.session_state
    there = {*finished.engines(), *session.get(_COMING, {})}
    return {key: why for key, why in session.get(_REFUSED, {}).items() if key not in there}


@st.fragment(run_every=TICK)
def _progress() -> None:
    checks: list[Checking] = [*st.session_state.get(_COMING, {}).values()]
    working = [one for one in checks if not one.done]
    if not working:
        st.rerun()
    share = sum(1.0 if one.done else one.share for one in checks) / len(checks)
    st.progress(share, f"Checking your engine again: {working[0].at}")


def say_missing() -> None:
    """Which engine has not come back, why, and what can be done."""
    session = st.session_state

    def again(key: str) -> None:
        session[_ASKED] = session[_ASKED] - {key}

    for key, why in missing().items():
        course = COURSES[key]
        st.markdown(
            f":material/warning: “{course.title}” has not come back. {escape_markdown(why)} Your text stays as it is."
        )
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button("Check it again", key=f"own again {key}", on_click=again, args=(key,))
            where = {"tab": "courses", "course": key, "task": course.tasks[-1].key}
            page.link_to("pages/build_it_yourself.py", "See your text", ":material/code:", where)


def all_days(course: Course) -> dict[str, str]:
    """The key of a task -> the day on which it first passed, as far as this visit or the browser knows it."""
    sent = st.session_state.get(_KEPT, {}).get("days")
    try:
        told_days = json.loads(sent) if isinstance(sent, str) and len(sent) <= LONGEST_DAYS else {}
    except (ValueError, RecursionError):
        told_days = {}
    found = {}
    for task in course.tasks:
        name = course.deed(task.key)
        day = told_days.get(name) if isinstance(told_days, dict) else None
        if isinstance(day, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", day):
            found[task.key] = day
        elif name in finished.days():
            found[task.key] = finished.days()[name].isoformat()
    return found
