"""The tasks of a course in a row; the browser ticks those that the visitor has passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import streamlit as st

from lab.ui import progress
from practice.task import Task


def tasks(room: str, choice: Iterable[Task], current: str, go: Callable[[str], None], label: str = "Tasks") -> None:
    """Show a row of tasks to choose from.

    room: prefix of the tasks' identifiers, such as "scalars"; current: key of the open task; go: callback for the key
    of the chosen task.
    """
    name = f"tasks {room}"
    titles = {task.key: task.title for task in choice}

    def chosen() -> None:
        match st.session_state[name].get("go"):
            case {"key": str(key)} if key in titles:
                go(key)

    shown = {
        "course": room,
        "label": label,
        "now": current,
        "tasks": [{"key": key, "title": title} for key, title in titles.items()],
    }
    progress.mount("tasks", name, shown, on_go_change=chosen)
