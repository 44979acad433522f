"""The hints of a task, one at a time; after the last one the reference's own lines."""

from __future__ import annotations

import streamlit as st

from lab.ui.assignment import hidden
from practice.task import Course, Task

KEY = "task hint"  # of the button


def hints(course: Course, task: Task) -> None:
    """A teacher's set may hide them, or the lines alone."""
    session = st.session_state
    deed = course.deed(task.key)
    shown = session.setdefault("task hints", {}).get(deed, 0)

    def more() -> None:
        session["task hints"] = session["task hints"] | {deed: shown + 1}

    if hidden("hints"):
        shown = 0
    for number, hint in enumerate(task.hints[:shown], 1):
        st.markdown(f"**Hint {number}.** {hint}")
    lines = "" if hidden("lines") else course.lines_of(task.key).strip("\n")
    if shown < len(task.hints):
        if not hidden("hints"):
            label = f"A hint ({shown + 1} of {len(task.hints)})"
            st.button(label, key=KEY, on_click=more, icon=":material/lightbulb:")
    elif lines and shown == len(task.hints):
        st.button("Show one way to write it", key=KEY, on_click=more, icon=":material/visibility:")
    elif lines:
        st.markdown("**One way to write it:**")
        st.code(lines)
