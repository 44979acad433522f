"""Debug these: twelve short programs, each with one bug to find and fix."""

import streamlit as st

from lab.lessons.pages import BY_FILE
from lab.ui import binding, page
from lab.ui.widgets import button
from pages.parts.practice import exercise as editor
from pages.parts.practice import hints
from pages.parts.practice.tasks import tasks
from practice.debug import FAILURES, PROGRAMS, ROOM
from practice.task import Course

NUMBERS = {program.key: number for number, program in enumerate(PROGRAMS, 1)}


def _number(text: str) -> int:
    number = NUMBERS[text] if text in NUMBERS else int(text)
    if not 1 <= number <= len(PROGRAMS):
        raise ValueError(text)
    return number


# The address has the number, because the key names the failure. A link from a page about that failure has the key.
PROGRAM = binding.HeldValue("build-program", 1, _number)
HELD = (PROGRAM,)


def show() -> None:
    """Draw the tab."""
    program = _program()
    editor.finished_check(program)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.markdown("Each program has one bug. Find it, fix it, press *Check*.")
        tasks(ROOM, [one.tasks[0] for one in PROGRAMS], program.key, _go, "Programs")
        _explain(program)
    with right:
        editor.exercise(program, program.key, "", again="Reset the program")
    page.closing(
        "Before you change anything, check the program as it is, and say from the numbers alone what is wrong.",
        "pages/what_went_wrong.py",
        "Spot the fault: name one from its curves",
        {"tab": "spot"},
    )


def wait() -> None:
    """Wait for a check that is running."""
    editor.wait(_program())


def _program() -> Course:
    return PROGRAMS[st.session_state[PROGRAM.key] - 1]


def _go(key: str) -> None:
    binding.step()
    st.session_state[PROGRAM.key] = NUMBERS[key]


def _explain(program: Course) -> None:
    (task,) = program.tasks
    st.header(f"{NUMBERS[program.key]}. {task.title}", anchor=False)
    st.markdown(task.text)
    if program.progress_key(task.key) in st.session_state.get("tasks passed", ()):
        _solved(program)
    else:
        hints.hints(program, task, f"hint_program{NUMBERS[program.key]}")


def _solved(program: Course) -> None:
    """Name the failure and link to where the lab shows it."""
    failure = FAILURES[program.key]
    place = failure.place
    st.success(f"**Solved.** {failure.name}", icon=":material/check:")
    page.link_to(place.file, f"See it: {BY_FILE[place.file].title}", "visibility", place.query)
    st.caption(place.look)
    following = PROGRAMS[NUMBERS[program.key] % len(PROGRAMS)]
    button("Next program", "debug next", _go, following.key, icon="skip_next")
