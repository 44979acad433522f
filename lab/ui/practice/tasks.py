"""The tasks of a ladder in a row, with ticks: the browser knows which are passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import streamlit as st

from lab.trace.recording import strict_json
from lab.ui.assets import loading
from practice.task import Task

_CSS = """
ol { display: flex; flex-wrap: wrap; gap: 0.3rem; margin: 0; padding: 0; list-style: none; }
li { margin: 0; }
button { display: flex; gap: 0.35rem; align-items: center; font: 400 0.82rem/1.3 var(--st-font); cursor: pointer;
  color: var(--st-text-color); background: var(--st-background-color); padding: 0.15rem 0.55rem 0.15rem 0.2rem;
  border: 1px solid var(--st-border-color); border-radius: 1rem; }
.sign { display: inline-grid; place-items: center; width: 1.35rem; height: 1.35rem; border-radius: 50%;
  font-size: 0.75rem; font-weight: 600; background: var(--st-secondary-background-color); }
.passed .sign { color: light-dark(#fff, #06281d); background: light-dark(#00694b, #5fd3a8); }
button[aria-current] { border: 2px solid var(--st-primary-color); font-weight: 600; padding: calc(0.15rem - 1px); }
button[aria-current] { padding-right: calc(0.55rem - 1px); }
button:hover { border-color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 640px) {
  button:not([aria-current]) .name { position: absolute; width: 1px; height: 1px; overflow: hidden;
    clip-path: inset(50%); white-space: nowrap; }
  button:not([aria-current]) { padding: 0.15rem; min-width: 1.75rem; }
}
"""
_component = st.components.v2.component(
    "tensor_ops_lab_tasks",
    css=_CSS,
    js=loading("practice/tasks.js")
    + """export default function (component) {
  loading.then(
    (tasks) => tasks.show(component),
    () => component.parentElement.append("The tasks could not be loaded. Load the page again."),
  );
  return () => loading.then((tasks) => tasks.remove(component.parentElement), () => {});
}""",
)


def tasks(room: str, choice: Iterable[Task], now: str, go: Callable[[str], None], label: str = "Tasks") -> None:
    """room: what the deeds of these tasks begin with, such as "scalars". now: the key of the task that is shown. go:
    called, before the next run, with the key of one that is chosen."""
    name = f"tasks {room}"
    titles = {task.key: task.title for task in choice}

    def chosen() -> None:
        key = st.session_state[name].get("go")
        if key in titles:
            go(key)

    shown = {
        "ladder": room,
        "label": label,
        "now": now,
        "tasks": [{"key": key, "title": title} for key, title in titles.items()],
    }
    _component(key=name, data=strict_json(shown).encode(), on_go_change=chosen)
