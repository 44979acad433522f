"""A visitor's progress: completed cards of the path, exercises such as questions, and items of an assignment.

The browser stores it, and a file if the visitor saves one; the server does not. static/progress/lists.js draws from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from lab.lessons import assignment_link
from lab.lessons.assignment import ITEMS
from lab.lessons.cards import BY_KEY, CARD, CARDS, NEXT
from lab.lessons.pages import BY_FILE, BY_PATH
from lab.text import strict_json
from lab.ui import binding
from lab.ui.assets import component
from lab.ui.table import escape_markdown
from lab.ui.widgets import button

ASKED = binding.choice(CARD, "", *BY_KEY)  # the card whose link led to the page
MAX_NAME = 80  # characters of the assignment's name
ASSIGNMENT = (  # in a teacher's link; the addresses of all pages carry it, so it survives a reload
    binding.HeldValue(assignment_link.ITEMS, (), assignment_link.read, assignment_link.written, shared=True),
    binding.HeldValue(assignment_link.NAME, "", lambda text: text[:MAX_NAME], shared=True),
)
_component = component("progress", "progress/lists.js", lost="Your progress")


def mount(kind: str, key: str, shown: Mapping[str, Any], **callbacks: Callable[[], None]) -> None:
    """Mount a list, or what stores or sends the visitor's progress. key: its session key; shown: its data.

    kind: "path", "assignment", "tasks", "note" or "engines"; static/types.d.ts has their data.
    """
    _component(key=key, data=strict_json({"kind": kind, **shown}).encode(), **callbacks)


def note(key: str = "progress") -> None:
    """Send the browser the visitor's progress on this page, such as completed cards.

    Call it at the end of the page and, with another key, at the end of a fragment that can complete a card.
    """
    session = st.session_state
    path, known = session.get("path"), session.get("cards done", ())
    here = [card for card in CARDS if BY_FILE[card.file].path == path]
    tasks, stumbles = sorted(session.get("tasks passed", ())), session.get("task stumbles", {})
    done = [card.key for card in here if card.key in known and not card.at_end]
    at_end = [card.key for card in here if card.key in known and card.at_end]
    if done or tasks or stumbles or any(card.at_end for card in here):  # which also takes back what no longer waits
        shown = {"path": path or "", "done": done, "tasks": tasks, "atEnd": at_end, "stumbles": stumbles}
        mount("note", key, shown)


def done(card: str, met: bool = True) -> None:
    """Record whether the visitor meets a card's condition; call it in each run of the page, before `note`.

    A link may open the page with the condition already met: then it must fail once before it counts.
    """
    session = st.session_state
    undone: frozenset[str] = session.get("cards undone", frozenset())
    complete: frozenset[str] = session.get("cards done", frozenset())
    known = card in undone or BY_KEY[card].at_end
    if not met:
        session["cards undone"] = undone | {card}
    session["cards done"] = complete | {card} if met and known else complete - {card}


def show_task(link: Callable[..., None]) -> None:
    """Show what the card asks whose link led to this page, until the visitor puts it away; link: page.link_to."""
    card = BY_KEY.get(st.session_state[CARD])
    here = st.session_state.get("path")
    if card is None or here != BY_FILE[card.file].path:
        return

    with st.container(horizontal=True, vertical_alignment="center", key=f"card task {card.key}", gap="small"):
        st.markdown(
            f":material/flag: **{escape_markdown(card.title)}.** {escape_markdown(card.action)}", width="stretch"
        )
        if onward := NEXT.get(card.key):
            with st.container(key="card next", width="content"):  # shown once the task is done
                link(onward.file, f"Next: {onward.title}", "arrow_forward", onward.link)
        button("", "card task away", binding.put, CARD, "", icon="close", type="tertiary", help="Put this task away")


def arrive() -> None:
    """Forget which cards are complete, because the page has just been set from an address."""
    for key in ("cards undone", "cards done"):
        st.session_state.pop(key, None)


def opened() -> None:
    """Mark the current page's item as done, if the assignment asks the visitor to open this page."""
    here = BY_PATH.get(st.session_state.get("path", ""))
    for key in st.session_state.get(assignment_link.ITEMS, ()):
        if here and key.startswith("pages/") and key in ITEMS and ITEMS[key].file == here.file:
            passed(key)


def has_passed(task: str) -> bool:
    """Return whether the visitor has passed a task such as "scalars/add" in this session."""
    return task in st.session_state.get("tasks passed", ())


def passed(task: str) -> None:
    """Record in a callback that the visitor has passed a task such as "questions/why-add"; `note` sends it."""
    st.session_state["tasks passed"] = {*st.session_state.get("tasks passed", ()), task}


def stumbled(task: str, check: str, mistake: str) -> None:
    """Record in a callback that a task such as "scalars/add" has failed.

    check: name of the check, or "" if the file itself does not run; mistake: key of the known mistake, or "".
    """
    session = st.session_state
    session["task stumbles"] = session.get("task stumbles", {}) | {task: {"check": check, "mistake": mistake}}
