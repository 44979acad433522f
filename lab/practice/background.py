"""Work with a learner's code that goes on while a page is shown: it can be waited for, and stopped."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import AbstractContextManager
from typing import Generic, Protocol, TypeVar

from lab.practice.checker import Runner, Stopped

YOU_STOPPED = "You stopped it."


class Halting(Runner, Protocol):
    """A runner that can be stopped from outside, and that has what the code printed."""

    @property
    def output(self) -> str: ...

    def stop(self) -> None: ...


Result = TypeVar("Result")
One = TypeVar("One", bound=Halting)


class Background(Generic[Result]):
    """`work`, begun as this is made. A subclass sets first what its work needs."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self._runner: Halting | None = None
        self._halted = False
        self._result: Future[Result] = Future()
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    @property
    def done(self) -> bool:
        return self._result.done()

    def result(self) -> Result:
        """What the work gave, as soon as it is done. Raises what went wrong with the work itself."""
        return self._result.result()

    def wait(self, seconds: float) -> None:
        """Until it is done, but not longer."""
        wait_for([self._result], seconds)

    def stop(self) -> None:
        """End it: who works with the process gets Stopped."""
        self._halted = True
        if self._runner:
            self._runner.stop()

    @contextlib.contextmanager
    def process(self, runner: AbstractContextManager[One]) -> Iterator[One]:
        """A process for the work, which `stop` ends. Raises Stopped where it was stopped before."""
        with runner as one:
            self._runner = one
            if self._halted:  # before there was anything to stop
                raise Stopped(YOU_STOPPED)
            yield one

    def _run(self, work: Callable[[], Result]) -> None:
        try:
            self._result.set_result(work())
        except Exception as error:  # not the learner's: who asks for the result gets it
            self._result.set_exception(error)
