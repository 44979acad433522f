"""Work with a learner's code in a background thread, which a page can wait for and stop."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import AbstractContextManager
from typing import Generic, Protocol, TypeVar

from lab.practice.runner import StoppedError

YOU_STOPPED = "You stopped it."


class Stoppable(Protocol):
    """A process that another thread can stop."""

    def stop(self) -> None: ...


Result = TypeVar("Result")
One = TypeVar("One", bound=Stoppable)


class Background(Generic[Result]):
    """A thread that runs `work` from its creation on. A subclass first sets the attributes that `work` reads."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self._runner: Stoppable | None = None
        self._halted = False
        self._result: Future[Result] = Future()
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    @property
    def done(self) -> bool:
        return self._result.done()

    def result(self) -> Result:
        """Wait for the work and return its result. Raises the exception that the work raised."""
        return self._result.result()

    def wait(self, seconds: float) -> None:
        """Wait until the work is done, at most this many seconds."""
        wait_for([self._result], seconds)

    def stop(self) -> None:
        """End the work: its next use of the process raises StoppedError."""
        self._halted = True
        if self._runner:
            self._runner.stop()

    @contextlib.contextmanager
    def process(self, runner: AbstractContextManager[One]) -> Iterator[One]:
        """Provide a process that `stop` can end. Raises StoppedError if the work was stopped before it began."""
        with runner as one:
            self._runner = one
            if self._halted:  # `stop` came before there was a process
                raise StoppedError(YOU_STOPPED)
            yield one

    def _run(self, work: Callable[[], Result]) -> None:
        try:
            self._result.set_result(work())
        except Exception as error:  # a fault of the lab, not of the learner: `result` raises it
            self._result.set_exception(error)
