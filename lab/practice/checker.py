"""Judges a learner's code: runs the same programs with it and with the reference, and compares the answers.

The learner's code runs behind a `Runner`, in a process of its own: it receives programs and numbers and answers with
numbers. It can answer anything, but the right answers are not in its process, and they are compared here. The
reference, with or without a known mistake, is this project's own text and runs in this process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from lab.practice.cases import CheckRun, answers, cases_of, loaded
from lab.practice.comparison import agree
from lab.practice.mistakes import FailedCheck, explain
from lab.practice.runner import Answer, Job, LocalRunner, Problem, Runner, StoppedError
from practice.task import Check, Course, Task

Begins = Callable[[Task, Check], None]  # what is told of each check before it is run


@dataclass(frozen=True)
class CheckReport:
    """The result of one check of a file against the tasks of a course, up to one of them.

    passed    the key of each task -> whether all of its checks passed; tasks after the first that fails are not run
    checks    the name of each check of the last task that was run -> whether it passed, None if it was not run
    problem   the exception that the file raised while it was loaded
    stopped   why the process ended without an answer, a sentence, or ""
    """

    passed: Mapping[str, bool]
    checks: Mapping[str, bool | None] = field(default_factory=dict)
    failure: FailedCheck | None = None
    problem: Problem | None = None
    stopped: str = ""
    line: int | None = None

    def __bool__(self) -> bool:
        return bool(self.passed) and all(self.passed.values())


def check(
    course: Course,
    key: str,
    source: str,
    runner: Runner,
    seed: int,
    begins: Begins = lambda task, one: None,
) -> CheckReport:
    """Check a learner's text against the tasks of a course, in order, up to the one with the given key.

    The cases are drawn from `seed`. `begins` is called before each check. Raises KeyError for an unknown key.
    """
    tasks = course.up_to(key)
    passed: dict[str, bool] = {}
    checks: dict[str, bool | None] = {}
    with ThreadPoolExecutor(1) as aside:  # runs the reference while the learner's process answers
        try:
            if problem := runner.load(source, course.file, course.modules):
                return CheckReport({tasks[0].key: False}, problem=problem, line=problem.line)
            reference = loaded(course.reference, course.file)
            for task in tasks:
                checks = dict.fromkeys((one.name for one in task.checks), None)
                passed[task.key] = False
                ran: list[CheckRun] = []
                for number, one in enumerate(task.checks):
                    begins(task, one)
                    cases = list(cases_of(one, np.random.default_rng([seed, number])))
                    right = aside.submit(_right_answers, reference, one, cases)
                    got = answers(runner, one, cases)
                    ran.append(CheckRun(one, cases, got, right.result()))
                    checks[one.name] = all(agree(one, *pair) for pair in zip(got, right.result(), strict=True))
                    if not checks[one.name]:
                        failure = _failed(course, task, ran, source, runner, reference)
                        line = failure.problem.line if failure.problem else None
                        return CheckReport(passed, checks, failure, line=line)
                passed[task.key] = True
        except StoppedError as stopped:
            return CheckReport(passed or {tasks[0].key: False}, checks, stopped=str(stopped), line=stopped.line)
    return CheckReport(passed, checks)


def _right_answers(reference: LocalRunner, one: Check, cases: Sequence[Job]) -> list[Answer]:
    return [Answer(verdict="")] * len(cases) if one.slow else answers(reference, one, cases)


def _failed(
    course: Course, task: Task, ran: Sequence[CheckRun], source: str, runner: Runner, reference: LocalRunner
) -> FailedCheck:
    """Return the smallest case in which the last check that ran fails. The learner's file is loaded afresh before the
    search for it, as the cases may have changed its state, and again before it is run for the text that it prints."""
    one = ran[-1].check
    if one.slow:
        return explain(course, task, ran, runner, reference)
    with contextlib.suppress(StoppedError):  # then the report has no smaller case
        runner.load(source, course.file, course.modules)
    failure = explain(course, task, ran, runner, reference)
    with contextlib.suppress(StoppedError):
        runner.load(source, course.file, course.modules)
        runner.run([Job(one.program, failure.inputs, one.shows)])
        failure = replace(failure, alone=True)
    return failure
