"""A remedy as an experiment: the same network with the old and the new settings, from the same start, side by side.

A remedy is only believed where it helps: `try_in_turn` tries what the doctor names until one does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal

from lab.training.config import Config
from lab.training.data_card import baseline
from lab.training.datasets import Dataset, named
from lab.training.doctor import Finding
from lab.training.trainer import Trainer, train

SEEDS = 3  # pairs of runs
CURED, HELPS, WORSE = 0.5, 0.95, 1.05  # validation loss with the remedy, over that without it
OTHER_SAMPLES = frozenset({"val_fraction", "samples", "data", "noise"})  # their losses are of other validation samples

Word = Literal["cured", "helps", "no better", "worse"]


@dataclass(frozen=True)
class Trial:
    """What came of a remedy. word: the result; before, after: median validation losses at the end, inf for a loss that
    is no number; seeds: of the pairs of runs; epochs: of each."""

    finding: Finding
    word: Word
    before: float
    after: float
    seeds: tuple[int, ...]
    epochs: int

    @property
    def helps(self) -> bool:
        return self.word in ("cured", "helps")

    def __str__(self) -> str:
        seeds = ", ".join(map(str, self.seeds))
        return (
            f"{self.word}: validation loss {_text(self.before)} to {_text(self.after)} "
            f"(median of {len(self.seeds)} pairs of runs, seeds {seeds}, {self.epochs} epochs each)"
        )


def can_be_tried(finding: Finding) -> bool:
    """Does it name settings whose losses can be compared with those of the run?"""
    return bool(finding.settings) and not finding.well and not OTHER_SAMPLES & finding.settings.keys()


def try_remedy(finding: Finding, config: Config, dataset: Dataset | None = None) -> Trial:
    """Train with the settings of the run and with those of the remedy, for the same number of epochs.

    dataset: the samples of the run (default: those that the config names). The seeds are that of the run and the next
    ones; they choose the initial weights and the order of the samples. Raises ValueError for a finding that cannot be
    tried (see `can_be_tried`), DataError, ConfigError.
    """
    if not can_be_tried(finding):
        raise ValueError(f"{finding.name}: there are no settings to try.")
    data = dataset or named(config)
    seeds = tuple(range(config.seed, config.seed + SEEDS))
    before, after = (
        median(_last_loss(replace(config, **settings, seed=seed), data) for seed in seeds)
        for settings in ({}, finding.settings)
    )
    return Trial(finding, _word(before, after, baseline(data).val_loss), before, after, seeds, config.epochs)


def try_in_turn(findings: Sequence[Finding], config: Config, dataset: Dataset | None = None) -> Iterator[Trial]:
    """Try the remedies of the findings and of their consequences, one after the other, until one helps."""
    data = dataset or named(config)
    tried: list[Mapping[str, Any]] = []
    for finding in (one for cause in findings for one in (cause, *cause.consequences)):
        if can_be_tried(finding) and finding.settings not in tried:
            tried.append(finding.settings)
            trial = try_remedy(finding, config, data)
            if trial.helps:
                trial = replace(trial, finding=replace(finding, grade="shown"))
            yield trial
            if trial.helps:
                return


def _last_loss(config: Config, data: Dataset) -> float:
    *_, last = train(config, Trainer(config, data))
    loss = last["val_loss"]
    return math.inf if loss is None or last["diverged"] else loss


def _word(before: float, after: float, plain: float) -> Word:
    """plain: the validation loss of the answer that never looks at the inputs; a cured network is below."""
    if after >= before:
        return "worse" if after > WORSE * before else "no better"
    if after <= CURED * before and after < plain:
        return "cured"
    return "helps" if after <= HELPS * before else "no better"


def _text(loss: float) -> str:
    return f"{loss:.3g}" if math.isfinite(loss) else "not a number"
