"""The engines that a visitor has built: one for each course whose last task has passed in this visit.

The server keeps the code that was checked as long as the visit lasts. The browser keeps it longer, and another check
restores it (pages/parts/practice/choice.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import streamlit as st

from lab.expression.parser import Expression
from lab.practice import learner_engine
from lab.practice.checker import CheckReport
from lab.practice.learner_engine import EngineError, Loaded
from lab.practice.runner import StoppedError
from lab.trace.numerical import NumericalCheck
from lab.trace.recording import Trace
from lab.ui.memoize import memoize
from pages.parts.practice.processes import runner_in_turn
from practice import COURSES
from practice.task import Course

MAX_LINE = 200  # characters that are shown of a line of the learner's code, or of its message
_ENGINES = "own engines"


@dataclass(frozen=True)
class Engine:
    """A learner's code that has passed every task of its course. day: when it passed, in UTC."""

    course: Course
    source: str
    day: date

    @property
    def name(self) -> str:
        return f"Your engine: {self.course.title.lower()}, passed {self.day:%d %b %Y}".replace(" 0", " ")


@dataclass(frozen=True)
class Passes:
    """A forward and a backward pass of an engine.

    gradients  each leaf's gradient with a numerical one, both by this engine; may be empty
    complaint  why there is no pass, as a plain sentence; "" if there is one
    """

    trace: Trace | None = None
    gradients: tuple[NumericalCheck, ...] = ()
    complaint: str = ""


def note_check(course: Course, key: str, source: str, report: CheckReport) -> None:
    """Record the engine if a check up to the task `key` has passed and this is the course's last."""
    session = st.session_state
    if report and key == course.tasks[-1].key and course.key in learner_engine.ENGINES:
        engine = Engine(COURSES[course.key], source, datetime.now(UTC).date())
        session[_ENGINES] = session.get(_ENGINES, {}) | {course.key: engine}


def engines() -> Mapping[str, Engine]:
    """Return the engines of this visit by the keys of their courses."""
    found: Mapping[str, Engine] = st.session_state.get(_ENGINES, {})
    return found


def passes(engine: Engine, expression: Expression, values: Mapping[str, Any], upstream: Any = None) -> Passes:
    """Run the passes of an expression on an engine, in a separate process."""

    def run() -> Passes:
        trace = None
        try:
            with runner_in_turn()() as runner:
                loaded = Loaded(engine.course, engine.source, runner)
                trace = loaded.follow(expression, values, upstream)
                rows = loaded.checked(expression, values, upstream)
        except (EngineError, StoppedError) as error:
            return Passes(trace, (), with_line(engine, str(error), error.line))
        return Passes(trace, tuple(rows))

    start = None if upstream is None else upstream.tolist()
    return memoize("own passes", (engine.source, expression.text, {**values}, start), run)


def with_line(engine: Engine, sentence: str, line: int | None) -> str:
    """Shorten an error of an engine and add the line of its file; the plain text may quote the learner's code."""
    short = " ".join(sentence.split())
    short = short if len(short) <= MAX_LINE else f"{short[:MAX_LINE]}…"
    if line is None:
        return short
    text = engine.source.split("\n")[line - 1].strip()
    return f"{short} It was in line {line}: {text[:MAX_LINE]}"
