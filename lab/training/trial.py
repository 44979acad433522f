"""Trials of remedies: the same network trained with the old and the new settings, from the same start.

`try_in_turn` tries the doctor's remedies one after the other until one helps.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from lab.training.config import Config
from lab.training.data_card import baseline
from lab.training.datasets import Dataset, load_dataset
from lab.training.doctor import Finding
from lab.training.live import LiveRun
from lab.training.records import Record
from lab.training.worker import Worker
from train import Trainer, train

SEEDS = 3  # pairs of runs
CURED, HELPS, WORSE = 0.5, 0.95, 1.05  # validation loss with the remedy, over that without it
# These change the validation samples, so losses cannot be compared
OTHER_SAMPLES = frozenset({"val_fraction", "samples", "data", "noise"})

Word = Literal["cured", "helps", "no better", "worse"]
HELPFUL = ("cured", "helps")


@dataclass(frozen=True)
class Trial:
    """The result of trying a remedy, in one word and with its numbers.

    finding: graded "shown" if the remedy helps. before, after: median final losses, inf for a loss that is not a
    number. seeds: one per pair of runs. epochs: of each run. part: the part of the data whose loss is compared.
    """

    finding: Finding
    word: Word
    before: float
    after: float
    seeds: tuple[int, ...]
    epochs: int
    part: Literal["validation", "training"] = "validation"

    @property
    def helps(self) -> bool:
        """Whether the remedy lowers the loss."""
        return self.word in HELPFUL

    def __str__(self) -> str:
        seeds = ", ".join(map(str, self.seeds))
        return (
            f"{self.word}: {self.part} loss {_text(self.before)} to {_text(self.after)} "
            f"(median of {len(self.seeds)} pairs of runs, seeds {seeds}, {self.epochs} epochs each)"
        )


def can_be_tried(finding: Finding) -> bool:
    """Return whether a finding has settings to try, with losses comparable to those of the run."""
    return bool(finding.settings) and not finding.well and not OTHER_SAMPLES & finding.settings.keys()


def try_remedy(finding: Finding, config: Config, dataset: Dataset | None = None) -> Trial:
    """Train with the settings of the run and with those of the remedy, for the same number of epochs.

    finding: one that can be tried. dataset: the samples of the run (default: those that the config names). Raises
    DataError, ConfigError.
    """
    data = dataset or load_dataset(config)
    runs = (pair(finding, config, seed) for seed in seeds(config))
    pairs = [tuple([*train(one, Trainer(one, data))][-1] for one in run) for run in runs]
    return judge(finding, config, data, pairs)


def seeds(config: Config) -> tuple[int, ...]:
    """Return a seed for each pair of runs, the run's own first."""
    return tuple(range(config.seed, config.seed + SEEDS))


def pair(finding: Finding, config: Config, seed: int) -> tuple[Config, Config]:
    """Return the final settings of a run without and with the remedy of a finding."""
    config = config.latest
    return replace(config, seed=seed), replace(config, **finding.settings, seed=seed)


def judge(finding: Finding, config: Config, data: Dataset, pairs: Sequence[Sequence[Record]]) -> Trial:
    """Compare pairs of runs by their last records, each pair without and with the remedy."""
    before, after = (median(map(_loss, records)) for records in zip(*pairs, strict=True))
    word = _word(before, after, baseline(data)["baseline_val_loss"])
    if word in HELPFUL:
        finding = replace(finding, grade="shown")
    part: Literal["validation", "training"] = "validation" if config.val_fraction else "training"
    return Trial(finding, word, before, after, seeds(config), config.epochs, part)


def candidates(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings whose remedies can be tried, in order, each remedy once."""
    found: list[Finding] = []
    for finding in findings:
        if can_be_tried(finding) and all(finding.settings != other.settings for other in found):
            found.append(finding)
    return found


def try_in_turn(findings: Sequence[Finding], config: Config, dataset: Dataset | None = None) -> Iterator[Trial]:
    """Yield the trials of the remedies of findings, one after the other, until one helps."""
    data = dataset or load_dataset(config)
    for finding in candidates(findings):
        trial = try_remedy(finding, config, data)
        yield trial
        if trial.helps:
            return


class TrialResult:
    """A trial that is watched as it runs: two processes for each pair of runs, one pair after the other.

    The processes end by themselves when `watch` is no longer called.
    """

    def __init__(self, finding: Finding, config: Config, dataset: Dataset, visitor: Hashable = None) -> None:
        """Start the first pair of runs, for a visitor. Raises ConfigError for settings that do not fit the data."""
        self.finding, self.config, self.dataset = finding, config, dataset
        self._visitor = visitor
        self._pairs: list[tuple[Worker, Worker]] = []
        self._begin_pair()

    def _begin_pair(self) -> None:
        """Start the next pair of runs."""
        seed = seeds(self.config)[len(self._pairs)]
        runs = (LiveRun(one, self.dataset, 0) for one in pair(self.finding, self.config, seed))
        old, new = (Worker(run, visitor=self._visitor) for run in runs)
        self._pairs.append((old, new))

    def watch(self) -> None:
        """Go on with the training. Raises RuntimeError if no process can be started."""
        if self.pair_done and not self.done:
            self._begin_pair()
        for worker in self._pairs[-1]:
            worker.watch(worker.take_turn())

    def stop(self) -> None:
        """Pause the current pair of runs."""
        for worker in self._pairs[-1]:
            worker.pause()

    @property
    def queue_position(self) -> int:
        """How many trainings have to end before both runs of the current pair go on."""
        return max(worker.queue_position for worker in self._pairs[-1])

    @property
    def pair_done(self) -> bool:
        """Whether both runs of the current pair have ended."""
        return all(worker.run.done for worker in self._pairs[-1])

    @property
    def done(self) -> bool:
        """Whether all pairs of runs have ended."""
        return self.pair_done and len(self._pairs) == SEEDS

    @property
    def pair(self) -> int:
        """Number of the current pair of runs, from 1."""
        return len(self._pairs)

    def result(self) -> Trial:
        """Return the trial, once all pairs have ended."""
        pairs = [(old.run.history[-1], new.run.history[-1]) for old, new in self._pairs]
        return judge(self.finding, self.config, self.dataset, pairs)


def _loss(record: Record) -> float:
    loss = record["val_loss"]
    return math.inf if loss is None or record["diverged"] else loss


def _word(before: float, after: float, baseline: float) -> Word:
    """Return the word for a change of the loss; a cured network must be below the baseline's loss."""
    if after >= before:
        return "worse" if after > WORSE * before else "no better"
    if after <= CURED * before and after < baseline:
        return "cured"
    return "helps" if after <= HELPS * before else "no better"


def _text(loss: float) -> str:
    return f"{loss:.3g}" if math.isfinite(loss) else "not a number"
