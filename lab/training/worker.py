"""Train the run on a page in a separate process, so that it is fast and other visitors of the page need not wait.

`Worker` is the page's side of it. Whenever the page asks, the process answers at the end of its batch with the results
since the last answer, and the page's `LiveRun` moves on to that state; between two requests the run does not change.
"""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import IO, Any

from lab.config import start_process
from lab.training.config import Config
from lab.training.fair_queue import FairQueue
from lab.training.live import BatchResults, LiveRun, Position
from lab.training.memory import keep_freed_memory
from lab.training.run_folder import State
from train import Trainer

PIPE_ERRORS = (OSError, EOFError, pickle.UnpicklingError)  # raised by reading or writing when the other side is gone
PATIENCE = 2.5  # seconds without a request after which the process ends
# The pages of all visitors have priority. Next to its own browser on two processors, a run has 0.66 to 0.80 of the
# command line's speed at 10 and 0.81 to 0.91 at 4, where the slowest moves of another's slider take a fifth longer.
NICENESS = int(os.environ.get("TENSOR_LAB_NICENESS", "4"))
HEAD_START = 2  # answers at full priority, so that the picture moves as soon as the visitor presses Start
# Batches per second; where to stop, or None; settings and state to restart from, or None
Message = tuple[float, Position | None, tuple[Config, State] | None]
MAX_PROCESSES = max(8, 4 * (os.cpu_count() or 1))  # that train at once, for all visitors
_places = FairQueue(MAX_PROCESSES)
_spare: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()  # started processes without a run


def start_spare_process() -> None:
    """Start a spare process for any visitor's next run: importing NumPy takes longer than training a batch."""
    if _spare.empty():
        _spare.put(_new_process())


def _new_process() -> subprocess.Popen[bytes]:
    process = start_process(__name__)
    # Without a wait() for its exit code, the dead process would stay in the system's table as a zombie.
    threading.Thread(target=process.wait, daemon=True).start()
    return process


class Worker:
    """The page's side of a training process: it trains from the first `watch()` to `pause()`, or until nobody watches.

    Streamlit may start a script run while an older one of the same visitor is still ending. Each script run therefore
    takes a turn as it begins, and `watch` does nothing for a turn that is over.
    """

    def __init__(
        self, run: LiveRun, patience: float = PATIENCE, visitor: Hashable = None, places: FairQueue = _places
    ) -> None:
        """Set up the training of a run for a visitor, whose trainings share places; None for a visitor of its own."""
        self.run = run
        self.rate = math.inf  # batches per second
        self.until: Position | None = None  # where the process stops; None for the end of the run
        self.training = False  # True once the process was told to train
        self.queue_position = 0  # how many trainings have to end before this one goes on; 0 while it may run
        self._patience = patience
        self._ticket = object()
        self._visitor = visitor or self._ticket
        self._places = places
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._turn = 0

    def take_turn(self) -> int:
        """Begin a turn, return its number for `watch`. Until `pause` or the next turn, nothing else changes the run."""
        with self._lock:
            self._turn += 1
            return self._turn

    def watch(self, turn: int) -> None:
        """Keep the process training and bring the run up to date. Call this more often than every `patience` seconds.

        While too many trainings run, it waits (see `queue_position`). If the process has ended, because nobody watched
        or because it was killed, a new one continues from the run's last state with the same numbers. Raises
        RuntimeError if that one ends before it answers, too.
        """
        with self._lock:
            if turn != self._turn or self.run.done:
                return
            self.queue_position = self._places.ask(self._ticket, self._visitor, self._patience)
            if self.queue_position:
                self._stop()
                return
            for _ in range(2):
                try:
                    process = self._process or self._begin()
                    self._ask(process, self.rate, None if self.training else self.run.trainer.state())
                except PIPE_ERRORS:
                    self._end()
                else:
                    self.training = not self.run.done
                    if self.run.done:
                        self._places.release(self._ticket)
                    return
        raise RuntimeError("The training process ended before it answered: see the log of the server.")

    def change(self, settings: Mapping[str, Any]) -> bool:
        """Change settings from the next epoch on (see `LiveRun.change`); return False if there is no next epoch."""
        with self._lock:
            self._stop()  # so that the next `watch` sends the changed settings with a state
            if in_time := self.run.next_epoch < self.run.config.epochs and not self.run.done:
                self.run.change(settings)
            return in_time

    def pause(self) -> None:
        """Stop the training after the present batch, and end the turn."""
        self.take_turn()
        with self._lock:
            self._stop()
            self._places.release(self._ticket)
            self.queue_position = 0

    def _begin(self) -> subprocess.Popen[bytes]:
        try:
            process = _spare.get_nowait()
        except queue.Empty:
            process = _new_process()
        self._process = process
        trainer = self.run.trainer
        _send(process.stdin, (trainer.config, trainer.dataset, self._patience))
        return process

    def _ask(self, process: subprocess.Popen[bytes], rate: float, state: State | None) -> None:
        """Tell the process to train at a rate, from a state if one is given, and take over its results so far."""
        _send(process.stdin, (rate, self.until, state and (self.run.config, state)))
        assert process.stdout is not None  # it is a pipe
        self.run.take_over(*pickle.load(process.stdout))

    def _stop(self) -> None:
        """Stop the training after the present batch, and take over its results; its process waits, and ends."""
        if self._process and self.training:
            try:
                self._ask(self._process, 0, None)
            except PIPE_ERRORS:  # it ended some time ago because nobody watched
                self._end()
        self.training = False

    def _end(self) -> None:
        process, self._process, self.training = self._process, None, False
        if process:
            process.kill()
            with contextlib.suppress(OSError), process:  # closes the pipes, one of which may hold a last message
                pass


