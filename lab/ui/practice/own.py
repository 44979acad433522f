"""What a visitor has built: an engine for each ladder whose last task has passed in this visit.

Its text is the one that was checked. The server keeps it as long as the visit lasts; after that the browser has it, and
another check brings it back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import streamlit as st

from lab.expression.builder import Expression
from lab.practice import own_engine, sandbox
from lab.practice.checker import Report, Stopped
from lab.practice.own_engine import Loaded, Unusable
from lab.trace.numerical import Checked
from lab.trace.recording import Trace, strict_json
from lab.ui.assets import component, keep_value
from lab.ui.computed import computed
from lab.ui.practice.processes import pool
from practice import LADDERS
from practice.task import Ladder

LINE = 200  # characters of a learner's line, or of what their code says, that are shown
LONGEST_DAYS = 100_000  # characters of what the browser says of days
_ENGINES, _CHECKS, _DAYS = "own engines", "own checks", "own days"


@dataclass(frozen=True)
class Engine:
    """A text that has passed every task of its ladder. day: when that was, as the world's clock (UTC) has it."""

    ladder: Ladder
    source: str
    day: date

    @property
    def name(self) -> str:
        return f"Your engine: {self.ladder.title.lower()}, passed {self.day:%d %B %Y}".replace(" 0", " ")


@dataclass(frozen=True)
class Passes:
    """A forward and a backward pass of an engine; or, in one sentence as plain text, why there is none.

    gradients  of each leaf beside a numerical one, both by this engine; of these, too, there may be none
    """

    trace: Trace | None = None
    gradients: tuple[Checked, ...] = ()
    complaint: str = ""


def checked(ladder: Ladder, key: str, source: str, report: Report) -> None:
    """A check up to the task of the key is done: take note of what it says."""
    now = st.session_state
    now[_CHECKS] = now.get(_CHECKS, {}) | {ladder.key: checks(ladder) + 1}
    today = datetime.now(UTC).date()
    passed = {ladder.deed(task): today for task, well in report.passed.items() if well}
    now[_DAYS] = passed | now.get(_DAYS, {})
    if report and key == ladder.tasks[-1].key and ladder.key in own_engine.ENGINES:
        now[_ENGINES] = now.get(_ENGINES, {}) | {ladder.key: Engine(LADDERS[ladder.key], source, today)}


def engines() -> Mapping[str, Engine]:
    """The engines of this visit, by the keys of their ladders."""
    found: Mapping[str, Engine] = st.session_state.get(_ENGINES, {})
    return found


def checks(ladder: Ladder) -> int:
    """How many checks of the ladder's file have come to their end in this visit."""
    count: int = st.session_state.get(_CHECKS, {}).get(ladder.key, 0)
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
                loaded = Loaded(engine.ladder, engine.source, runner)
                trace = loaded.follow(expression, values, upstream)
                rows = loaded.checked(expression, values, upstream)
        except (Unusable, Stopped) as error:
            return Passes(trace, (), said(engine, str(error), error.line))
        return Passes(trace, tuple(rows))

    start = None if upstream is None else upstream.tolist()
    return computed("own passes", (engine.source, expression.text, {**values}, start), run)


def said(engine: Engine, sentence: str, line: int | None) -> str:
    """What went wrong with an engine, and in which line of its file. Plain text, with the learner's words in it."""
    short = " ".join(sentence.split())
    short = short if len(short) <= LINE else f"{short[:LINE]}…"
    if line is None:
        return short
    text = engine.source.split("\n")[line - 1].strip()
    return f"{short} It was in line {line}: {text[:LINE]}"


_component = component("own_engines", "practice/own.js", style="practice/own.css")
_KEPT = "own here"


def kept_here(again: Callable[[Ladder, str], None], asks_for_days: bool) -> None:
    """A button for each engine that was built on another day and whose text the browser still has. The JavaScript is
    in static/practice/.

    again          called, before the next run, with a ladder and the text that the browser keeps for it
    asks_for_days  the browser is to tell the days on which tasks were passed, for `all_days`
    """

    def back() -> None:
        asked = st.session_state[_KEPT].get("back")
        if isinstance(asked, dict) and asked.get("ladder") in missing and isinstance(asked.get("text"), str):
            again(missing[asked["ladder"]], asked["text"])

    missing = {key: LADDERS[key] for key in own_engine.ENGINES if key not in engines() and not sandbox.unavailable()}
    shown = {
        "ladders": [
            {"key": key, "title": ladder.title, "last": ladder.tasks[-1].key} for key, ladder in missing.items()
        ],
        "asksForDays": asks_for_days,
    }
    _component(key=_KEPT, data=strict_json(shown).encode(), on_back_change=back, on_days_change=keep_value)


def all_days(ladder: Ladder) -> dict[str, str]:
    """The key of a task -> the day on which it first passed, as far as this visit or the browser knows it."""
    sent = st.session_state.get(_KEPT, {}).get("days")
    try:
        told = json.loads(sent) if isinstance(sent, str) and len(sent) <= LONGEST_DAYS else {}
    except (ValueError, RecursionError):
        told = {}
    found = {}
    for task in ladder.tasks:
        name = ladder.deed(task.key)
        day = told.get(name) if isinstance(told, dict) else None
        if isinstance(day, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", day):
            found[task.key] = day
        elif name in days():
            found[task.key] = days()[name].isoformat()
    return found
