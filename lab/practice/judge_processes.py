"""Judges learners' code in processes of their own, so that no check delays the pages of a server.

`Judges` is the server's side, and `Checking` one check, in the background. The process itself is
`python -m lab.practice.judge_processes`: it checks one text at a time, and starts the process of the learner's code.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from lab.config import start_process
from lab.practice.background import YOU_STOPPED, Background
from lab.practice.checker import Begins, CheckReport, check
from lab.practice.mistakes import FailedCheck
from lab.practice.process_pool import Pool
from lab.practice.runner import StoppedError
from lab.practice.sandbox import CHECK, REPEATED, Limits, Sandbox
from lab.training.fair_queue import FairQueue
from practice import COURSES
from practice.debug import PROGRAMS
from practice.task import Check, Course, Task

MAX_PLACES = max(2, os.cpu_count() or 1)  # checks at the same time: with more, each would only take longer
PATIENCE = 120.0  # seconds that a check waits for its turn
MAX_SECONDS = 180.0  # of a whole check: far more than the limits of the learner's code and the search for a mistake
NICENESS = int(os.environ.get("TENSOR_LAB_NICENESS", "8"))  # pages have priority
PIPE_ERRORS = (OSError, EOFError, ValueError, pickle.UnpicklingError)  # raised when the other side is gone

BUSY = "Too many people are checking at the moment: check again in a minute."
LOST = "The check was interrupted: check again."


def judge(
    course: Course,
    key: str,
    source: str,
    seed: int,
    runner: Callable[[Limits], AbstractContextManager[Sandbox]],
    begins: Begins = lambda task, one: None,
) -> tuple[CheckReport, str]:
    """Check a text as `check` does, and return the report and what the text printed.

    On a crowded machine the same code takes more processor time. So what takes too long there gets a second attempt.
    """
    for limits in (CHECK, REPEATED):
        with runner(limits) as one:
            report = check(course, key, source, one, seed, begins)
            if not one.crowded:
                break
    return report, one.output


class JudgeProcess:
    """The server's side of one process. `output` is what the code printed, after a check."""

    def __init__(self) -> None:
        self._process = start_process(__name__)
        self.output = ""
        self._stopped = False

    @property
    def ended(self) -> bool:
        return self._stopped or self._process.poll() is not None

    def stop(self) -> None:
        """End the process and the learner's. Any thread may call this; the one that checks gets StoppedError."""
        self._stopped = True
        self._process.kill()

    def close(self) -> None:
        self._process.kill()
        with contextlib.suppress(OSError), self._process:  # closes the pipes and waits
            pass

    def check(
        self, course: Course, key: str, source: str, seed: int, begins: Begins = lambda task, one: None
    ) -> CheckReport:
        """Check a text as `check` does. Raises StoppedError if the process ends, and RuntimeError for a fault in it."""
        tasks = {task.key: task for task in course.tasks}
        guard = threading.Timer(MAX_SECONDS, self._process.kill)
        guard.daemon = True
        guard.start()
        try:
            assert self._process.stdin
            assert self._process.stdout
            pickle.dump((course.key, key, source, seed), self._process.stdin)
            self._process.stdin.flush()
            while isinstance(message := pickle.load(self._process.stdout), tuple) and len(message) == 2:
                task = tasks[message[0]]
                begins(task, task.checks[message[1]])
        except PIPE_ERRORS:
            raise StoppedError(YOU_STOPPED if self._stopped else LOST) from None
        finally:
            guard.cancel()
        if isinstance(message, str):
            raise RuntimeError(message)
        report: CheckReport
        report, failure, self.output = message
        if not failure:
            return report
        one = tasks[failure["task"]].checks[failure["check"]]
        return replace(report, failure=FailedCheck(**failure | {"check": one}))


class Judges:
    """The judges of a server, each of which is started when it is first needed and then kept."""

    def __init__(self, places: int = MAX_PLACES) -> None:
        self._places = FairQueue(places)
        self._idle: queue.SimpleQueue[JudgeProcess] = queue.SimpleQueue()

    @property
    def waiting(self) -> int:
        """The number of checks that wait for their turn."""
        return self._places.waiting

    def start(self) -> None:
        """Start a process now, if none is ready, so that the first check need not wait for it."""
        if self._idle.empty():
            self._idle.put(JudgeProcess())

    @contextlib.contextmanager
    def judge(self, visitor: Hashable) -> Iterator[JudgeProcess]:
        """Provide a judge when it is this visitor's turn. Raises StoppedError if that takes too long."""
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(self._places.place(visitor, PATIENCE))
            except TimeoutError:
                raise StoppedError(BUSY) from None
            one = self._take()
            try:
                yield one
            except BaseException:  # it may be in the middle of a check
                one.close()
                raise
            self._idle.put(one)

    def _take(self) -> JudgeProcess:
        with contextlib.suppress(queue.Empty):
            while (one := self._idle.get_nowait()).ended:
                one.close()
            return one
        return JudgeProcess()

    def close(self) -> None:
        """End the idle processes. Those in use end with the server."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()


class Checking(Background[CheckReport]):
    """One check of a learner's code, which starts when it is created.

    source   the code
    at       the present step, in words
    share    the share of the tasks that have passed so far
    printed  what the learner's code printed, once the check is done
    """

    def __init__(
        self,
        course: Course,
        key: str,
        source: str,
        seed: int,
        judge: Callable[[], AbstractContextManager[JudgeProcess]],
    ) -> None:
        self.key, self.source = key, source
        self.at, self.share = "your file", 0.0
        self.printed = ""
        super().__init__(lambda: self._check(course, seed, judge))

    @property
    def report(self) -> CheckReport:
        """The report, once the check is done. Raises an exception of the check itself."""
        return self.result()

    def _check(
        self, course: Course, seed: int, judge: Callable[[], AbstractContextManager[JudgeProcess]]
    ) -> CheckReport:
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


# -- The process -------------------------------------------------------------------------------------------------------


def main() -> None:
    """Answer the requests on standard input until it ends, also in the middle of a check."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with os.fdopen(os.dup(1), "wb") as answers, Pool() as pool:
        os.dup2(2, 1)  # what is printed here by accident is no answer
        threading.Thread(target=_read, args=(requests,), daemon=True).start()

        def say(message: Any) -> None:
            pickle.dump(message, answers)
            answers.flush()

        while True:
            _answer(pool, say, *requests.get())


def _read(requests: queue.SimpleQueue[Any]) -> None:
    with contextlib.suppress(*PIPE_ERRORS):
        while True:
            requests.put(pickle.load(sys.stdin.buffer))
    os._exit(0)


def _answer(pool: Pool, say: Callable[[Any], None], name: str, key: str, source: str, seed: int) -> None:
    """Say (task, number of the check) before each check, then (report, fields of its failure, printed text), or a
    traceback. A check itself holds functions, which cannot be sent: its number is sent."""
    course = {course.key: course for course in (*COURSES.values(), *PROGRAMS)}[name]
    try:
        report, printed = judge(
            course, key, source, seed, pool.runner, lambda task, one: say((task.key, task.checks.index(one)))
        )
        failure = None
        if failed := report.failure:
            failure = vars(failed) | {"check": course.up_to(failed.task)[-1].checks.index(failed.check)}
        say((replace(report, failure=None), failure, printed))
    except Exception:
        say(traceback.format_exc())


if __name__ == "__main__":
    main()
