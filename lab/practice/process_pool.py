"""Provides processes for learners' code: one is always ready, and each visitor has one before anybody's second."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from lab.practice import isolation
from lab.practice.runner import StoppedError
from lab.practice.sandbox import CHECK, START_TIMEOUT, Limits, Process, Sandbox
from lab.training.fair_queue import FairQueue

MAX_CHECKS, MAX_TRAININGS = 8, 4  # processes that run learners' code; separate, so that no check waits for a training
MAX_PROGRAMS = 4  # processes that record the passes of programs
BUSY = "Too many people are checking at the moment: check again in a few seconds."
BUSY_TRAINING = "Too many people are training at the moment: train again in a minute."


def runner(limits: Limits = CHECK) -> Sandbox:
    """Return a runner whose process starts at the first `load` and ends with the thread that called it."""
    return Sandbox(lambda: Process(_use_bubblewrap()), limits)


def _use_bubblewrap() -> bool:
    """Return whether to use bubblewrap. Raises StoppedError if code may not run here at all."""
    if reason := isolation.unavailable():
        raise StoppedError(reason)
    return isolation.bubblewrap_works()


class Pool:
    """Runners for a server, with the process of the next one always ready. A server keeps one pool for its lifetime.

    boxed    whether to use bubblewrap; by default, if it works
    watches  what the programs import that its processes record: driver.ENGINE or driver.TORCH; "" if they record none.
             They take long to start, so the next one starts when a program has ended
    """

    def __init__(self, boxed: bool | None = None, watches: str = "") -> None:
        self._boxed, self._watches = boxed, watches
        self._checks, self._trainings = FairQueue(MAX_PROGRAMS if watches else MAX_CHECKS), FairQueue(MAX_TRAININGS)
        self._lock = threading.Lock()
        # Linux ends these processes with the thread that started them: so one lasting thread starts them all.
        self._starter = ThreadPoolExecutor(1, "practice")
        self._spare: Future[Process] | None = self._starter.submit(self._start)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the spare process, and those in use."""
        self._starter.shutdown()
        if self._spare and not self._spare.exception():
            self._spare.result().close()

    @contextlib.contextmanager
    def runner(self, limits: Limits = CHECK, visitor: Hashable = None) -> Iterator[Sandbox]:
        """Provide a runner when it is this visitor's turn, or anybody's without a visitor; anything longer than a check
        counts as a training."""
        long = limits.wall > CHECK.wall
        queue, start = self._trainings if long else self._checks, self._take_spare
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(queue.place(visitor or object(), START_TIMEOUT))
            except TimeoutError:
                start = functools.partial(_busy, BUSY_TRAINING if long else BUSY)
            with Sandbox(start, limits) as sandbox:
                yield sandbox
            self._prepare_spare()

    def _start(self) -> Process:
        return Process(_use_bubblewrap() if self._boxed is None else self._boxed, self._watches)

    def _prepare_spare(self) -> None:
        with self._lock:
            self._spare = self._spare or self._starter.submit(self._start)

    def _take_spare(self) -> Process:
        with self._lock:
            spare, self._spare = self._spare or self._starter.submit(self._start), None
        if not self._watches:
            self._prepare_spare()
        process = spare.result()
        if process.popen.poll() is None:
            return process
        process.close()  # it has been killed in the meantime
        return self._starter.submit(self._start).result()


def _busy(sentence: str) -> Process:
    raise StoppedError(sentence)
