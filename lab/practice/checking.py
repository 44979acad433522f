"""A check that goes on while a page is shown: it says what it is at, and can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import AbstractContextManager
from typing import Protocol

from lab.practice.checker import Answer, Job, Problem, Report, Runner, Stopped, check
from practice.task import Ladder

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
        self._names = {one.program: (task.title, one.name) for task in ladder.up_to(key) for one in task.checks}
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

    # -- as a runner, which passes on what the check asks

    def load(self, source: str, file: str, modules: Sequence[str] = ()) -> Problem | None:
        return self._open.load(source, file, modules)

    def run(self, jobs: Sequence[Job]) -> list[Answer]:
        if jobs and jobs[0].program in self._names:
            title, name = self._names[jobs[0].program]
            self.at = f"{title}: {name}"
        return self._open.run(jobs)

    @property
    def _open(self) -> Halting:
        if self._halted or not self._runner:
            raise Stopped(YOU_STOPPED)
        return self._runner

    def _run(
        self, ladder: Ladder, source: str, seed: int, runner: Callable[[], AbstractContextManager[Halting]]
    ) -> None:
        try:
            with runner() as self._runner:
                report = check(ladder, self.key, source, self, seed)
                self.printed = self._runner.output
            self._report.set_result(report)
        except Stopped as stopped:  # before the check began
            self._report.set_result(Report({self.key: False}, stopped=str(stopped)))
        except Exception as error:  # not the learner's: who asks for the report gets it
            self._report.set_exception(error)
