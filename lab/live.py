"""A training run that somebody watches: it can be paced, paused after any batch, and taken back to an earlier epoch.

`LiveRun` adds to `train.Trainer` what the command line writes to files: the records of all epochs, the loss of every
batch, and states to return to. Training is deterministic, so going back and on again repeats the same numbers exactly.
`Worker` trains it in a thread, for as long as somebody watches.
"""

from __future__ import annotations

import math
import threading
import time
from array import array

import numpy as np

from lab.datasets import Dataset
from lab.runs import Record, State
from model import MLP
from train import Config, Trainer

STATE_BYTES = 8_000_000  # of all kept states of a run together: a server holds one run for each visitor
PATIENCE = 3.0  # seconds after which a worker that nobody watches stops
SLICE = 0.002  # seconds that a worker computes before it lets the other threads of the process have their turn
TURN = 0.0001  # seconds of that turn; asking the system for less would not give them one


class LiveRun:
    """One run: its `trainer`, and its `history`, one record for each epoch from 0, which is before the training.

    The record of epoch 0 lacks what belongs to gradients. The methods may be called from several threads.
    """

    def __init__(self, config: Config, dataset: Dataset | None = None, state_bytes: int = STATE_BYTES) -> None:
        """Raises DataError when the data of the config cannot be used."""
        self.trainer = Trainer(config, dataset)
        self.history: list[Record] = [{"epoch": 0} | self.trainer.measure()]
        self._losses = array("d")  # one for each batch
        self._lock = threading.Lock()
        self._state_bytes = state_bytes
        self._states: dict[int, State] = {}
        self._every = 1  # epochs between two kept states
        self._keep_state()

    @property
    def config(self) -> Config:
        return self.trainer.config

    @property
    def done(self) -> bool:
        return self.trainer.done

    @property
    def batches(self) -> int:
        """How many batches it has been trained on."""
        return len(self._losses)

    @property
    def progress(self) -> float:
        """The share of all batches that is done, 0 to 1; a run that diverged is done."""
        return 1.0 if self.done else self.batches / (self.config.epochs * self.trainer.steps_per_epoch)

    @property
    def records(self) -> list[Record]:
        """What the command line records: everything from epoch 1 on."""
        return self.history[1:]

    def measure(self) -> Record:
        """What an epoch measures, for the network as it is now."""
        with self._lock:
            return {"epoch": self.trainer.epoch} | self.trainer.measure()

    def losses(self) -> np.ndarray:
        """The loss of every batch so far, (batches,), as a copy."""
        with self._lock:
            return np.array(self._losses)

    def advance(self, batches: float = 1) -> None:
        """Train on so many batches, or until the run is done. The batch that completes an epoch also measures it."""
        with self._lock:
            while batches > 0 and not self.done:
                self._losses.append(self.trainer.step())
                if self.trainer.epoch_complete:
                    self.history.append(self.trainer.finish_epoch())
                    self._keep_state()
                batches -= 1

    def kept_epoch(self, epoch: int) -> int:
        """The last epoch up to `epoch` whose state is kept; epoch 0 is the initial one and is always kept."""
        with self._lock:
            return max(kept for kept in self._states if kept <= epoch)

    def network(self, epoch: int | None = None) -> MLP:
        """A copy of the network as it is now, or as it was after an epoch that `kept_epoch` returned."""
        trainer = self.trainer
        with self._lock:
            weights = trainer.weights() if epoch is None else self._states[epoch]["weights"]
        copy = MLP(trainer.sizes, self.config.activation, "zeros", dtype=np.float32)
        ends = np.cumsum([parameter.size for parameter in copy.parameters()])
        for parameter, values in zip(copy.parameters(), np.split(weights, ends[:-1]), strict=True):
            parameter.data = values.reshape(parameter.shape)
        return copy

    def rewind(self, epoch: int) -> None:
        """Go back to the end of an epoch that `kept_epoch` returned, 0 for the start, and forget what followed."""
        with self._lock:
            self.trainer.load_state(self._states[epoch])
            self.history = self.history[: epoch + 1]
            del self._losses[epoch * self.trainer.steps_per_epoch :]
            self._states = {kept: state for kept, state in self._states.items() if kept <= epoch}

    def _keep_state(self) -> None:
        """Keep the state after this epoch. When all are too much, keep every 2nd epoch, then every 4th, and so on."""
        latest, state = self.trainer.epoch, self.trainer.state()
        self._states[latest] = state
        size = sum(array.nbytes for array in state.values())
        while self._every <= latest and (2 + latest // self._every) * size > self._state_bytes:
            self._every *= 2
        self._states = {e: kept for e, kept in self._states.items() if e % self._every == 0 or e == latest}


class Worker:
    """Trains a run in a thread of its own, from `watch()` to `pause()`, or until nobody has watched for a while."""

    def __init__(self, run: LiveRun, patience: float = PATIENCE) -> None:
        self.run = run
        self.rate = math.inf  # batches per second
        self._patience = patience
        self._watched = 0.0
        self._pause = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def training(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def watch(self) -> None:
        """Somebody looks at the run: train, or go on training. To be called more often than `patience` seconds."""
        self._watched = time.monotonic()
        if not self.training and not self.run.done:
            self._pause.clear()
            self._thread = threading.Thread(target=self._train, name="training", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Return when the batch in work is done and no other will follow."""
        self._pause.set()
        if self._thread is not None:
            self._thread.join()

    def _train(self) -> None:
        due = turn = time.monotonic()
        while not self.run.done and not self._pause.is_set():
            self.run.advance()
            now = time.monotonic()
            if now - self._watched > self._patience:
                return
            if math.isfinite(self.rate):
                due = max(due + 1 / self.rate, now - 0.1)  # never hurry to make up for a long delay
                self._pause.wait(max(due - now, 0))
            elif now - turn > SLICE:
                time.sleep(TURN)
                turn = time.monotonic()
