"""The assignment in a teacher's link, which Start lists.

The addresses of all pages carry it (`HELD`), so it survives a reload.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import streamlit as st

from lab.lessons import assignment_link
from lab.lessons.assignment import ITEMS
from lab.lessons.pages import BY_FILE, BY_PATH
from lab.ui import binding, places, progress
from lab.ui.table import escape_markdown
from lab.ui.widgets import button

MAX_NAMED = 8  # unknown names that a note repeats
MAX_NAME = 80  # characters of the assignment's name
HELD = (
    binding.HeldValue(assignment_link.ITEMS, (), assignment_link.read, assignment_link.written, shared=True),
    binding.HeldValue(assignment_link.NAME, "", lambda text: text[:MAX_NAME], shared=True),
)


def opened() -> None:
    """Mark the current page's item as done, if the assignment asks the visitor to open this page."""
    here = BY_PATH.get(st.session_state.get("path", ""))
    for key in st.session_state.get(assignment_link.ITEMS, ()):
        if here and key.startswith("pages/") and key in ITEMS and ITEMS[key].file == here.file:
            progress.passed(key)


def is_open() -> bool:
    """Tell whether the visitor has an assignment."""
    return bool(st.session_state[assignment_link.ITEMS])


def show() -> None:
    """Show on Start what to do, with ticks from the visitor's own progress, and a button that removes the list."""
    session = st.session_state

    items = {key: ITEMS[key] for key in session[assignment_link.ITEMS] if key in ITEMS}
    unknown = [key for key in session[assignment_link.ITEMS] if key not in ITEMS]
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.header(escape_markdown(session[assignment_link.NAME]) or "To do", anchor=False, width="content")
            button("Close this list", "set away", binding.reset, *HELD, icon="close", type="tertiary")
        shown = [
            {"key": key, "title": item.title, "href": BY_FILE[item.file].address(item.query)}
            for key, item in items.items()
        ]
        places.mount("assignment", "set list", {"items": shown})
        if unknown:
            st.info(note(unknown), icon=":material/help:")


def note(unknown: Iterable[str]) -> str:
    """Describe the items of a link that do not exist; as anyone can write one, only possible keys are repeated."""
    names = [name if re.fullmatch(r"[\w /-]{1,60}", name) else "something without a proper name" for name in unknown]
    listed = ", ".join(f"`{name}`" for name in dict.fromkeys(names[:MAX_NAMED]))
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"This list asks for items that this version of the lab does not have: {listed}{more}. The rest is here."
