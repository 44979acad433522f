"""A check that goes on while a page is shown: it says what it is at, and can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import AbstractContextManager
from typing import Protocol

from lab.practice.checker import Report, Runner, Stopped, check
from practice.task import Check, Ladder, Task

YOU_STOPPED = "You stopped it."


class Halting(Runner, Protocol):
    """A runner that can be stopped from outside, and that has what the code printed."""

    @property
    def output(self) -> str: ...

    def stop(self) -> None: ...


class Checking:
    """One check of a learner's text, begun as this is made.

    source   the text
    at       what it is at, in words
    printed  what the learner's code has printed, once the check is done
    """

    def __init__(
        self, ladder: Ladder, key: str, source: str, seed: int, runner: Callable[[], AbstractContextManager[Halting]]
    ) -> None:
        self.key = key
        self.source = source
        self.at = "your file"
        self.printed = ""
        self._runner: Halting | None = None
        self._halted = False
        self._report: Future[Report] = Future()
        threading.Thread(target=self._run, args=(ladder, source, seed, runner), daemon=True).start()

    @property
    def done(self) -> bool:
        return self._report.done()

    @property
    def report(self) -> Report:
        """What was found, as soon as it is done. Raises what went wrong with the check itself."""
        return self._report.result()

    def wait(self, seconds: float) -> None:
        """Until it is done, but not longer."""
        wait_for([self._report], seconds)

    def stop(self) -> None:
        """End it: the report says so."""
        self._halted = True
        if self._runner:
            self._runner.stop()

    def _run(
        self, ladder: Ladder, source: str, seed: int, runner: Callable[[], AbstractContextManager[Halting]]
    ) -> None:
        try:
            with runner() as self._runner:
                if self._halted:  # before there was anything to stop
                    raise Stopped(YOU_STOPPED)
                report = check(ladder, self.key, source, self._runner, seed, self._begins)
                self.printed = self._runner.output
            self._report.set_result(report)
        except Stopped as stopped:  # before the check began
            self._report.set_result(Report({self.key: False}, stopped=str(stopped)))
        except Exception as error:  # not the learner's: who asks for the report gets it
            self._report.set_exception(error)

    def _begins(self, task: Task, one: Check) -> None:
        self.at = f"{task.title}: {one.name}"
