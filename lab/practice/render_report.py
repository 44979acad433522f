"""Renders the report of a check as texts for the pages and the terminal."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from lab.practice.checker import CheckReport
from lab.practice.mistakes import FailedCheck
from lab.practice.runner import Problem
from practice.task import Course, Task

MAX_CELLS = 64  # of a value that is shown as a table
MAX_TEXT = 1000  # characters of any other value
MAX_DEPTH = 5  # of nested lists that are written out
SINGLE = (int, float, str, bool, type(None), np.generic)  # values that fit into a cell


def render_report(course: Course, asked: str, report: CheckReport, printed: str) -> dict[str, Any]:
    """Render the report of a check of the task `asked` as JSON data: `ShownResult` in static/types.d.ts."""
    failure = report.failure
    problem = (failure.problem if failure else None) or report.problem
    return {
        "passed": bool(report),
        "headline": _headline(course, asked, report),
        "sentence": _sentence(course, report),
        "line": report.line,
        "column": problem.column if problem else None,
        "checks": [{"name": name, "passed": passed} for name, passed in report.checks.items()],
        "program": f"{failure.check.program.rstrip()}\n{failure.show}".rstrip() if failure else "",
        "inputs": [shown(name, value) for name, value in _inputs_read(failure).items()] if failure else [],
        "values": _values(failure) if failure else [],
        "printed": printed,
        "printedWhen": _when(report),
    }


def _inputs_read(failure: FailedCheck) -> dict[str, Any]:
    """Return the inputs that the test case reads: another value of the same name would only confuse."""
    program, show = (
        [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
        for code in (failure.check.program, failure.show)
    )
    stored = {node.id for node in program if isinstance(node.ctx, ast.Store)}
    read = {node.id for node in program if isinstance(node.ctx, ast.Load)} | {node.id for node in show} - stored
    return {name: value for name, value in failure.inputs.items() if name in read}


def _when(report: CheckReport) -> str:
    """Say when the printed text was printed, in words that follow "your code printed"."""
    if report.problem:
        return "while its file was loaded"
    if report.failure and report.failure.alone:
        return "while its file was loaded and in this case"
    return "in all cases that were run"


def next_task(course: Course, key: str) -> Task | None:
    """Return the task after the one with this key; None after the last."""
    done = len(course.up_to(key))
    return course.tasks[done] if done < len(course.tasks) else None


def all_passed(course: Course) -> str:
    """Return the headline for code that passes every task. The browser keeps it with a copy of the code."""
    count = len(course.tasks)
    return f"All {count} tasks are passed." if count > 1 else f"{course.tasks[0].title}: passed."


def _headline(course: Course, asked: str, report: CheckReport) -> str:
    titles = {task.key: task.title for task in course.tasks}
    if report:
        if step := next_task(course, asked):
            return f"{titles[asked]}: passed. Next: {step.title}."
        return all_passed(course)
    if report.stopped:
        task, at = [*report.passed][-1], next((name for name, passed in report.checks.items() if passed is None), "")
        return f"{titles[task]}: “{at}” did not finish." if at else "The check did not finish."
    if report.problem:
        return "Python cannot run your file."
    failed = next(key for key, passed in report.passed.items() if not passed)
    before = "" if failed == asked else "An earlier task does not pass. "
    check = next((name for name, passed in report.checks.items() if passed is False), "")
    return f"{before}{titles[failed]}: “{check}” fails."


def _sentence(course: Course, report: CheckReport) -> str:
    failure = report.failure
    if not failure:
        return report.stopped or (_exception(report.problem) if report.problem else "")
    # The original fault of a program to debug is for the learner to find: only a mistake of their own is named.
    original = course.room and failure.mistake == course.tasks[0].mistakes[0]
    if failure.mistake and not original:
        return failure.mistake.sentence
    if failure.problem:
        return failure.looks_like or _exception(failure.problem)
    if original:
        return f"`{failure.show}` comes out as in the program that you found."
    return failure.looks_like or (f"`{failure.show}` is not what it should be." if failure.show else "")


def _exception(problem: Problem) -> str:
    text = f"{problem.kind}: {problem.message}" if problem.message else problem.kind
    if problem.kind == "ModuleNotFoundError":  # it works in the learner's own Python
        text += ". The check runs this file alone, with Python's own modules and NumPy."
    return text


def _values(failure: FailedCheck) -> list[dict[str, Any]]:
    """Show the learner's value, the right value, and the value by finite differences."""
    if not failure.show:
        return []
    digits = 4
    if failure.wrong is not None:  # enough digits to show the difference
        digits = next((d for d in (4, 7, 12) if _tell_apart(failure, d)), 17)
    values = []
    if not failure.problem:
        wrong = np.array(True) if failure.wrong is None else failure.wrong
        values.append(shown(failure.show, failure.got, "with your code", digits, wrong))
        if failure.wrong is None and isinstance(failure.got, list) and isinstance(failure.expected, list):
            for cell in (cell for row in values[-1].get("cells", []) for cell in row):
                cell["wrong"] = False  # the list is too long or too short, but its items are right
    values.append(shown(failure.show, failure.expected, "should be", digits))
    if failure.numerical is not None:
        values.append(shown(failure.show, failure.numerical, "by finite differences", digits))
    return values


