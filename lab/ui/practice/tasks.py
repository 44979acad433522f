"""The tasks of a course in a row, with ticks: the browser knows which are passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import streamlit as st

from lab.text import strict_json
from lab.ui.assets import component
from practice.task import Task

_component = component("tasks", "practice/tasks.js", lost="The tasks", style="practice/tasks.css")


def tasks(room: str, choice: Iterable[Task], now: str, go: Callable[[str], None], label: str = "Tasks") -> None:
    """room: what the deeds of these tasks begin with, such as "scalars". now: the key of the task that is shown. go:
    called, before the next run, with the key of one that is chosen."""
    name = f"tasks {room}"
    titles = {task.key: task.title for task in choice}

    def chosen() -> None:
        match st.session_state[name].get("go"):
            case {"key": str(key)} if key in titles:
                go(key)

    shown = {
        "course": room,
        "label": label,
        "now": now,
        "tasks": [{"key": key, "title": title} for key, title in titles.items()],
    }
    _component(key=name, data=strict_json(shown).encode(), on_go_change=chosen)
