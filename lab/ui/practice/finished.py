"""What a visitor has built: an engine for each course whose last task has passed in this visit.

Its text is the one that was checked. The server keeps it as long as the visit lasts; after that the browser has it, and
another check brings it back (lab/ui/practice/choice.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import streamlit as st

from lab.expression.builder import Expression
from lab.practice import learner_engine
from lab.practice.checker import CheckReport, Stopped
from lab.practice.learner_engine import Differentiated, Loaded, Unusable
from lab.trace.numerical import NumericalCheck
from lab.trace.recording import Trace
from lab.ui.memoize import memoize
from lab.ui.practice.processes import pool
from practice import COURSES
from practice.task import Course

LINE = 200  # characters of a learner's line, or of what their code says, that are shown
_ENGINES, _CHECKS, _DAYS = "own engines", "own checks", "own days"


@dataclass(frozen=True)
class Engine:
    """A text that has passed every task of its course. day: when that was, as the world's clock (UTC) has it."""

    course: Course
    source: str
    day: date

    @property
    def name(self) -> str:
        return f"Your engine: {self.course.title.lower()}, passed {self.day:%d %b %Y}".replace(" 0", " ")


@dataclass(frozen=True)
class Passes:
    """A forward and a backward pass of an engine; or, in one sentence as plain text, why there is none.

    gradients  of each leaf beside a numerical one, both by this engine; of these, too, there may be none
    """

    trace: Trace | None = None
    gradients: tuple[NumericalCheck, ...] = ()
    complaint: str = ""


def note_check(course: Course, key: str, source: str, report: CheckReport) -> None:
    """A check up to the task of the key is done: take note of what it says."""
    session = st.session_state
    session[_CHECKS] = session.get(_CHECKS, {}) | {course.key: checks(course) + 1}
    today = datetime.now(UTC).date()
    passed = {course.deed(task): today for task, well in report.passed.items() if well}
    session[_DAYS] = passed | session.get(_DAYS, {})
    if report and key == course.tasks[-1].key and course.key in learner_engine.ENGINES:
        session[_ENGINES] = session.get(_ENGINES, {}) | {course.key: Engine(COURSES[course.key], source, today)}


def engines() -> Mapping[str, Engine]:
    """The engines of this visit, by the keys of their courses."""
    found: Mapping[str, Engine] = st.session_state.get(_ENGINES, {})
    return found


def checks(course: Course) -> int:
    """How many checks of the course's file have come to their end in this visit."""
    count: int = st.session_state.get(_CHECKS, {}).get(course.key, 0)
    return count


def days() -> Mapping[str, date]:
    """Task such as "scalars/add" -> the day on which it has passed, of those that have passed in this visit."""
    found: Mapping[str, date] = st.session_state.get(_DAYS, {})
    return found


def passes(engine: Engine, expression: Expression, values: Mapping[str, Any], upstream: Any = None) -> Passes:
    """The passes of an expression by an engine, in a process of its own."""

    def run() -> Passes:
        trace = None
        try:
            with pool().runner() as runner:
                loaded = Loaded(engine.course, engine.source, runner)
                trace = loaded.follow(expression, values, upstream)
                rows = loaded.checked(expression, values, upstream)
        except (Unusable, Stopped) as error:
            return Passes(trace, (), with_line(engine, str(error), error.line))
        return Passes(trace, tuple(rows))

    start = None if upstream is None else upstream.tolist()
    return memoize("own passes", (engine.source, expression.text, {**values}, start), run)


def with_line(engine: Engine, sentence: str, line: int | None) -> str:
    """What went wrong with an engine, and in which line of its file. Plain text, with the learner's words in it."""
    short = " ".join(sentence.split())
    short = short if len(short) <= LINE else f"{short[:LINE]}…"
    if line is None:
        return short
    text = engine.source.split("\n")[line - 1].strip()
    return f"{short} It was in line {line}: {text[:LINE]}"


@contextlib.contextmanager
def differentiated(engine: Engine, expression: Expression) -> Iterator[Differentiated]:
    """The expression as a function of Tensors with the engine's backward pass, which works until the end of the block.
    Raises Unusable and Stopped, as that pass does."""
    with pool().runner() as runner:
        yield Differentiated(Loaded(engine.course, engine.source, runner), expression)
