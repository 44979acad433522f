"""The assignment in a teacher's link, which Start lists (pages/parts/path.py).

The addresses of all pages carry it (`HELD`), so it survives a reload.
"""

from __future__ import annotations

import streamlit as st

from lab.lessons import assignment_link
from lab.lessons.assignment import ITEMS
from lab.lessons.pages import BY_PATH
from lab.ui import binding, progress

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