def _send(pipe: IO[bytes] | None, message: Any) -> None:
    assert pipe is not None
    pickle.dump(message, pipe, pickle.HIGHEST_PROTOCOL)
    pipe.flush()


# ---------------------------------------------------------------- in the process


def main() -> None:
    """Train as the messages on standard input say, until none has come for a while or the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the server; when it ends, the input ends
    keep_freed_memory()
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    try:
        config, dataset, patience = pickle.load(sys.stdin.buffer)
    except PIPE_ERRORS:  # the server ended before there was a run
        return
    messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(messages,), daemon=True).start()
    trainer, results = Trainer(config, dataset), BatchResults()
    steps = trainer.steps()
    rate, until, due = 0.0, None, time.monotonic()  # batches per second, where to stop, when the next batch is due
    asked, answered = due, 0  # the time of the last message, and the number of answers
    while True:
        now = time.monotonic()
        if now - asked > patience:
            return
        idle = rate == 0 or trainer.done or (until is not None and (trainer.epoch, trainer.batch) >= until)
        wait = patience if idle else due - now
        if wait > 0 or not messages.empty():
            try:
                message = messages.get(timeout=max(wait, 0))
            except queue.Empty:
                continue
            if message is None:
                return
            asked = time.monotonic()
            rate, until, state = message
            if state is not None:
                config, reached = state
                trainer.reconfigure(config)
                trainer.load_state(reached)
                steps = trainer.steps()
                due = asked
            elif rate:
                due = min(due, asked + 1 / rate)
            _send(answers, (results, trainer.state()))
            results, answered = BatchResults(), answered + 1
            if answered == HEAD_START:
                _lower_priority()
        else:
            results.add(trainer, *next(steps))
            due = max(due + 1 / rate, now - 0.1)  # after a long delay, do not rush to catch up


def _lower_priority() -> None:
    """Give this process less processor time than the server."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with contextlib.suppress(OSError):  # Linux divides time among sessions first, and by niceness only within one
        Path("/proc/self/autogroup").write_text(str(NICENESS))


def _listen(messages: queue.SimpleQueue[Message | None]) -> None:
    """Put every message from the page into the queue, and None when the input ends."""
    try:
        while True:
            messages.put(pickle.load(sys.stdin.buffer))
    except PIPE_ERRORS:
        messages.put(None)


if __name__ == "__main__":
    main()
    os._exit(0)  # a normal exit would wait for the reading thread
