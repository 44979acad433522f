"""The figures that the doctor's table compares with thresholds, computed from the records of a run or a log."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from lab.text import layer_name, percent_text, with_minus
from lab.training.config import DEFAULT_LR, Config
from lab.training.records import Record, column, is_regression, root_mean_square, scores, share_near_zero

WINDOW, RECENT, LONG = 3, 5, 10  # epochs that are averaged, that say how a run does lately, that show a trend
STILL = 0.05  # a loss stands still if it changes by a smaller share from one window to the next
FAR = 10.0  # learning rate over the usual one, or under it, that is far from usual
PENALTIES = {"weight_decay": ("weight decay", 0.2), "l1": ("L1 penalty", 0.03)}  # from which value it is suspected


class Figures:
    """One value per epoch in arrays, and figures of the last epochs. What is not recorded is nan or has no columns.

    kind: a run of this trainer, a learner's own loop, or a log from elsewhere. known: what the records tell, for the
    column `needs` of the table: "settings" of a run or a loop; "code" that may be wrong, of a loop or a log; "log";
    "norms" per layer, "updates", "dead" units, "histograms" of weights, "accuracy", "validation".
    """

    def __init__(self, records: Sequence[Record], config: Config, kind: Literal["run", "loop", "log"] = "run") -> None:
        self.records, self.config, self.layers = records, config, list(map(layer_name, config.layer_names))
        self.epochs = [int(record["epoch"]) for record in records]
        self.origin, self.regression = records[0].get("origin"), is_regression(records[0])
        self.scored = "R²" if self.regression else "accuracy"
        self.answer = "the mean" if self.regression else "the commonest class"  # that ignores the inputs
        self.loss, self.val_loss = column(records, "train_loss"), column(records, "val_loss")
        self.train_score, self.val_score = scores(records, "train"), scores(records, "val")
        self.gap = self.train_score - self.val_score
        self.norms, self.updates = _table(records, "grad_norm"), _table(records, "update_ratio")
        self.dead = _table(records, "dead_units")
        self.measured = np.flatnonzero(np.isfinite(self.val_loss))  # epochs that have a validation loss; the best one
        self.best = int(self.measured[np.argmin(self.val_loss[self.measured])]) if self.measured.size else 0
        self.total = np.full(len(records), math.nan)  # norm of all gradients together, which only a log has
        self.clipped = float(np.median([record.get("clipped", 0.0) for record in records]))
        has = {"settings": kind != "log", "code": kind != "run", "log": kind == "log", "norms": self.norms.shape[1] > 1}
        has |= {"updates": bool(self.updates.size), "dead": bool(self.dead.size), "validation": config.val_fraction > 0}
        has["histograms"] = all("weight_histogram" in records[at] for at in (0, -1))
        has["accuracy"] = not self.regression and bool(np.isfinite(self.train_score).any())
        self.known = frozenset(name for name, there in has.items() if there)
        # Over the usual learning rate; the size of a step over that of the weights; units with a bend in their answer
        self.rate = config.lr / DEFAULT_LR[config.optimizer] if kind != "log" else math.nan
        self.low_rate = self.rate / (1 - config.momentum) <= 1 / FAR
        self.step = float(np.median(self.updates.mean(axis=1))) if self.updates.size else math.nan
        self.units = 0 if config.activation == "identity" else sum(config.hidden)
        # The largest norm of a layer of late (a regression has no usual one), and the largest share of dead units
        self.high_norm = math.nan if self.regression else largest(self.norms[-WINDOW:])
        self.dead_now = float(self.dead[-1].max()) if self.dead.size else math.nan
        # The less noisy loss, and the finite training losses of the last ten epochs or of half of a long run
        self.smooth = self.val_loss if config.val_fraction else self.loss
        finite = self.loss[np.isfinite(self.loss)]
        self.lately = finite[-max(LONG, len(records) // 2) :]
        self.never_fell = bool(np.all(finite >= 0.95 * finite[:1]))

    def __len__(self) -> int:
        return len(self.epochs)

    @cached_property
    def classes(self) -> int | None:
        """The number of classes; None in a regression, or if it is not known."""
        return (self.origin["classes"] if self.origin else 0) or None

    @cached_property
    def plain(self) -> float:
        """The training loss of always giving the same answer; inf if it is not known."""
        if self.origin:
            return self.origin["baseline_train_loss"]
        return 1.0 if self.regression else math.log(self.classes) if self.classes else math.inf

    @property
    def plain_val(self) -> float:
        """The validation loss of always giving the same answer."""
        return self.origin["baseline_val_loss"] if self.origin else self.plain

    def plain_score(self, part: Literal["train", "val"]) -> float:
        """Return the score of always answering with the commonest class or the mean; 0 if none is recorded."""
        if not self.origin or self.regression:
            return 0.0
        return self.origin["baseline_train_accuracy" if part == "train" else "baseline_val_accuracy"] or 0.0

    @property
    def rows(self) -> float:
        """Rows held out; inf if it is not known."""
        return (self.origin["val_samples"] if self.origin else 0) or math.inf

    @property
    def error(self) -> float:
        """The standard deviation of an accuracy near one half, measured on the rows held out; 0 if not known."""
        return 0.5 / math.sqrt(self.rows)

    @cached_property
    def gain(self) -> float:
        """The share of the plain answer's loss that training has saved: 0 for none, 1 for a loss of 0."""
        if not self.plain < math.inf:
            return -math.inf
        return float(1 - np.median(self.loss[-WINDOW:]) / self.plain) if self.plain else 1.0

    @cached_property
    def learned(self) -> bool:
        """Whether training makes less than a tenth of errors, and less than half of the plain answer's."""
        score = self.train_score[-WINDOW:].mean()
        return bool(score >= 0.9 and 1 - score <= 0.5 * (1 - self.plain_score("train")))

    @cached_property
    def useless(self) -> bool:
        """Whether it learns its training samples, and was never better than the plain answer on enough others."""
        if not self.origin or "validation" not in self.known or self.rows < 30 or len(self) < LONG:
            return False
        recent, score = np.median(self.val_loss[-RECENT:]), np.median(self.val_score[-RECENT:])
        never = windows(self.val_loss).min() >= 0.9 * self.plain_val and recent >= 0.97 * self.plain_val
        saved = np.median(self.loss[-LONG:]) <= 0.98 * self.plain and not creeps(self.val_loss)
        return bool(never and saved and (self.regression or score <= self.plain_score("val") + self.error))

    @cached_property
    def ended(self) -> tuple[int, str] | None:
        """The index of the first epoch in which a loss is inf or nan, and which loss; None if all are finite."""
        batch = [bool(record.get("diverged")) for record in self.records]
        bad = ~np.isfinite(self.loss) | ~np.isfinite(self.val_loss) | batch
        if not bad.any():
            return None
        at = int(np.argmax(bad))
        finite = "loss of a batch" if batch[at] else "validation loss"
        return at, finite if np.isfinite(self.loss[at]) else "training loss"

    @cached_property
    def fall(self) -> float:
        """The share by which the mean loss of the last epochs is lower than that of as many before; nan at first.

        Both windows are even: a loss that alternates between two values does not fall.
        """
        width = max(WINDOW + 1, len(self) // 4 // 2 * 2)
        before, now = self.loss[-2 * width : -width], self.loss[-width:]
        return float(1 - now.mean() / before.mean()) if len(before) == width and before.any() else math.nan

    @cached_property
    def rises(self) -> int:
        """How many times of late the loss rose by a fair share of its mean."""
        return int(np.sum(np.diff(self.lately) > 0.04 * self.lately.mean()))

    @cached_property
    def oscillates(self) -> bool:
        """Whether the loss rises so often and so far that it does harm: it lies far above its minimum, and stays up.

        At a rate far above usual less is enough, and only a loss near 0 is harmless.
        """
        loss, high = self.lately, self.rate > FAR
        if len(loss) < RECENT or self.rises < (2 if high else 3) or not swings(loss, 0.015 if high else 0.03):
            return False
        usual, half = float(np.quantile(loss, 0.6)), len(loss) // 4 * 2
        near_0 = usual <= (0.15 if high else 0.3) * self.plain < math.inf
        falls = np.quantile(loss[-half:], 0.6) < (1 - STILL) * np.quantile(loss[-2 * half : -half], 0.6)
        lowest = self.gain >= 0.5 and np.median(loss[-WINDOW:]) <= self.loss[:-WINDOW].min()
        return not (near_0 or lowest or (not high and (falls or loss.mean() <= 1.1 * loss.min())))

    @cached_property
    def creeping(self) -> bool:
        """Whether the loss falls in most epochs, by steps that hardly change the weights, or straight at a low rate."""
        if len(self) < WINDOW or self.epochs[-1] <= self.config.warmup or self.learned or not self.step > 0:
            return False
        no_use = self.gain >= 0.1 and self.val_loss[-WINDOW:].mean() >= 0.97 * self.plain_val
        no_use |= len(self) >= LONG and not mostly_falls(self.val_loss)
        straight = later_fall(np.minimum(self.loss, self.plain)) >= 0.2 and self.gain < 0.5 and not no_use
        return bool(np.mean(np.diff(self.loss) < 0) >= 0.7) and (self.step < 1.5e-4 or (self.low_rate and straight))

    @property
    def norm(self) -> np.ndarray:
        """The largest gradient norm of a layer, or that of all gradients, in each epoch."""
        return self.norms.max(axis=1) if self.norms.size else self.total

    @cached_property
    def faint(self) -> np.ndarray:
        """The epochs in which a hidden layer got less than a fiftieth of the last layer's gradient, (epochs,)."""
        hidden = self.norms[:, :-1].min(axis=1, initial=math.inf)
        return np.asarray((hidden > 0) & (hidden < 0.02 * self.norms[:, -1]))

    @property
    def penalty(self) -> tuple[str, float, bool]:
        """The stronger penalty on the weights, its value, and whether it is large."""
        name = max(PENALTIES, key=lambda one: getattr(self.config, one) / PENALTIES[one][1])
        value = getattr(self.config, name)
        return name, value, value >= PENALTIES[name][1]

    @property
    def shrunk(self) -> float:
        """The smallest share of their size that the weights of a layer have kept since the first epoch."""
        first, last = (self.records[at]["weight_histogram"] for at in (0, -1))
        sizes = ((root_mean_square(last[name]), root_mean_square(first[name])) for name in last)
        return min((now / before for now, before in sizes if before), default=1.0)

    def near_zero(self, at: int) -> list[float]:
        """Return the share of each layer's weights that lie in the two bins around 0."""
        return [share_near_zero(one) for one in self.records[at]["weight_histogram"].values()]

    def shown(self, score: float, digits: int = 0) -> str:
        """Return a score as text, such as "97%" or, in a regression, "0.94"."""
        return with_minus(f"{score:.2f}") if self.regression else percent_text(score, digits)


def windows(values: np.ndarray) -> np.ndarray:
    """Return the median of each WINDOW epochs in a row, in which a single outlier does not show."""
    if len(values) < WINDOW:
        return values[:0]
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(values, WINDOW), axis=1))


