"""The lists on Start, ticked by the browser: the path, and the assignment in a teacher's link."""

import streamlit as st

from lab.lessons import assignment_link
from lab.lessons.assignment import ITEMS
from lab.lessons.cards import CARDS
from lab.lessons.pages import BY_FILE
from lab.ui import binding, progress
from lab.ui.table import escape_markdown
from lab.ui.widgets import button, row
from practice import COURSES

PATH = {
    "cards": [
        {
            "key": card.key,
            "title": card.title,
            "action": card.action,
            "page": page.title,
            "href": page.address(card.link),
        }
        for card in CARDS
        for page in [BY_FILE[card.file]]
    ],
    "courses": [{"key": one.key, "title": one.title} for one in COURSES.values()],
}


def show() -> None:
    """Show the cards of the path, ticked by the browser, with buttons to save and load the visitor's progress."""
    progress.mount("path", "start path", PATH)


def show_assignment() -> None:
    """Show what the visitor's assignment asks for, if they have one, and a button that removes the list."""
    session = st.session_state
    items = {key: ITEMS[key] for key in session[assignment_link.ITEMS] if key in ITEMS}
    if not items:
        return
    with st.container(border=True):
        with row(horizontal_alignment="distribute"):
            st.header(escape_markdown(session[assignment_link.NAME]) or "To do", anchor=False, width="content")
            button("Close this list", "set away", binding.reset, *progress.ASSIGNMENT, icon="close", type="tertiary")
        shown = [
            {"key": key, "title": item.title, "href": BY_FILE[item.file].address(item.query)}
            for key, item in items.items()
        ]
        progress.mount("assignment", "set list", {"items": shown})
