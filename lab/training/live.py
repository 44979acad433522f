"""A training run on the page: it can be stepped batch by batch, and rewound to an earlier epoch.

`LiveRun` adds a history to `Trainer`: the records of all epochs, the loss of every batch, and saved states to return
to. Training is deterministic, so rewinding and training on repeats the same numbers exactly.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lab.training import points
from lab.training.base_trainer import put_weights
from lab.training.config import Config
from lab.training.datasets import Dataset, from_table
from lab.training.records import Record
from lab.training.run_folder import State
from lab.training.samples import TableSettings
from nn import MLP
from train import Trainer

# A visitor's own data: {"points": text}, or {"table": text, "name": its name, "columns": their names} and TableSettings
Own = dict[str, Any]
TABLE_KEYS = {"table", "name", "columns", *TableSettings._fields}
Position = tuple[int, int]  # complete epochs, and batches of the next one
STATE_BYTES = 8_000_000  # limit of the saved states of one run: a server holds a run for each visitor


def checked_own(value: Any) -> Own:
    """Return data that a visitor's browser has kept, if they have the form of an Own. Raises ValueError otherwise."""
    lists = ("columns", "drop", "keep")
    if not isinstance(value, dict) or value.keys() not in ({"points"}, TABLE_KEYS, set()):
        raise ValueError("These are no data of a visitor.")
    for name, part in value.items():
        texts = part if name in lists and isinstance(part, list) else [part]
        if not all(isinstance(text, str) or (text is None and name in ("target", "task")) for text in texts):
            raise ValueError(f"The data of a visitor have no {name} of this kind.")
    points.from_text(value.get("points", ""))
    return value


def own_dataset(own: Own, val_fraction: float, seed: int) -> Dataset | None:
    """Make the dataset of a visitor's own data; None for a run on public data. Raises DataError."""
    if "points" in own:
        return points.dataset(points.from_text(own["points"]), val_fraction, seed)
    if "table" in own:
        chosen = {name: own[name] for name in TableSettings._fields}
        return from_table(own["table"], own["name"], val_fraction, seed, **chosen)
    return None


@dataclass
class BatchResults:
    """The results of some batches: the loss of each, and the record and state of each epoch that ended with them."""

    losses: array[float] = field(default_factory=lambda: array("d"))
    records: list[Record] = field(default_factory=list)
    states: list[State] = field(default_factory=list)

    def add(self, trainer: Trainer, loss: float, record: Record | None) -> None:
        """Add what `Trainer.steps` has yielded after a batch."""
        self.losses.append(loss)
        if record is not None:
            self.records.append(record)
            self.states.append(trainer.state())


class LiveRun:
    """A run: its `trainer` and its `history`, one record for each epoch. Epoch 0 is the untrained network."""

    def __init__(
        self, config: Config, dataset: Dataset | None = None, state_bytes: int = STATE_BYTES, own: Own | None = None
    ) -> None:
        """Set up the run, untrained; own: the source of a visitor's own dataset. Raises DataError for unusable data."""
        self.own = own or {}
        self.trainer = Trainer(config, dataset)
        self.history: list[Record] = [self.trainer.start]
        self._losses = array("d")  # one for each batch
        self._state_bytes = state_bytes
        self._states = {0: self.trainer.state()}
        self._every = 1  # epochs between two saved states

    @property
    def config(self) -> Config:
        return self.trainer.config

    @property
    def done(self) -> bool:
        return self.trainer.done

    @property
    def batches(self) -> int:
        """Number of batches trained so far."""
        return len(self._losses)

    @property
    def reached(self) -> float:
        """Number of epochs trained so far, with fractions."""
        return self.trainer.epoch + self.trainer.batch / self.trainer.steps_per_epoch

    @property
    def position(self) -> Position:
        """How far the run has been trained."""
        return self.trainer.epoch, self.trainer.batch

    @property
    def records(self) -> list[Record]:
        """The records from epoch 1 on, as the command line writes them."""
        return self.history[1:]

    def losses(self) -> np.ndarray:
        """Return the loss of every batch so far, (batches,), as a copy."""
        return np.array(self._losses)

    def loss_epochs(self) -> np.ndarray:
        """Return the epoch, with fractions, that each batch so far reached, (batches,)."""
        steps = [self.trainer.steps_in(epoch) for epoch in range(self.trainer.epoch + 1)]
        return np.concatenate([epoch + np.arange(1, n + 1) / n for epoch, n in enumerate(steps)])[: self.batches]

    def change(self, settings: Mapping[str, Any]) -> None:
        """Change settings, of CHANGEABLE, from the next epoch on. Raises ConfigError, also before the first batch."""
        after, config = self.next_epoch, self.config
        kept = tuple(change for change in config.changes if change[0] < after or change[1] not in settings)
        made = tuple((after, name, value) for name, value in settings.items())
        self.trainer.reconfigure(replace(config, changes=kept + made))

    @property
    def next_epoch(self) -> int:
        """Number of epochs after which a change made now takes effect."""
        return self.trainer.epoch + (self.trainer.batch > 0)

    def advance(self, batches: int | None = 1) -> None:
        """Train on this many batches, or until the run is done: always with None."""
        results = BatchResults()
        for loss, record in itertools.islice(self.trainer.steps(), batches):
            results.add(self.trainer, loss, record)
        self._add(results)

    def take_over(self, results: BatchResults, state: State) -> None:
        """Move on to a state that another process has trained this run to; results: the results on the way there."""
        self.trainer.load_state(state)
        self._add(results)

    def _add(self, results: BatchResults) -> None:
        self._losses.extend(results.losses)
        for record, state in zip(results.records, results.states, strict=True):
            self.history.append(record)
            self._keep(record["epoch"], state)

    def kept_epoch(self, epoch: int) -> int:
        """Return the last epoch up to `epoch` whose state is saved; the state of epoch 0 always is."""
        return max(kept for kept in self._states if kept <= epoch)

    def network(self, epoch: int | None = None) -> MLP:
        """Return a copy of the network as it is now, or as it was after an epoch that `kept_epoch` returned."""
        copy = self.trainer.new_network("zeros")
        put_weights(copy, self.trainer.weights() if epoch is None else self._states[epoch]["weights"])
        return copy

    def rewind(self, epoch: int) -> None:
        """Go back to the end of an epoch that `kept_epoch` returned; discard later epochs and changes of settings."""
        kept = tuple(change for change in self.config.changes if change[0] <= epoch)
        self.trainer.config = replace(self.config, changes=kept)
        self.trainer.load_state(self._states[epoch])
        self.history = self.history[: epoch + 1]
        del self._losses[sum(map(self.trainer.steps_in, range(epoch))) :]
        self._states = {kept: state for kept, state in self._states.items() if kept <= epoch}

    def _keep(self, latest: int, state: State) -> None:
        """Save the state after an epoch. Where the states take too many bytes, keep every 2nd, then every 4th ..."""
        self._states[latest] = state
        size = sum(array.nbytes for array in state.values())
        while self._every <= latest and (2 + latest // self._every) * size > self._state_bytes:
            self._every *= 2
        self._states = {e: kept for e, kept in self._states.items() if e % self._every == 0 or e == latest}
