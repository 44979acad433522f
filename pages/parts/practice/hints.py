"""The hints of a task, one at a time; after the last one, the lines of the reference solution."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lab.ui.binding import HeldValue
from lab.ui.widgets import button
from practice.task import Course, Task

KEY = "task hint"  # session key of the button


def held(key: str, tasks: Sequence[str]) -> HeldValue:
    """Return a value for the number of open hints of each task, in the address "3.2" for two of the third task.

    tasks  identifiers of all tasks of the page, such as "scalars/add". The address has their numbers instead, because
           an identifier may give the answer away
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
        return "~".join(f"{tasks.index(task) + 1}.{count}" for task, count in opened.items())

    return HeldValue(key, {}, parse, show)


def hints(course: Course, task: Task, opened: HeldValue) -> None:
    """Show the open hints of a task and a button for the next.

    opened: the page's value from `held`.
    """
    key = course.progress_key(task.key)
    shown = st.session_state[opened.key].get(key, 0)

    def more() -> None:
        st.session_state[opened.key] |= {key: shown + 1}

    for number, hint in enumerate(task.hints[:shown], 1):
        st.markdown(f"**Hint {number}.** {hint}")
    lines = course.lines_of(task.key).strip("\n")
    if shown < len(task.hints):
        button(f"A hint ({shown + 1} of {len(task.hints)})", KEY, more, icon="lightbulb")
    elif lines and shown == len(task.hints):
        button("Show one way to write it", KEY, more, icon="visibility")
    elif lines:
        st.markdown("**One way to write it:**")
        st.code(lines)
