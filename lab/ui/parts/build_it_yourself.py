"""Build it yourself: from an empty file to a trained network, each step checked."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from lab.config import hosted
from lab.practice.folder import FolderError
from lab.practice.render_report import following
from lab.ui import address, page, progress, state
from lab.ui.address import Field
from lab.ui.practice import own
from lab.ui.practice.exercise import exercise, finished, wait
from lab.ui.practice.hints import hints
from lab.ui.practice.tasks import tasks
from lab.ui.state import PageState
from practice import LADDERS
from practice.task import Ladder, Task

PAGE = "pages/build_it_yourself.py"
ONWARD = "See your engine at work"


def _show(current: PageState) -> Callable[[], None]:
    session = st.session_state
    ladder = LADDERS[session["build ladder"]]
    report = finished(ladder)
    asked = session["build task"] or ladder.tasks[0].key
    if report and asked == [*report.passed][-1] and (step := following(ladder, asked)):
        session["build task"] = step.key
        state.step()
    task = ladder.up_to(session["build task"] or ladder.tasks[0].key)[-1]
    session[f"build task of {ladder.key}"] = task.key
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _ladders()
        folder = None if hosted() else _own_editor(ladder)
        onward = ONWARD if ladder.key in own.engines() else ""
        if onward:
            page.link_to(PAGE, onward, ":material/engineering:", _at_work(ladder))
    tasks(ladder.key, ladder.tasks, task.key, _go)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        _task(ladder, task)
    with right:
        try:
            exercise(ladder, task.key, task.starter, folder, onward=onward, go=partial(state.go, _at_work(ladder)))
        except FolderError as error:
            st.error("The folder cannot be used; your text there is as it was.", icon=":material/folder_off:")
            st.code(str(error), language=None, wrap_lines=True)
    progress.done("own-rule", progress.has_passed("scalars/add"))
    page.closing(
        "Write a rule wrongly on purpose, such as a minus for a plus, and see how the check finds it and what finite "
        "differences say.",
        "pages/engine_designs.py",
        "See how other engines are built",
    )
    return partial(wait, ladder)


def _at_work(ladder: Ladder) -> dict[str, str]:
    """The address of the engine that has come of a course."""
    return {"tab": "passes", "engine": ladder.key}


# ---------------------------------------------------------------- state: in the session, mirrored in the address


def _of_ladder(text: str) -> str:
    if text not in {task.key for task in LADDERS[st.session_state["build ladder"]].tasks}:
        raise ValueError(text)
    return text


LADDER = Field("ladder", "build ladder", next(iter(LADDERS)), address.one_of(*LADDERS), always=True)
TASK = Field("task", "build task", None, _of_ladder, address.optional)
FIELDS = (LADDER, TASK)


def _go(key: str) -> None:
    st.session_state["build task"] = key
    state.step()


def _ladders() -> None:
    def change() -> None:
        now = st.session_state  # back to the task of this ladder that was open last
        now["build task"] = now.get(f"build task of {now['build ladder']}")
        state.step()

    titles = {key: ladder.title for key, ladder in LADDERS.items()}
    st.segmented_control(
        "Ladder",
        [*titles],
        format_func=lambda key: titles[key],
        key="build ladder",
        required=True,
        on_change=change,
        label_visibility="collapsed",
    )


def _own_editor(ladder: Ladder) -> Path | None:
    """The folder that the visitor has named. No address names one: a link would write files."""
    now = st.session_state

    def leave() -> None:
        now["build folder"] = ""

    now.setdefault("build folder", now.get("build folder kept", ""))

    with st.popover("In my own editor", icon=":material/folder_open:"):
        st.markdown(
            "Name a folder on this machine; where there is none, it is made. The page reads and writes "
            f"`{ladder.file}` in it, takes what your editor saves there, and keeps a dated copy at each check."
        )
        text = st.text_input("Folder", key="build folder", placeholder="~/my-engine").strip()
        st.button("Back to the editor here alone", on_click=leave, disabled=not text)
    now["build folder kept"] = text
    return Path(os.path.expanduser(text)) if text else None


# ---------------------------------------------------------------- the task


def _task(ladder: Ladder, task: Task) -> None:
    number = [one.key for one in ladder.tasks].index(task.key) + 1
    st.header(f"{number}. {task.title}")
    st.markdown(task.text)
    if task.starter:
        st.markdown("To begin with:")
        st.code(task.starter.rstrip())
    hints(ladder, task)


PART = page.Part(FIELDS, {"courses": _show})
