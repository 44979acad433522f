"""The hints of a task, one at a time; after the last one the reference's own lines."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lab.ui.address import Field
from lab.ui.assignment import hidden
from practice.task import Course, Task

KEY = "task hint"  # of the button


def field(key: str, tasks: Sequence[str]) -> Field:
    """How many hints of each task are open: a dict from its deed, in the address "3.2" for two of the third task.

    tasks  the deeds of all tasks of the page. The address has their numbers: a deed may name what is to be found
    """

    def parse(text: str) -> dict[str, int]:
        opened = {}
        for part in text.split("~"):
            number, count = (int(one) for one in part.split("."))
            if not 1 <= number <= len(tasks) or count < 1:
                raise ValueError(text)
            opened[tasks[number - 1]] = count
        return opened

    def show(opened: dict[str, int]) -> str:
        return "~".join(f"{tasks.index(deed) + 1}.{count}" for deed, count in opened.items())

    return Field("hints", key, {}, parse, show)


def hints(course: Course, task: Task, opened: Field) -> None:
    """A teacher's set may hide them, or the lines alone. opened: of the page, from `field`."""
    deed = course.deed(task.key)
    shown = opened.get().get(deed, 0)

    def more() -> None:
        opened.set(opened.get() | {deed: shown + 1})

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