def _tell_apart(failure: FailedCheck, digits: int) -> bool:
    got, expected = _flat(failure.got), _flat(failure.expected)
    wrong = np.ravel(failure.wrong) if failure.wrong is not None else np.array([], bool)
    if not len(got) == len(expected) == len(wrong):
        return True
    return all(_text(a, digits) != _text(b, digits) for a, b, w in zip(got, expected, wrong, strict=True) if w)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [*value.ravel()]
    return value if isinstance(value, list) else [value]


def shown(name: str, value: Any, words: str = "", digits: int = 6, wrong: np.ndarray | None = None) -> dict[str, Any]:
    """Render a value: `ShownValue` in static/types.d.ts. wrong: which elements are wrong, or whether the value is."""
    shared = {"name": name, "words": words, "text": "", "wrong": bool(np.any(wrong))}
    rows: list[list[Any]] | None = None
    if isinstance(value, np.ndarray) and 1 <= value.ndim <= 2 and 0 < value.size <= MAX_CELLS:
        rows = [*value] if value.ndim == 2 else [[*value]]
    elif isinstance(value, list) and 0 < len(value) <= MAX_CELLS and all(isinstance(each, SINGLE) for each in value):
        rows = [value]
    if rows is None:
        return shared | {"text": _text(value, digits)}
    size = len(rows), len(rows[0])
    is_wrong = np.zeros(size, bool)
    if wrong is not None:
        is_wrong |= wrong.reshape(size) if wrong.size == is_wrong.size else wrong.any()
    cells = [
        [{"text": _text(one, digits), "wrong": bool(mark)} for one, mark in zip(row, line, strict=True)]
        for row, line in zip(rows, is_wrong, strict=True)
    ]
    shape = f"shape {value.shape}" if isinstance(value, np.ndarray) else f"a list of {len(value)}"
    return shared | {"cells": cells, "shape": shape}


def _text(value: Any, digits: int, depth: int = 0) -> str:
    if isinstance(value, (bool, np.bool_, type(None), int, np.integer)):
        return str(value)
    if isinstance(value, (float, np.floating)):
        return f"{float(value) + 0.0:.{digits}g}"  # -0 is written 0
    if isinstance(value, np.ndarray):
        if not value.ndim:
            return _text(value.item(), digits)
        numbers = ", ".join(_text(one, digits) for one in value.ravel()[:8])
        return f"an array of shape {value.shape}: {numbers}{', …' if value.size > 8 else ''}"
    if isinstance(value, Mapping) and [*value] == ["type"]:  # a value that the driver could not encode
        return f"something of type {value['type']}"
    if isinstance(value, list):
        if depth == MAX_DEPTH and value:
            return "[…]"
        texts = ", ".join(_text(one, digits, depth + 1) for one in value[:MAX_CELLS])
        return _cut(f"[{texts}{', …' * (len(value) > MAX_CELLS)}]")
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
