"""What a visitor has done: cards of the path, and exercises such as questions. The browser keeps it, and a file if the
visitor wants one; the server does not."""

from __future__ import annotations

import streamlit as st

from lab.lessons.abilities import ABILITIES, DEEDS
from lab.lessons.cards import BY_KEY, CARDS
from lab.lessons.pages import BY_FILE
from lab.text import strict_json
from lab.ui import places
from lab.ui.assets import component
from practice import COURSES

_note = component("progress", "progress/progress.js", "note")
_path = component("path", "progress/path.js", lost="The cards", style="progress/path.css")
_abilities = component("abilities", "progress/abilities.js", lost="The list", style="progress/abilities.css")


def note(key: str = "progress") -> None:
    """Tell the browser which cards the visitor has completed on this page: at its end, and at the end of a fragment
    that can complete one (with a key of its own)."""
    session = st.session_state
    path, known = session.get("path"), session.get("cards done", ())
    file = next((file for file, page in BY_FILE.items() if page.path == path), None)
    here = [card for card in CARDS if file in (card.file, card.also)]
    tasks = sorted(session.get("tasks passed", ()))
    stumbles, scores = session.get("task stumbles", {}), session.get("graph scores", {})
    if not (here or tasks or stumbles or scores):
        return
    complete = [card for card in here if card.key in known]
    done = [card.key for card in complete if not card.at_end]
    at_end = [card.key for card in complete if card.at_end]
    told = {"done": done, "tasks": tasks, "atEnd": at_end, "stumbles": stumbles, "scores": scores}
    _note(key=key, data=strict_json(told).encode())


def done(card: str, met: bool = True) -> None:
    """The card of this page with this key is complete, or not yet: in each run of the page, before its end.

    What an address brings is no deed: where the condition held on arrival, it must have failed before it counts.
    """
    session = st.session_state
    undone: frozenset[str] = session.get("cards undone", frozenset())
    complete: frozenset[str] = session.get("cards done", frozenset())
    known = card in undone or BY_KEY[card].at_end
    if not met:
        session["cards undone"] = undone | {card}
    session["cards done"] = complete | {card} if met and known else complete - {card}


def arrive() -> None:
    """The page has been set from an address: what holds now has not been done here."""
    for key in ("cards undone", "cards done"):
        st.session_state.pop(key, None)


def has_passed(task: str) -> bool:
    """Has the visitor passed this task, such as "scalars/add", in this visit?"""
    return task in st.session_state.get("tasks passed", ())


def passed(task: str) -> None:
    """The visitor has just passed a task such as "questions/why-add" (in a callback): the next `note` tells it."""
    st.session_state["tasks passed"] = {*st.session_state.get("tasks passed", ()), task}


def stumbled(task: str, check: str, mistake: str) -> None:
    """A check of a task such as "scalars/add" has just failed (in a callback): the name of the check, "" where the file
    itself does not run, and the key of the known mistake, or ""."""
    session = st.session_state
    session["task stumbles"] = session.get("task stumbles", {}) | {task: {"check": check, "mistake": mistake}}


def scored(graph: str, got: int, most: int) -> None:
    """A graph of Predict such as "1.17" has just been completed (in a callback), for so many points."""
    session = st.session_state
    session["graph scores"] = session.get("graph scores", {}) | {graph: {"got": got, "most": most}}


def path() -> None:
    """The cards, each with what the browser knows of it, and the visitor's progress to save and to load."""
    cards = [
        {"key": card.key, "title": card.title, "deed": card.deed, "page": page.title, "href": page.address(card.query)}
        for card in CARDS
        for page in [BY_FILE[card.file]]
    ]
    courses = [{"key": one.key, "title": one.title} for one in COURSES.values()]
    places.show(_path, "start path", {"cards": cards, "courses": courses}, BY_KEY)


def abilities() -> None:
    """What a visitor can do, ticked by the browser from what it knows."""
    deeds = {key: {"title": deed.title, "href": BY_FILE[deed.file].address(deed.query)} for key, deed in DEEDS.items()}
    shown = [{"group": one.group, "text": one.text, "needs": one.needs} for one in ABILITIES]
    places.show(_abilities, "abilities", {"abilities": shown, "deeds": deeds}, DEEDS)
