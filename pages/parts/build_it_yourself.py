"""Build it yourself: from an empty file to a trained network, each step checked."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from lab.config import hosted
from lab.practice.folder import FolderError
from lab.practice.render_report import next_task
from lab.ui import address, page, progress, state
from lab.ui.address import Field
from lab.ui.state import PageState
from lab.ui.widgets import switch
from pages.parts.practice import finished, hints
from pages.parts.practice.exercise import exercise, finished_check, wait
from pages.parts.practice.tasks import tasks
from practice import COURSES
from practice.task import Course, Task

ONWARD = "See your engine at work"


def _show(current: PageState) -> Callable[[], None]:
    session = st.session_state
    course = COURSES[session["build course"]]
    report = finished_check(course)
    asked = session["build task"] or course.tasks[0].key
    if report and asked == [*report.passed][-1] and (step := next_task(course, asked)):
        session["build task"] = step.key
        state.step()
    task = course.up_to(session["build task"] or course.tasks[0].key)[-1]
    session[f"build task of {course.key}"] = task.key
    onward = ONWARD if course.key in finished.engines() else ""
    tasks(course.key, course.tasks, task.key, _go)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _courses()
            folder = None if hosted() else _own_editor(course)
        _task(course, task)
    with right:
        try:
            exercise(course, task.key, task.starter, folder, onward=onward, go=partial(state.go, _at_work(course)))
        except FolderError as error:
            st.error("The folder cannot be used; your text there has not changed.", icon=":material/folder_off:")
            st.code(str(error), language=None, wrap_lines=True)
    progress.done("own-rule", progress.has_passed("scalars/add"))
    page.closing(
        "Break a rule: write a minus for a plus. See how the check finds it, and what finite differences say.",
        "pages/other_engines.py",
        "See how other engines are built",
    )
    return partial(wait, course)


def _at_work(course: Course) -> dict[str, str]:
    """Return the parameters of the tab with the engine that the learner has built in a course."""
    return {"tab": "passes", "engine": course.key}


# ---------------------------------------------------------------- state: in the session, mirrored in the address


def _of_course(text: str) -> str:
    if text not in {task.key for task in COURSES[st.session_state["build course"]].tasks}:
        raise ValueError(text)
    return text


COURSE = Field("course", "build course", next(iter(COURSES)), address.one_of(*COURSES), always=True)
TASK = Field("task", "build task", None, _of_course, address.optional)
HINTS = hints.field(
    "build hints", [course.progress_key(task.key) for course in COURSES.values() for task in course.tasks]
)
FIELDS = (COURSE, TASK, HINTS)


def _go(key: str) -> None:
    st.session_state["build task"] = key
    state.step()


def _courses() -> None:
    def change() -> None:
        session = st.session_state  # returns to the task of this course that was open last
        session["build task"] = session.get(f"build task of {session['build course']}")
        state.step()

    titles = {key: course.title for key, course in COURSES.items()}
    switch("Course", titles, "build course", on_change=change, bare=True)


def _own_editor(course: Course) -> Path | None:
    """Ask for a folder for the learner's own editor; it is not in the address, or a link could write files."""
    with st.popover("In my own editor", icon=":material/folder_open:"):
        st.markdown(
            "Name a folder on this machine; it is created if it does not exist. The page reads and writes "
            f"`{course.file}` in it, loads what your editor saves there, and keeps a dated copy at each check."
        )
        entry = st.text_input("Folder", key="build folder", placeholder="~/my-engine", persist_state="session")
        text = entry.strip()
        st.button("Back to the editor on this page", on_click=state.put, args=("build folder", ""), disabled=not text)
    return Path(os.path.expanduser(text)) if text else None


# ---------------------------------------------------------------- the task


def _task(course: Course, task: Task) -> None:
    number = [one.key for one in course.tasks].index(task.key) + 1
    st.header(f"{number}. {task.title}")
    st.markdown(task.text)
    if task.starter:
        st.markdown("To begin with:")
        st.code(task.starter.rstrip())
    hints.hints(course, task, HINTS)


PART = page.TabGroup(FIELDS, {"courses": _show})
