"""A check that goes on while a page is shown: it says what it is at, and can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from lab.practice.background import Background, Halting
from lab.practice.checker import CheckReport, Stopped, check
from practice.task import Check, Course, Task


class Checking(Background[CheckReport]):
    """One check of a learner's text, begun as this is made.

    source   the text
    at       what it is at, in words
    share    of the tasks, those that have passed so far
    printed  what the learner's code has printed, once the check is done
    """

    def __init__(
        self, course: Course, key: str, source: str, seed: int, runner: Callable[[], AbstractContextManager[Halting]]
    ) -> None:
        self.key, self.source = key, source
        self.at, self.share = "your file", 0.0
        self.printed = ""
        super().__init__(lambda: self._check(course, seed, runner))

    @property
    def report(self) -> CheckReport:
        """What was found, as soon as it is done. Raises what went wrong with the check itself."""
        return self.result()

    def _check(self, course: Course, seed: int, runner: Callable[[], AbstractContextManager[Halting]]) -> CheckReport:
        tasks = course.up_to(self.key)

        def begins(task: Task, one: Check) -> None:
            self.at = f"{task.title}: {one.name}"
            self.share = tasks.index(task) / len(tasks)

        try:
            with self.process(runner()) as process:
                report = check(course, self.key, self.source, process, seed, begins)
                self.printed = process.output
            return report
        except Stopped as stopped:  # before the check began
            return CheckReport({self.key: False}, stopped=str(stopped))
