"""A run's records as columns, with figures derived from them: what the symptoms of a run read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from lab.text import percent_text, with_minus
from lab.training.config import DEFAULT_LR, Config
from lab.training.records import Record, column, is_regression, scores, total

WINDOW = 3  # epochs that are averaged to say how the run does now: a single one is too noisy
LEARNED = 0.9  # training score from which a network counts as trained
RECENT = 5  # epochs of which most have to swing, and whose median says how validation does now
STILL = 0.05  # a loss stands still if it changes by a smaller share from one window to the next
MOSTLY = 0.7  # share of the epochs in which a loss that mostly falls is lower than before
LEFT_BEHIND = 0.08  # share by which validation loss is above its best where it no longer keeps up
LEAST_FALL = 0.01  # share by which a median is lower where a loss falls
CREEP = 0.04  # a loss creeps down if it falls by this share in STILL_EPOCHS
STILL_EPOCHS = 10  # before these, a plateau may still end
SOME_GAIN, STUCK_GAIN = 0.1, 0.25  # share of the baseline's loss that is saved
PRAISED = 0.8  # validation loss of a healthy network, at most, over that of the baseline
HALF_THE_ERRORS = 0.5  # training errors of a trained network, at most, over those of the baseline
FAR_ABOVE = 10.0  # learning rate over the usual one: above it, no swing counts as harmless
FAR_BELOW = 0.1  # learning rate over the usual one: below it, the rate is suspected first
MIN_HELD_OUT = 30  # validation rows that a healthy verdict needs
MIN_MIXED = 5  # validation rows that the baseline gets wrong, for a healthy verdict
PENALTIES = {
    "weight_decay": ("weight decay", 0.2),
    "l1": ("L1 penalty", 0.03),
}  # name, and the value from which it is suspected


@dataclass(frozen=True)
class Evidence:
    """What shows a symptom: sentences with numbers, and the epoch in which it first shows."""

    sentences: tuple[str, ...]
    epoch: int


class History:
    """The records of a run as columns, one value per epoch, with figures derived from them.

    None in a record (inf or nan) becomes nan. A key that records lack becomes an empty column, and the symptoms that
    need it return None.
    """

    def __init__(self, records: Sequence[Record], config: Config) -> None:
        self.records = records
        self.config = config
        self.layers = config.layer_names
        self.epochs = [int(record["epoch"]) for record in records]
        self.origin = records[0].get("origin") if records else None
        self.loss = column(records, "train_loss")
        self.val_loss = column(records, "val_loss")
        self.regression = bool(records) and is_regression(records[0])
        self.train_score = scores(records, "train")
        self.val_score = scores(records, "val")
        self.gap = self.train_score - self.val_score
        self.norms = _table(records, "grad_norm")
        self.updates = _table(records, "update_ratio")
        self.dead = _table(records, "dead_units")
        self.clipped = np.array([record.get("clipped", 0.0) for record in records])

    def __len__(self) -> int:
        return len(self.epochs)

    def evidence(self, *sentences: str, at: int = -1) -> Evidence:
        """Return evidence that first shows in the epoch with index `at`, by default the last."""
        return Evidence(sentences, self.epochs[at])

    @cached_property
    def classes(self) -> int | None:
        """The number of classes, from the records or from the size of the last layer; None if neither tells."""
        if self.origin:
            return self.origin["classes"] or None
        histograms = self.records[0].get("weight_histogram")
        if not histograms or not self.config.hidden:
            return None
        classes, rest = divmod(total(histograms[self.layers[-1]]), self.config.hidden[-1])
        return classes if rest == 0 and classes > 1 else None

    @property
    def learned(self) -> bool:
        """Whether the training score is high and well above the baseline's."""
        score = self.train_score[-WINDOW:].mean()
        return bool(score >= LEARNED and 1 - score <= HALF_THE_ERRORS * (1 - self.baseline_score("train")))

    @property
    def start(self) -> float:
        """The training loss before the first step; nan if the records do not tell."""
        loss = self.origin["train_loss"] if self.origin else None
        return math.nan if loss is None else loss

    def baseline_score(self, part: Literal["train", "val"]) -> float:
        """Return the score of always answering with the commonest class or the mean; 0 if none is recorded."""
        if self.origin is None or self.regression:
            return 0.0
        known = self.origin["baseline_train_accuracy" if part == "train" else "baseline_val_accuracy"]
        return known or 0.0

    @property
    def baseline_val_loss(self) -> float:
        """The validation loss of the baseline."""
        return self.origin["baseline_val_loss"] if self.origin else self.baseline_loss

    @property
    def sampling_error(self) -> float:
        """The standard deviation of an accuracy near one half, measured on the validation rows; 0 if not recorded."""
        rows = self.origin["val_samples"] if self.origin else 0
        return 0.5 / math.sqrt(rows) if rows else 0.0

    @property
    def few_rows(self) -> bool:
        """Whether fewer validation rows are held out than a verdict needs."""
        return bool(self.origin and 0 < self.origin["val_samples"] < MIN_HELD_OUT)

    @property
    def baseline_errors(self) -> int | None:
        """How many validation rows the commonest class gets wrong; None if the records do not tell."""
        known = self.origin and self.origin["baseline_val_accuracy"] is not None and self.origin["val_samples"]
        return round(known * (1 - self.baseline_score("val"))) if known else None

    @property
    def proves_little(self) -> bool:
        """Whether too few validation rows, or too few of rare classes, are held out to call a run healthy."""
        wrong = self.baseline_errors
        return self.few_rows or (wrong is not None and wrong < MIN_MIXED)

    @property
    def gain(self) -> float:
        """The share of the baseline's loss that training has saved: 0 for none, 1 for a loss of 0."""
        if not math.isfinite(self.baseline_loss):
            return -math.inf
        if not self.baseline_loss:  # one training row: its mean is the answer
            return 1.0
        return float(1 - np.median(self.loss[-WINDOW:]) / self.baseline_loss)

    @property
    def at_baseline(self) -> bool:
        """Whether the loss is hardly below the baseline's, or not a number."""
        return not self.gain >= SOME_GAIN

    @property
    def stuck(self) -> bool:
        """Whether the rate is far above usual and the loss still near the baseline's.

        Signs of steps that are too large then count in any epoch, so that the verdict does not come and go.
        """
        return self.far_above_usual and not self.gain >= STUCK_GAIN

    @property
    def beats_baseline(self) -> bool:
        """Whether validation loss and score are well above the baseline's."""
        loss, score = self.val_loss[-WINDOW:].mean(), self.val_score[-WINDOW:].min()
        return bool(loss <= PRAISED * self.baseline_val_loss and score > self.baseline_score("val"))

    @property
    def only_falls(self) -> bool:
        """Whether the training loss has never risen, counted from before the first step."""
        known = np.r_[self.start, self.loss]
        return bool(len(self) > 0 and np.all(np.diff(known[np.isfinite(known)]) <= 0) and np.isfinite(self.loss).all())

    @property
    def penalty(self) -> str:
        """The stronger penalty on the weights, weight decay or L1: one of PENALTIES."""
        return max(PENALTIES, key=lambda name: getattr(self.config, name) / PENALTIES[name][1])

    @property
    def far_above_usual(self) -> bool:
        """Whether the learning rate is far above the usual one."""
        return self.config.lr > FAR_ABOVE * DEFAULT_LR[self.config.optimizer]

    @property
    def far_below_usual(self) -> bool:
        """Whether the learning rate, with momentum, is far below the usual one."""
        effective = self.config.lr / (1 - self.config.momentum)
        return effective <= FAR_BELOW * DEFAULT_LR[self.config.optimizer]

    @property
    def baseline_loss(self) -> float:
        """The training loss of the baseline: the class shares, or the mean in a regression.

        If the records lack the shares, all classes count as equally likely; inf if they lack the number of classes.
        """
        if self.origin:
            return self.origin["baseline_train_loss"]
        if self.regression:
            return 1.0
        return math.log(self.classes) if self.classes else math.inf

    @property
    def scored(self) -> str:
        """The name of the score: accuracy, or R² (the share of explained variance) in a regression."""
        return "R²" if self.regression else "accuracy"

    def shown(self, score: float, digits: int = 0) -> str:
        """Return a score as text, such as "97%" or, in a regression, "0.94"."""
        return with_minus(f"{score:.2f}") if self.regression else percent_text(score, digits)

    @property
    def checked_on(self) -> str:
        """The part of the data behind the validation figures: "training" if nothing is held out."""
        return "validation" if self.config.val_fraction else "training"

    @property
    def nonlinear_units(self) -> int:
        """Hidden units with a nonlinear activation; without any, the network can only draw straight lines."""
        return 0 if self.config.activation == "identity" else sum(self.config.hidden)

    @property
    def val_falls(self) -> bool:
        """Whether validation loss falls from one half of the last epochs to the next, and was lowest of late."""
        lowest = np.isfinite(self.val_loss).any() and int(np.nanargmin(self.val_loss))
        return falls(self.val_loss) and lowest >= len(self) - RECENT

    @property
    def keeps_up(self) -> bool:
        """Whether validation loss is near its best, as the median of some epochs."""
        medians = windows(self.val_loss)
        return not len(medians) or bool(medians[-1] <= (1 + LEFT_BEHIND) * np.nanmin(medians))

    @property
    def baseline_answer(self) -> str:
        """What the baseline always answers, in words."""
        return "the mean" if self.regression else "the commonest class"

    @property
    def falling(self) -> float:
        """The share by which the loss has fallen from one window to the next; nan before there are two.

        Windows grow with the run, so that a slow but steady fall adds up and the noise of single epochs does not.
        """
        width = max(WINDOW, len(self) // 4)
        before, now = self.loss[-2 * width : -width], self.loss[-width:]
        return float(1 - now.mean() / before.mean()) if len(before) == width and before.any() else math.nan


def windows(values: np.ndarray) -> np.ndarray:
    """Return the median of each WINDOW epochs in a row, in which a single outlier does not show."""
    if len(values) < WINDOW:
        return values[:0]
    medians: np.ndarray = np.median(np.lib.stride_tricks.sliding_window_view(values, WINDOW), axis=1)
    return medians


def before_and_now(loss: np.ndarray) -> tuple[float, float, int]:
    """Return the median loss of some epochs and of as many after them, the last ones, and how many these are.

    Both medians are nan before there are two epochs.
    """
    width = min(RECENT, len(loss) // 2)
    if not width:
        return math.nan, math.nan, 0
    return float(np.median(loss[-2 * width : -width])), float(np.median(loss[-width:])), width


def falls(loss: np.ndarray) -> bool:
    """Tell whether the median loss of the last epochs is lower than that of as many before."""
    before, now, _ = before_and_now(loss)
    return now < (1 - LEAST_FALL) * before


def mostly_falls(loss: np.ndarray) -> bool:
    """Tell whether the loss falls, however little, in most of the last epochs."""
    lower = np.diff(loss[-STILL_EPOCHS:]) < 0
    return bool(lower.sum() > MOSTLY * len(lower))


def creeps(loss: np.ndarray) -> bool:
    """Tell whether the loss falls slowly but evenly."""
    return mostly_falls(loss) and bool(loss[-1] < (1 - CREEP) * loss[-STILL_EPOCHS:][0])


def _table(records: Sequence[Record], key: Literal["grad_norm", "update_ratio", "dead_units"]) -> np.ndarray:
    """Return a layer figure as an array (epochs, layers), or (epochs, 0) if the records lack the key."""
    rows = [[np.nan if value is None else value for value in record.get(key, {}).values()] for record in records]
    return np.array(rows, dtype=float).reshape(len(records), -1)
