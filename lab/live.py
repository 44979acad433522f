"""A training run that somebody watches: it advances in small pieces, remembers what it measured, and can go back.

`LiveRun` adds to `train.Trainer` what the command line writes to files: the records of all epochs, the loss of every
batch, and states to return to. Training is deterministic, so going back and on again repeats the same numbers exactly.
"""

from __future__ import annotations

import time

import numpy as np

from lab.datasets import Dataset
from lab.runs import Record, State
from train import Config, Trainer

STATE_BYTES = 8_000_000  # of all kept states of a run together: a server holds one run for each visitor


class LiveRun:
    """One run: `trainer`, the `records` of its epochs, and `batch_losses`, one for each batch of training so far."""

    def __init__(self, config: Config, dataset: Dataset | None = None, state_bytes: int = STATE_BYTES) -> None:
        """Raises DataError when the data of the config cannot be used."""
        self.trainer = Trainer(config, dataset)
        self.records: list[Record] = []
        self.batch_losses: list[float] = []
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
    def progress(self) -> float:
        """The share of all batches that is done, 0 to 1; a run that diverged is done."""
        return 1.0 if self.done else len(self.batch_losses) / (self.config.epochs * self.trainer.steps_per_epoch)

    def step(self) -> None:
        """Train on one batch. The one that completes an epoch also measures it."""
        self.batch_losses.append(self.trainer.step())
        if self.trainer.epoch_complete:
            self.records.append(self.trainer.finish_epoch())
            self._keep_state()

    def advance(self, seconds: float, batches: float = float("inf")) -> None:
        """Train until the time or the batches are used up, or the run is done; on one batch at least."""
        deadline = time.perf_counter() + seconds
        while not self.done and batches > 0:
            self.step()
            batches -= 1
            if time.perf_counter() >= deadline:
                break

    def kept_epoch(self, epoch: int) -> int:
        """The last epoch up to `epoch` whose state is kept; epoch 0 is the initial one and is always kept."""
        return max(kept for kept in self._states if kept <= epoch)

    def weights_at(self, epoch: int) -> np.ndarray:
        """All weights as one flat array, as they were after an epoch that `kept_epoch` returned."""
        return self._states[epoch]["weights"]

    def rewind(self, epoch: int) -> None:
        """Go back to the end of an epoch that `kept_epoch` returned, 0 for the start, and forget what followed."""
        self.trainer.load_state(self._states[epoch])
        del self.records[epoch:]
        del self.batch_losses[epoch * self.trainer.steps_per_epoch :]
        self._states = {kept: state for kept, state in self._states.items() if kept <= epoch}

    def _keep_state(self) -> None:
        """Keep the state after this epoch. When all are too much, keep every 2nd epoch, then every 4th, and so on."""
        latest, state = self.trainer.epoch, self.trainer.state()
        self._states[latest] = state
        size = sum(array.nbytes for array in state.values())
        while self._every <= latest and (2 + latest // self._every) * size > self._state_bytes:
            self._every *= 2
        self._states = {e: kept for e, kept in self._states.items() if e % self._every == 0 or e == latest}
