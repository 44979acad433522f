"""The columns of an uploaded curve, in the form in which the doctor reads a run."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from lab.failures.curve.table import Table, forward_filled
from lab.training.config import Config
from lab.training.figures import RECENT, STILL, WINDOW, Figures
from lab.training.records import Record

BLOCKS, PER_BLOCK = 30, 8  # number of blocks that steps are averaged in; fewest steps in a block
MANY_ROWS, FEW_EPOCHS = 60, 8  # with more rows in fewer epochs than these, steps are looked at
MAX_EPOCHS = 5000  # that are points of their own
MAX_CLASSES, MAX_TOLD_APART = 1000, 14  # classes; of these, the floors of the loss are told apart by 0.03
LAYER = "grad_norm/"  # before the name of a layer
CURVES = ("train_loss", "val_loss", "train_accuracy", "val_accuracy")
ONLY = {"val_loss": "train_loss", "val_accuracy": "train_accuracy"}  # where nothing is known of the training


class UploadedCurve(Figures):
    """The columns of a curve, as a run that the doctor can read. What it lacks is nan, or has no columns.

    places   where each point lies on the axis of the curve
    unit     what a point is: an "epoch", a "block" of steps, or a "row"
    counter  what the points are numbered by: "epoch", "step" or "row"; `watched`: which loss `smooth` is
    first    the loss of the very first step
    norm_ended  the point from which on the gradient norm is mostly inf or nan, or None
    notes    what was done with the rows, in sentences
    """

    counter, watched = "epoch", "loss"
    norm_ended: int | None = None
    notes: Sequence[str] = ()
    first = math.nan

    def __init__(self, records: Sequence[Record], config: Config, places: Sequence[float], unit: str = "epoch") -> None:
        super().__init__(records, config, "log")
        self.places, self.unit = places, unit

    @classmethod
    def of(cls, table: Table) -> UploadedCurve:
        """Average the rows of each epoch to one point, and many steps to the points of a few blocks."""
        columns, bad, notes = table.columns, table.bad, []
        if "train_loss" not in columns:
            columns, bad = ({ONLY.get(kind, kind): values for kind, values in each.items()} for each in (columns, bad))
            notes.append("There is no training loss: the validation loss is used for both.")
        loss = columns["train_loss"]
        known = np.flatnonzero(np.isfinite(loss) | bad["train_loss"])
        if "step" in columns:  # the line above belongs to it, if it has the same step and no loss
            above, step = np.maximum(known - 1, 0), columns["step"]
            known = np.where((step[above] == step[known]) & ~np.isin(above, known), above, known)
        starts, unit = _grouped(columns.get("epoch"), known, notes)
        means = {kind: _means(values, starts) for kind, values in columns.items()}
        ended = {kind: np.logical_or.reduceat(marks, starts) for kind, marks in bad.items()}
        layers = [kind.removeprefix(LAYER) for kind in columns if kind.startswith(LAYER)]
        points = {kind: _bridged(means[kind]) for kind in CURVES if kind in means}
        for kind in points.keys() & {"train_loss", "val_loss"}:
            points[kind][ended[kind]] = math.nan  # no gap
        if validated := "val_loss" in points:
            if np.isnan(means["val_loss"]).any() and np.isfinite(points["val_loss"]).any():
                notes.append("Straight lines bridge the gaps in the validation loss.")
        else:
            points = {f"val_{kind[6:]}": values for kind, values in points.items()} | points
        at, counter = _places(columns.get("epoch" if unit == "epoch" else "step"), unit, starts, table.rows)
        records: list[Any] = [
            {"epoch": math.floor(place)}
            | {kind: points[kind][point] if kind in points else math.nan for kind in CURVES}
            | {"grad_norm": {name: means[LAYER + name][point] for name in layers}}
            for point, place in enumerate(at)
        ]
        config = Config(hidden=(64,) * max(len(layers) - 1, 1), val_fraction=0.2 if validated else 0.0)
        curve = cls(records, config, at, unit)
        curve.layers = layers or curve.layers
        curve.total = means.get("grad_norm", curve.total)
        curve.notes, curve.counter = notes, counter
        curve.watched = "validation loss" if validated else "loss"
        if validated and np.isfinite(means["val_loss"]).any():
            curve.measured = np.flatnonzero(np.isfinite(means["val_loss"]))
            curve.best = int(np.nanargmin(means["val_loss"]))
        ends = ended.get("grad_norm", np.zeros(1, bool))
        if ends[int(np.argmax(ends)) :].mean() > 0.5:  # a scaler of losses tries a few that are
            curve.norm_ended = int(np.argmax(ends))
        curve.first = float(next(iter(loss[np.isfinite(loss)]), math.nan))
        return curve

    @cached_property
    def classes(self) -> int | None:
        """The number of classes among which guessing costs the first loss; None if no number fits."""
        value = float(self.loss[0])  # an untrained network costs that or a little more
        count = math.floor(math.exp(value) + 0.2) if 0.5 < value < math.log(MAX_CLASSES) else 0
        return count if count > 1 else None

    @cached_property
    def ended(self) -> tuple[int, str] | None:
        """The index of the first point at which a number of the training, or else the validation loss, is inf or nan,
        and which number it is; None if all are finite."""
        first = [(int(np.argmin(np.isfinite(self.loss))), "training loss")] * (not np.isfinite(self.loss).all())
        first += [(self.norm_ended, "gradient norm")] if self.norm_ended is not None else []
        bad = np.flatnonzero(~np.isfinite(self.val_loss))
        return min(first, default=(int(bad[0]), "validation loss") if bad.size else None)

    @cached_property
    def grew(self) -> float:
        """By which factor the loss grows from epoch to epoch on average, if to the end without slowing; else 0."""
        loss = self.loss[np.isfinite(self.loss)]
        if len(loss) < 2 * WINDOW or loss.min() <= 0 or not self.never_fell or loss.max() < 8 * loss[0]:
            return 0.0
        early, middle, late = (math.log(np.median(part)) for part in np.array_split(loss, 3))
        grows = late - middle >= 0.85 * (middle - early) > 0
        return float(loss.max() / loss[0]) ** (1 / int(np.argmax(loss))) if grows else 0.0

    @cached_property
    def range(self) -> float:
        """The range of the loss over its mean; inf if the network has learned or there are few epochs."""
        trained = 1 - np.median(self.loss[-WINDOW:]) / np.median(self.loss[:WINDOW])  # whatever the first is
        many = len(self) >= RECENT and not self.learned and trained < 0.15
        return float(np.ptp(self.smooth) / abs(self.smooth.mean())) if many else math.inf

    @cached_property
    def stands(self) -> bool:
        """Whether the loss has hardly changed since the first epoch."""
        first, last = self.smooth[:WINDOW].mean(), self.smooth[-WINDOW:].mean()
        better = self.train_score[-WINDOW:].mean() - self.train_score[0] > 0.15
        return bool(self.range < 0.12 and abs(1 - last / first) < 0.06 and not better)

    @cached_property
    def turned(self) -> int:
        """The point from which a loss that had fallen goes up for good, to far above its start; 0 for none."""
        low = int(np.argmin(self.loss))
        up = len(self) > WINDOW and low and np.median(self.loss[-WINDOW:]) > 1.5 * self.loss[0] > 0
        return low if up else 0

    @cached_property
    def double_softmax(self) -> int:
        """The number of classes for which the loss stands at the floor of a softmax applied to a softmax; 0 for none.

        Logits between 0 and 1 cost at least log(1 + (n - 1)/e) among n classes, and 1 more where the answer is wrong.
        """
        accuracy, loss = self.train_score[-WINDOW:].mean(), self.loss[-WINDOW:].mean()
        if not (accuracy >= 0.7 and abs(self.fall) < STILL):
            return 0
        floors = np.log1p(np.arange(1, MAX_TOLD_APART) / math.e)  # of 2, 3, ... classes
        fits = (np.abs(loss - floors - (1 - accuracy)) < 0.03) & (self.loss.max() <= floors + 1.03)
        return int(np.argmax(fits)) + 2 if fits.any() else 0

    @cached_property
    def cut_off(self) -> tuple[int, str] | None:
        """From which epoch on no gradient reaches a hidden layer, and which; None if there is no such layer."""
        for at, layer in enumerate(self.layers[: self.norms.shape[1] - 1]):
            zero = self.norms[:, at] <= 1e-12
            if zero[-1] and not self.learned:
                return len(zero) - int(np.argmin(np.r_[zero[::-1], False])), layer
        return None

    @property
    def had_grown(self) -> bool:
        """Whether the loss or a norm had grown before it ended. One that ends at once counts."""
        end, which = self.ended or (len(self), "")
        for values in (self.loss, self.total, self.norm):
            finite = values[:end][np.isfinite(values[:end])]
            if len(finite) > 1 and finite[-1] > max(3 * finite.min(), finite[0]):
                return True
        return which != "validation loss" and (end < 2 or bool(self.loss[0] > 50))

    @property
    def left_behind(self) -> bool:
        """Whether validation loss no longer falls, at many times the training loss, which began like it."""
        late, low = max(WINDOW, len(self) // 3), np.median(self.loss[-WINDOW:])
        before, now = self.val_loss[-2 * late : -late], np.median(self.val_loss[-late:])
        if len(before) < late or self.ended is not None:
            return False
        loss, val_loss = (values[self.measured[-1]] for values in (self.loss, self.val_loss))
        far = now > (4 if now < 1.05 * self.val_loss.min() else 2) * low and now - low >= 0.25 * self.loss[0]
        return bool(
            far and val_loss > 2 * loss and now >= 0.98 * np.median(before) and self.val_loss[0] <= 4 * self.loss[0]
        )

    def in_unit(self, text: str) -> str:
        """Replace "epoch" in a sentence of the doctor's by what this curve's points are, and are numbered by."""
        numbered = f"the block from {self.counter}" if self.unit == "block" else self.counter
        return re.sub(r"\bepoch(s?)\b(?! \d)", rf"{self.unit}\1", re.sub(r"\bepoch(?= \d)", numbered, text))


def _grouped(epochs: np.ndarray | None, known: np.ndarray, notes: list[str]) -> tuple[list[int], str]:
    """Return the row where each point begins and what a point is (see `unit`); add a note if rows are averaged.

    known: the rows that have a loss
    """
    if epochs is not None:  # a row without one belongs to the last epoch above it
        starts = [0, *(np.flatnonzero(np.diff(np.floor(forward_filled(epochs)))) + 1).tolist()]
        if FEW_EPOCHS <= len(starts) <= MAX_EPOCHS or len(known) <= len(starts):
            if len(known) > 1.5 * len(starts):
                notes.append(f"The {len(known):,} losses are averaged by epoch.")
            return starts, "epoch"
    if len(known) <= MANY_ROWS:
        return [0, *known[1:].tolist()], "row"
    blocks = min(BLOCKS, len(known) // PER_BLOCK)
    notes.append(f"The {len(known):,} steps are averaged in {blocks} blocks of about {len(known) // blocks}.")
    return [0, *(int(part[0]) for part in np.array_split(known, blocks)[1:])], "block"


def _places(counter: np.ndarray | None, unit: str, starts: Sequence[int], rows: int) -> tuple[Sequence[float], str]:
    """Return where each point lies, and what that is: its epoch, its step if the known ones rise, or its row."""
    if counter is not None:
        filled, own = forward_filled(counter)[starts], np.isfinite(counter[starts])
        if unit == "epoch":
            return filled.tolist(), "epoch"
        if np.all(np.diff(np.floor(filled[own] if 2 * own.sum() > len(own) else filled)) > 0):
            return filled.tolist(), "step"
    return (np.arange(1.0, rows + 1)[starts] if unit == "block" else np.arange(1.0, len(starts) + 1)).tolist(), "row"


def _means(values: np.ndarray, starts: Sequence[int]) -> np.ndarray:
    """Return the mean of the finite values of each group; nan where there is none."""
    finite = np.isfinite(values)
    counts = np.add.reduceat(finite, starts, dtype=int)
    sums = np.add.reduceat(np.where(finite, values, 0.0), starts)
    return np.divide(sums, counts, out=np.full(len(counts), math.nan), where=counts > 0)


def _bridged(values: np.ndarray) -> np.ndarray:
    """Bridge gaps with straight lines."""
    known = np.flatnonzero(np.isfinite(values))
    return np.interp(np.arange(len(values)), known, values[known]) if known.size else values.copy()
