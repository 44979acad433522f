"""Find where a run of this trainer first computed inf or nan: the batch, the sample and the operation.

Training is deterministic, so the run is repeated up to the batch whose loss is inf or nan, with the weights from before
that step. One sample of that batch is then recorded, in the precision of the training.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.trace.nonfinite import remarks
from lab.trace.recording import Trace, record
from lab.training.config import Config
from lab.training.datasets import Dataset
from lab.training.predictions import MAX_DRAWN_WEIGHTS, loss_of_sample
from train import Trainer

MAX_STEPS = 20_000  # of the repeated training


@dataclass(frozen=True)
class FirstBad:
    """The first batch whose loss is inf or nan, and one of its samples."""

    epoch: int  # from 1
    batch: int  # from 1
    samples: int  # in the batch
    loss: float  # of the batch: inf or nan
    sample: int  # the first whose own loss is inf or nan (else that of the largest loss), from 1 in the training set
    alone: bool  # False if only the sum of all losses overflows
    trace: Trace | None  # the sample's pass through the network; None if not `alone`, or if it is too large to draw
    sentences: tuple[str, ...]  # about the operation
    event: int  # number of events up to and including that operation
    largest: float  # the largest weight, in absolute value


@dataclass(frozen=True)
class NoneBad:
    """No loss was inf or nan in so many steps. `whole` is False if the search stopped before the run's end."""

    steps: int
    whole: bool


def first_bad(config: Config, dataset: Dataset | None = None) -> FirstBad | NoneBad:
    """Train again for at most MAX_STEPS, up to the first loss that is inf or nan. Raises DataError, ConfigError."""
    trainer = Trainer(config, dataset)
    where = (1, 1, trainer.rows(0))  # of the batch that is next: its epoch, number and samples
    for steps, (loss, _) in enumerate(trainer.steps(), start=1):
        if trainer.diverged:  # a loss of inf or nan leaves the weights unchanged
            return _inspect(trainer, *where, loss)
        if steps == MAX_STEPS:
            break
        where = (trainer.epoch + 1, trainer.batch + 1, trainer.rows(trainer.batch))
    return NoneBad(steps, trainer.done)


def _inspect(trainer: Trainer, epoch: int, batch: int, rows: np.ndarray, loss: float) -> FirstBad:
    with np.errstate(all="ignore"):
        alone = np.array([trainer.loss(rows[at : at + 1]).item() for at in range(len(rows))])
    bad = np.flatnonzero(~np.isfinite(alone))
    sample = int(rows[bad[0] if bad.size else int(np.argmax(alone))])
    trace: Trace | None = None
    sentences: tuple[str, ...] = ()
    event = 0
    weights = trainer.weights()
    if bad.size and len(weights) <= MAX_DRAWN_WEIGHTS:
        data = trainer.dataset
        build, leaves = loss_of_sample(trainer.model, data.train_x[sample], data.train_y[sample].item(), np.float32)
        trace = record(build, leaves)
        sentences = tuple(remark.sentence for remark in remarks(trace))
        event = _first_nonfinite_event(trace)
    largest = float(np.abs(weights).max())
    return FirstBad(epoch, batch, len(rows), loss, sample + 1, bool(bad.size), trace, sentences, event, largest)


def _first_nonfinite_event(trace: Trace) -> int:
    """Return the number of events up to and including the first value that is inf or nan."""
    for at, event in enumerate(trace.events):
        if event["kind"] == "forward" and not np.all(np.isfinite(np.asarray(trace.nodes[event["node"]]["value"]))):
            return at + 1
    return len(trace.events)
