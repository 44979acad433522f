"""The set that a teacher's link has brought: Start shows what is to be done, the other pages ask what is hidden.

The addresses of all pages carry it (`FIELDS`), so that it outlives a reload.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import streamlit as st

from lab.lessons import assignment_link
from lab.lessons.abilities import Deed
from lab.lessons.assignment import CONTROLS, ITEMS, beginning
from lab.lessons.assignment import LONGEST as LONGEST_BEGINNING
from lab.lessons.pages import BY_FILE, BY_PATH
from lab.ui import places, progress, state
from lab.ui.address import Field, shorter_than
from lab.ui.assets import component
from lab.ui.table import escape_markdown

MOST_NAMED = 8  # unknown things in a note
BEGIN = "begin"  # in place of an item's key
MAX_NAME = 80  # characters
FIELDS = (  # what a teacher's link has brought: of every page whose own fields lack these names
    Field(assignment_link.ITEMS, "set items", (), assignment_link.read, assignment_link.written),
    Field(assignment_link.NAME, "set name", "", shorter_than(MAX_NAME)),
    Field(assignment_link.HIDE, "set hidden", (), assignment_link.words, "~".join),
    Field(assignment_link.BEGIN, "set begin", "", shorter_than(LONGEST_BEGINNING)),
)

_list = component("set", "progress/assignment.js", lost="The list", style="progress/assignment.css")


def hidden(control: str) -> bool:
    """Does the set hide this one of CONTROLS? Nothing is hidden without a set."""
    return control in st.session_state.get("set hidden", ())


def opened() -> None:
    """The visitor has opened this page: where the set asks for it, that is done."""
    here = BY_PATH.get(st.session_state.get("path", ""))
    for key in st.session_state.get("set items", ()):
        if here and key.startswith("pages/") and key in ITEMS and ITEMS[key].file == here.file:
            progress.passed(key)


def there() -> bool:
    """Is there a set?"""
    return any(st.session_state[key] for key in ("set items", "set hidden", "set begin"))


def show() -> None:
    """On Start: what is to be done, with ticks from the visitor's own progress, and the button that puts it away."""
    session = st.session_state

    def put_away() -> None:
        state.reset(FIELDS)
        state.step()

    deeds = {key: ITEMS[key] for key in session["set items"] if key in ITEMS}
    unknown = [key for key in session["set items"] if key not in ITEMS]
    unknown += [key for key in session["set hidden"] if key not in CONTROLS]
    if session["set begin"]:
        try:
            page, query = beginning(session["set begin"])
        except ValueError:
            unknown.append("the page to begin with")
        else:
            deeds = {BEGIN: Deed(f"Begin here: {page.title}", page.file, query)} | deeds
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.header(escape_markdown(session["set name"]) or "To do", anchor=False, width="content")
            st.button("Put this list away", key="set away", on_click=put_away, icon=":material/close:", type="tertiary")
        shown = [
            {"key": key, "title": deed.title, "href": BY_FILE[deed.file].address(deed.query)}
            for key, deed in deeds.items()
        ]
        places.show(_list, "set list", {"items": shown, "begin": BEGIN}, deeds)
        if away := [CONTROLS[key] for key in session["set hidden"] if key in CONTROLS]:
            st.caption(f"Not shown while this list is here: {', '.join(away)}.")
        if unknown:
            st.info(note(unknown), icon=":material/help:")


def note(unknown: Iterable[str]) -> str:
    """What a link asks for in vain. The names are anybody's who writes a link: only what could be a key is repeated."""
    names = [name if re.fullmatch(r"[\w /-]{1,60}", name) else "something without a proper name" for name in unknown]
    said = ", ".join(f"`{name}`" for name in dict.fromkeys(names[:MOST_NAMED]))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"This list asks for what this version of the lab does not have: {said}{more}. The rest is here."
