"""Trains a watched run in a process of its own, so that it is fast and no other visitor of the page waits for it.

`Worker` is the page's side of it. Whenever the page asks, the process answers with what it has trained since, as the
next batch ends, and the `LiveRun` of the page moves on to there: between two questions nothing of it changes.
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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from lab.training.config import Config
from lab.training.live import LiveRun, Stretch
from lab.training.run_folder import State
from lab.training.trainer import Trainer

ENDED = (OSError, EOFError, pickle.UnpicklingError)  # what reading or writing raises when the other side is gone
PATIENCE = 2.5  # seconds after which a process that nobody asks ends
# The pages of all visitors come first. At 19 a run had 0.70 of the command line's speed beside its own browser on two
# processors; at 10 it has 0.86, and others wait no longer for a slider.
NICENESS = int(os.environ.get("TENSOR_LAB_NICENESS", "10"))
HEAD_START = 2  # answers until then: with them the picture begins to move, for which a visitor has pressed Start
Message = tuple[float, tuple[Config, State] | None]  # batches per second; for a new beginning, from where
ROOT = Path(__file__).resolve().parents[2]
_waiting: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()  # processes without a run


def make_ready() -> None:
    """Let one process wait for the next run that begins, whoever's: to import NumPy takes longer than to train a batch.
    It ends with the server."""
    if _waiting.empty():
        _waiting.put(_new_process())


def _new_process() -> subprocess.Popen[bytes]:
    # One thread for BLAS: the networks of the page are small, and the other processors belong to other visitors.
    single = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    process = subprocess.Popen(
        [sys.executable, "-m", "lab.training.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | single,
        start_new_session=True,
    )
    # Somebody has to ask for its exit code, or what is left of it stays in the system's table of processes.
    threading.Thread(target=process.wait, daemon=True).start()
    return process


class Worker:
    """Trains a run from the first `watch()` to `pause()`, or until nobody has watched for a while.

    Streamlit may begin a run of the page while an older one of the same visitor is still on its way out. A page run
    therefore takes a turn as it begins, and `watch` does nothing for a turn that is over.
    """

    def __init__(self, run: LiveRun, patience: float = PATIENCE) -> None:
        self.run = run
        self.rate = math.inf  # batches per second
        self.training = False  # has the process been told to?
        self._patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._turn = 0

    def take_turn(self) -> int:
        """A number for `watch`. From now on, until `pause` or the next turn, nothing else changes the run."""
        with self._lock:
            self._turn += 1
            return self._turn

    def watch(self, turn: int) -> None:
        """Somebody looks at the run: train, and bring the run up to date. To be called more often than `patience`.

        A process that has ended meanwhile, because nobody watched or because it was killed, is begun anew from where
        the run was last: the same numbers come again. Raises RuntimeError when that one ends before it answers, too.
        """
        with self._lock:
            if turn != self._turn or self.run.done:
                return
            for _ in range(2):
                try:
                    process = self._process or self._begin()
                    self._ask(process, self.rate, None if self.training else self.run.trainer.state())
                except ENDED:
                    self._end()
                else:
                    self.training = not self.run.done
                    return
        raise RuntimeError("The training process ended before it answered: the log of the server says why.")

    def change(self, settings: Mapping[str, Any]) -> bool:
        """Let settings have other values from the next epoch on (see `LiveRun.change`), if there is a next one."""
        with self._lock:
            if self._process and self.training:
                try:
                    self._ask(self._process, 0, None)
                except ENDED:
                    self._end()
            self.training = False  # it goes on from a state, with which it learns of the change
            if in_time := self.run.next_epoch < self.run.config.epochs and not self.run.done:
                self.run.change(settings)
            return in_time

    def pause(self) -> None:
        """Return when the batch in work is done and no other will follow. It ends the turn."""
        self.take_turn()
        with self._lock:
            if self._process and self.training:
                try:
                    self._ask(self._process, 0, None)
                except ENDED:
                    self._end()
            self.training = False

    @contextlib.contextmanager
    def still(self) -> Iterator[LiveRun]:
        """The run, brought to where the process has trained it, for a moment in which no `watch` changes it."""
        with self._lock:
            if self._process and self.training:
                try:
                    self._ask(self._process, self.rate, None)
                except ENDED:  # some time ago, as nobody watched
                    self._end()
            yield self.run

    def _begin(self) -> subprocess.Popen[bytes]:
        try:
            process = _waiting.get_nowait()
        except queue.Empty:
            process = _new_process()
        self._process = process
        trainer = self.run.trainer
        _send(process.stdin, (trainer.config, trainer.first_dataset, self._patience))
        return process

    def _ask(self, process: subprocess.Popen[bytes], rate: float, state: State | None) -> None:
        """Tell the process to train at a rate, from a state if one is given, and take over what it has trained."""
        _send(process.stdin, (rate, state and (self.run.config, state)))
        assert process.stdout is not None  # it is a pipe
        self.run.take_over(*pickle.load(process.stdout))

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
    """Train as the messages on standard input say, until they stop coming."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the server; its end is the end of the input
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    try:
        config, dataset, patience = pickle.load(sys.stdin.buffer)
    except ENDED:  # the server has, before there was a run
        return
    messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(messages,), daemon=True).start()
    trainer, stretch = Trainer(config, dataset), Stretch()
    rate, due = 0.0, time.monotonic()  # batches per second, and when the next batch is due
    heard, answered = due, 0
    while True:
        now = time.monotonic()
        if now - heard > patience:
            return
        idle = rate == 0 or trainer.done
        wait = patience if idle else due - now
        if wait > 0 or not messages.empty():
            try:
                message = messages.get(timeout=max(wait, 0))
            except queue.Empty:
                continue
            if message is None:
                return
            heard = time.monotonic()
            rate, state = message
            if state is not None:
                config, reached = state
                trainer.reconfigure(config)
                trainer.load_state(reached)
                due = heard
            elif rate:
                due = min(due, heard + 1 / rate)
            _send(answers, (stretch, trainer.state()))
            stretch, answered = Stretch(), answered + 1
            if answered == HEAD_START:
                _give_way()
        else:
            stretch.add_batch(trainer)
            due = max(due + 1 / rate, now - 0.1)  # never hurry to make up for a long delay


def _give_way() -> None:
    """Let all others go first."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with contextlib.suppress(OSError):  # Linux shares out among sessions first; within one, as niceness says
        Path("/proc/self/autogroup").write_text(str(NICENESS))


def _listen(messages: queue.SimpleQueue[Message | None]) -> None:
    """Put every message of the page into the queue, and None when the page is gone."""
    try:
        while True:
            messages.put(pickle.load(sys.stdin.buffer))
    except ENDED:
        messages.put(None)


if __name__ == "__main__":
    main()
    os._exit(0)  # at once: an orderly exit would wait for the thread that reads
