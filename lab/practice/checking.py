"""A check in the background, which reports its progress to a page and can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from lab.practice.background import Background, Stoppable
from lab.practice.checker import Begins, CheckReport, StoppedError
from practice.task import Check, Course, Task


class Judge(Stoppable, Protocol):
    """What checks a text, here or in another process, and keeps what it printed."""

    @property
    def output(self) -> str: ...

    def check(self, course: Course, key: str, source: str, seed: int, begins: Begins) -> CheckReport: ...


class Checking(Background[CheckReport]):
    """One check of a learner's code, which starts when it is created.

    source   the code
    at       the present step, in words
    share    the share of the tasks that have passed so far
    printed  what the learner's code printed, once the check is done
    """

    def __init__(
        self, course: Course, key: str, source: str, seed: int, judge: Callable[[], AbstractContextManager[Judge]]
    ) -> None:
        self.key, self.source = key, source
        self.at, self.share = "your file", 0.0
        self.printed = ""
        super().__init__(lambda: self._check(course, seed, judge))

    @property
    def report(self) -> CheckReport:
        """The report, once the check is done. Raises an exception of the check itself."""
        return self.result()

    def _check(self, course: Course, seed: int, judge: Callable[[], AbstractContextManager[Judge]]) -> CheckReport:
        tasks = course.up_to(self.key)

        def begins(task: Task, one: Check) -> None:
            self.at = f"{task.title}: {one.name}"
            self.share = tasks.index(task) / len(tasks)

        try:
            with self.process(judge()) as process:
                report = process.check(course, self.key, self.source, seed, begins)
                self.printed = process.output
            return report
        except StoppedError as stopped:  # before the check began
            return CheckReport({self.key: False}, stopped=str(stopped))
