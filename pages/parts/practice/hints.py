"""The hints of a task, and the lines of the reference solution."""

import streamlit as st

from practice.task import Course, Task

SOLUTION = "One way to write it"


def hints(course: Course, task: Task, name: str) -> None:
    """Let the learner open one hint of a task, or the solution.

    name: what the address calls the choice; it must not give the answer away.
    """
    texts = {f"Hint {number}": hint for number, hint in enumerate(task.hints, 1)}
    lines = course.lines_of(task.key).strip("\n")
    options = [*texts, *([SOLUTION] if lines else [])]
    chosen = st.pills("Hints", options, key=f"build-{name}", bind="query-params", label_visibility="collapsed")
    if chosen == SOLUTION:
        st.code(lines)
    elif chosen:
        st.markdown(f"**{chosen}.** {texts[chosen]}")
