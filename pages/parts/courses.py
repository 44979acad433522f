"""The courses of Build it yourself: from an empty file to a trained network, each step checked."""

from functools import partial

import streamlit as st

from lab.lessons.pages import BY_PATH
from lab.practice.render_report import next_task
from lab.ui import binding, page, progress
from lab.ui.widgets import switch
from pages.parts.practice import exercise as editor
from pages.parts.practice import finished, hints
from pages.parts.practice.tasks import tasks
from practice import COURSES
from practice.task import Course, Task

ONWARD = "See your engine at work"
COURSE = binding.choice("build-course", *COURSES)
TASK = binding.choice("build-task", None, *(task.key for course in COURSES.values() for task in course.tasks))
HELD = (COURSE, TASK)


def show() -> None:
    """Draw the tab."""
    session = st.session_state
    course = COURSES[session[COURSE.key]]
    report = editor.finished_check(course)
    asked = _asked(course)
    if report and asked == [*report.passed][-1] and (step := next_task(course, asked)):
        session[TASK.key] = asked = step.key
        binding.step()
    task = course.up_to(asked)[-1]
    session[f"build task of {course.key}"] = task.key
    onward = ONWARD if course.key in finished.engines() else ""
    tasks(course.key, course.tasks, task.key, _go)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        _courses()
        _task(course, task)
    with right:
        editor.exercise(course, task.key, task.starter, onward=onward, go=partial(_at_work, course))
    progress.done("own-rule", progress.has_passed("scalars/add"))
    page.closing(
        "Break a rule: write a minus for a plus. See how the check finds it, and what finite differences say.",
        "pages/other_engines.py",
        "See how other engines are built",
    )


def wait() -> None:
    """Wait for a check that is running."""
    editor.wait(COURSES[st.session_state[COURSE.key]])


def _asked(course: Course) -> str:
    """Return the key of the open task; an address may have one of another course."""
    asked: str | None = st.session_state[TASK.key]
    return asked if asked in {task.key for task in course.tasks} else course.tasks[0].key


def _at_work(course: Course) -> None:
    """Open the tab with the engine that the learner has built in a course."""
    binding.step()
    binding.set_widget("build-tab", BY_PATH["build-it-yourself"].tabs["passes"])
    st.session_state["build-engine"] = course.key


def _go(key: str) -> None:
    binding.step()
    st.session_state[TASK.key] = key


def _courses() -> None:
    def change() -> None:
        binding.step()
        session = st.session_state  # returns to the task of this course that was open last
        session[TASK.key] = session.get(f"build task of {session[COURSE.key]}")

    titles = {key: course.title for key, course in COURSES.items()}
    switch("Course", titles, COURSE.key, on_change=change, bare=True, persist_state="session")


# ---------------------------------------------------------------- the task


def _task(course: Course, task: Task) -> None:
    number = [one.key for one in course.tasks].index(task.key) + 1
    st.header(f"{number}. {task.title}")
    st.markdown(task.text)
    if task.starter:
        st.markdown("To begin with:")
        st.code(task.starter.rstrip())
    hints.hints(course, task, f"hint_{course.key}{number}")