def falls(loss: np.ndarray) -> bool:
    """Return whether the median loss of the last epochs is lower than that of as many before."""
    width = min(RECENT, len(loss) // 2)
    return bool(width and np.median(loss[-width:]) < 0.99 * np.median(loss[-2 * width : -width]))


def mostly_falls(loss: np.ndarray) -> bool:
    """Return whether the loss falls, however little, in most of the last epochs."""
    lower = np.diff(loss[-LONG:]) < 0
    return bool(lower.sum() > 0.7 * len(lower))


def creeps(loss: np.ndarray) -> bool:
    """Return whether the loss falls slowly but evenly."""
    return mostly_falls(loss) and bool(loss[-1] < 0.96 * loss[-LONG:][0])


def swings(loss: np.ndarray, rise: float) -> bool:
    """Return whether the loss rises by at least `rise` per epoch on average, and by a fair share of its mean."""
    mean = float(np.diff(loss).clip(min=0).mean()) if len(loss) > 1 else 0.0
    return mean >= rise and mean >= 0.04 * loss.mean()


def later_fall(loss: np.ndarray) -> float:
    """Return how far the loss fell in the second half, over how far it fell in the first."""
    half = len(loss) // 2
    first = loss[0] - loss[half]
    return float((loss[half] - loss[-1]) / first) if first > 0 else math.inf


def largest(values: np.ndarray) -> float:
    """Return the largest finite value; 0 if there is none."""
    return float(np.max(values[np.isfinite(values)], initial=0.0))


def _table(records: Sequence[Record], key: Literal["grad_norm", "update_ratio", "dead_units"]) -> np.ndarray:
    """Return a layer figure as an array (epochs, layers), or (epochs, 0) if the records lack the key."""
    rows = [[np.nan if value is None else value for value in record.get(key, {}).values()] for record in records]
    return np.array(rows, dtype=float).reshape(len(records), -1)
