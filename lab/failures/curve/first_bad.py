"""Where a run of this trainer ceased to be a number: the batch, the sample and the operation.

Training is deterministic. So the run is trained once more, up to the batch whose loss is inf or nan, with the weights
from before each step at hand; of that batch one sample is recorded on its way, in the numbers that the training used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.trace.nonfinite import explain
from lab.trace.recording import Trace, record
from lab.training.config import Config
from lab.training.datasets import Dataset
from lab.training.one_sample import MAX_WEIGHTS, loss_of_sample
from lab.training.trainer import Trainer

MOST_STEPS = 20_000  # that are trained once more, before it is given up


@dataclass(frozen=True)
class FirstBad:
    """epoch, batch: from 1; samples: how many the batch has; loss: its loss, inf or nan; sample: the first whose own
    loss is no number, from 1 in the training set; alone: is there one, or do only all losses together overflow?
    trace: its way through the network, or None where that is too large to draw; sentences: of the operation; event: how
    many events had happened when it had; largest: the largest weight there."""

    epoch: int
    batch: int
    samples: int
    loss: float
    sample: int
    alone: bool
    trace: Trace | None
    sentences: tuple[str, ...]
    event: int
    largest: float


@dataclass(frozen=True)
class NoneBad:
    """The loss of each of so many batches is a number. whole: these were all; else nobody looked any further."""

    steps: int
    whole: bool


def first_bad(config: Config, dataset: Dataset | None = None) -> FirstBad | NoneBad:
    """Trained for MOST_STEPS at most. Raises DataError, ConfigError."""
    trainer = Trainer(config, dataset)
    for steps in range(MOST_STEPS):
        if trainer.done:
            return NoneBad(steps, True)
        rows = trainer.next_rows
        loss = trainer.step()  # the weights stay as they are where it is no number
        if trainer.diverged:
            return _looked_into(trainer, rows, loss)
        if trainer.epoch_complete:
            trainer.finish_epoch()
    return NoneBad(MOST_STEPS, trainer.done)


def _looked_into(trainer: Trainer, rows: np.ndarray, loss: float) -> FirstBad:
    with np.errstate(all="ignore"):
        alone = np.array([trainer.loss(rows[at : at + 1]).item() for at in range(len(rows))])
    bad = np.flatnonzero(~np.isfinite(alone))
    sample = int(rows[bad[0] if bad.size else int(np.argmax(alone))])
    trace: Trace | None = None
    sentences: tuple[str, ...] = ()
    event = 0
    weights = trainer.weights()
    if bad.size and len(weights) <= MAX_WEIGHTS:
        data = trainer.dataset
        build, leaves = loss_of_sample(trainer.model, data.train_x[sample], data.train_y[sample].item(), np.float32)
        trace = record(build, leaves)
        sentences = tuple(explain(trace))
        event = _arose(trace)
    largest = float(np.abs(weights).max())
    return FirstBad(
        trainer.epoch + 1, trainer.batch, len(rows), loss, sample + 1, bool(bad.size), trace, sentences, event, largest
    )


def _arose(trace: Trace) -> int:
    """How many events have happened when the first value is inf or nan."""
    for at, event in enumerate(trace.events):
        if event["kind"] == "forward" and not np.all(np.isfinite(np.asarray(trace.nodes[event["node"]]["value"]))):
            return at + 1
    return len(trace.events)
