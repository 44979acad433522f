"""The columns of a curve as the doctor reads those of a run."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np

from lab.failures.curve.table import Table
from lab.training.config import Config
from lab.training.records import Record
from lab.training.symptoms import WINDOW, History

BLOCKS, PER_BLOCK = 30, 8  # into so many blocks steps are put together; steps in a block, at least
MANY_ROWS, FEW_EPOCHS = 60, 8  # rows that are steps rather than epochs; epochs that are too few to look at
MOST_CLASSES = 1000
AROUND, MAX_SPIKES = 5, 0.1  # neighbours on each side of a value; share of the values that may be spikes
ABOVE_START, ABOVE_NEIGHBOURS = 1.3, 2.5  # how far above the first losses and its neighbours a spike is


class UploadedCurve(History):
    """The columns of a curve as those of a run. What it lacks is nan, or has no columns.

    unit: what a row is: an "epoch", a "block" of steps, or a "row". places: where it lies on the axis of the curve.
    scatter: see `_scatter`. first: the loss and the gradient norm of the very first step, where steps are logged.
    raw: the loss of each row; groups: the rows of each point, where steps are put together.
    """

    def __init__(
        self,
        records: Sequence[Record],
        config: Config,
        unit: str,
        places: Sequence[float],
        scatter: float = math.nan,
        notes: Sequence[str] = (),
        names: Sequence[str] = (),
        first: tuple[float, float] | None = None,
        raw: np.ndarray | None = None,
        groups: Sequence[slice] = (),
    ) -> None:
        super().__init__(records, config)
        self.first = first
        self.raw = np.array(raw if raw is not None else self.loss)
        self.groups = list(groups)
        self.unit = unit
        self.places = list(places)
        self.scatter = scatter
        self.notes = list(notes)
        if names:
            self.layers = list(names)
        self.total = np.array([_float(cast(Any, record).get("total_norm")) for record in records])

    @classmethod
    def of(cls, table: Table) -> UploadedCurve:
        """Rows of one epoch are one; many steps are put together in blocks, whose means are compared."""
        starts, unit, notes = _grouped(table)
        at = table.columns.get("epoch" if unit == "epoch" else "step", np.arange(1.0, table.rows + 1))
        at = _carried(at) if np.isfinite(at).any() else np.arange(1.0, table.rows + 1)
        groups = [slice(a, b) for a, b in zip(starts, [*starts[1:], table.rows], strict=True)]
        numbers = [math.floor(at[a]) for a in starts] if unit == "epoch" else range(1, len(starts) + 1)
        means = {role: [_mean(values[group]) for group in groups] for role, values in table.columns.items()}
        ended = {role: [bool(bad[group].any()) for group in groups] for role, bad in table.bad.items()}
        loss = _filled(means["train_loss"], ended["train_loss"])
        validated = "val_loss" in means
        val_loss = _filled(means["val_loss"], ended["val_loss"]) if validated else loss
        nothing = [math.nan] * len(groups)
        accuracy = _filled(means["train_accuracy"]) if "train_accuracy" in means else nothing
        val_accuracy = _filled(means["val_accuracy"]) if "val_accuracy" in means else nothing if validated else accuracy
        layers, dead = table.layers("grad_norm"), table.layers("dead_units")
        if layers and layers[: len(dead)] != dead:
            notes.append("The dead units are of other layers than the gradient norms, and are left out.")
            dead = []
        per_layer = {"grad_norm": layers, "dead_units": dead, "update_ratio": table.layers("update_ratio")}
        per_layer = {kind: names for kind, names in per_layer.items() if names}
        layers = layers or dead
        means |= {f"dead_units/{name}": list(np.nan_to_num(_filled(means[f"dead_units/{name}"]))) for name in dead}
        records = []
        for index in range(len(groups)):
            record: dict[str, Any] = {
                "epoch": numbers[index],
                "train_loss": loss[index],
                "val_loss": val_loss[index],
                "train_accuracy": accuracy[index],
                "val_accuracy": val_accuracy[index],
                "total_norm": means["grad_norm"][index] if "grad_norm" in means else None,
            }
            for kind, names in per_layer.items():
                record[kind] = {name: means[f"{kind}/{name}"][index] for name in names}
            records.append(cast(Record, record))
        if any(math.isnan(value) for value in means.get("val_loss", ())) and np.isfinite(val_loss).any():
            notes.append("The gaps of the validation loss are bridged by straight lines.")
        rate = table.columns.get("lr", np.array([]))
        rate = rate[np.isfinite(rate) & (rate > 0)]
        config = Config(
            hidden=(64,) * max(len(layers) - 1, 1),
            lr=float(rate[0]) if rate.size else cast(float, None),
            val_fraction=0.2 if validated else 0.0,
        )
        places = [float(at[a]) for a in starts]
        single = len(groups) < table.rows and np.isfinite(table.columns["train_loss"][groups[0]]).sum() > 1
        start = (float(table.columns["train_loss"][0]), float(table.columns.get("grad_norm", [math.nan])[0]))
        return cls(
            records,
            config,
            unit,
            places,
            _scatter(table, groups),
            notes,
            layers,
            start if single else None,
            table.columns["train_loss"],
            groups,
        )

    @cached_property
    def classes(self) -> int | None:
        """Among how many classes a guess costs what the loss begins with, if it does; else None."""
        if "weight_histogram" in self.records[0]:
            return History(self.records, self.config).classes
        value = float(self.loss[0])  # before anything is learned, it is that or a little more
        count = math.floor(math.exp(value) + 0.2) if 0.5 < value < math.log(MOST_CLASSES) else 0
        return count if count > 1 else None

    @property
    def end(self) -> int | None:
        """The index where a loss ceases to be a number."""
        bad = np.flatnonzero(~np.isfinite(self.loss) | ~np.isfinite(self.val_loss))
        return int(bad[0]) if bad.size else None

    @property
    def falling(self) -> float:
        """As the doctor's, over an even number of points: a loss that goes up and down by turns does not fall."""
        width = max(WINDOW, len(self) // 4)
        width += width % 2
        before, now = self.loss[-2 * width : -width], self.loss[-width:]
        return float(1 - now.mean() / before.mean()) if len(before) == width and before.any() else math.nan

    @cached_property
    def spikes(self) -> list[int]:
        """The rows whose loss is above all that the run began with, and far above that of their neighbours."""
        loss = self.raw[np.isfinite(self.raw)]
        if len(loss) != len(self.raw) or len(loss) < 2 * AROUND or loss.min() < 0:
            return []
        start = float(np.median(loss[:AROUND]))
        around = [float(np.median(loss[max(0, i - AROUND) : i + AROUND + 1])) for i in range(len(loss))]
        high = [
            i
            for i, (value, middle) in enumerate(zip(loss, around, strict=True))
            if value > ABOVE_START * start and value > ABOVE_NEIGHBOURS * middle
        ]
        alone = [i for i in high if i - 1 not in high and i + 1 not in high]
        return alone if len(alone) == len(high) and len(alone) <= MAX_SPIKES * len(loss) else []

    def group_of(self, row: int) -> int:
        """The point of the curve to which a row belongs."""
        return next((i for i, rows in enumerate(self.groups) if rows.start <= row < rows.stop), row)

    @property
    def smooth(self) -> np.ndarray:
        """The loss that is the less noisy: of validation, which all samples take part in each time, if it is there."""
        return self.val_loss if self.config.val_fraction else self.loss

    @property
    def scored_in_training(self) -> bool:
        return bool(np.isfinite(self.train_score).any())

    def says(self, text: str) -> str:
        """A sentence of the doctor's, in this curve's unit."""
        if self.unit == "epoch":
            return text
        return re.sub(
            r"\b([Ee])poch(s?)\b", lambda found: (self.unit if found[1] == "e" else self.unit.title()) + found[2], text
        )

    def place(self, epoch: int) -> float | None:
        return self.places[self.epochs.index(epoch)] if epoch in self.epochs else None


def _grouped(table: Table) -> tuple[list[int], str, list[str]]:
    """Where each group of rows begins, what it is, and what is to be said of it."""
    epochs = table.columns.get("epoch")
    if epochs is not None and np.isfinite(epochs).any():
        # a row without a number belongs to the last one that has it
        filled = np.floor(_carried(epochs))
        changes = np.flatnonzero(np.diff(filled) != 0) + 1
        starts = [0, *changes.tolist()]
        if len(starts) >= FEW_EPOCHS or table.rows <= MANY_ROWS:
            again = bool(np.any(np.diff(filled) < 0))
            return starts, "epoch", ["The epochs begin again: are these several runs?"] if again else []
    loss = table.columns["train_loss"]
    bad = table.bad["train_loss"]
    known = np.flatnonzero(np.isfinite(loss) | bad)
    if len(known) <= MANY_ROWS:
        starts = [0, *known[1:].tolist()] if len(known) else [0]
        return starts, "row", []
    blocks = min(BLOCKS, len(known) // PER_BLOCK)
    starts = [0, *(int(part[0]) for part in np.array_split(known, blocks)[1:])]
    size = len(known) // blocks
    return (
        starts,
        "block",
        [
            f"Of {len(known):,} steps, {size} or so at a time are taken together: a block is their mean, and there are "
            f"{blocks}."
        ],
    )


def _carried(values: np.ndarray) -> np.ndarray:
    known = np.isfinite(values)
    at = np.maximum.accumulate(np.where(known, np.arange(len(values)), 0))
    filled = values[at]
    return np.where(np.isfinite(filled), filled, values[known][0])


def _mean(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if finite.size else math.nan


def _filled(values: Sequence[float], ended: Sequence[bool] | None = None) -> list[float]:
    """Gaps bridged by straight lines; where the numbers have ended, nan."""
    array = np.array(values, dtype=float)
    known = np.flatnonzero(np.isfinite(array))
    if known.size:
        array = np.interp(np.arange(len(array)), known, array[known])
    if ended is not None:
        array[np.array(ended)] = math.nan
    return [float(value) for value in array]


def _float(value: Any) -> float:
    return math.nan if value is None else float(value)


def _scatter(table: Table, groups: Sequence[slice]) -> float:
    """How far single steps lie from the mean of their block, over it, in the second half; nan for single rows."""
    loss = table.columns["train_loss"]
    shares = []
    for group in groups[len(groups) // 2 :]:
        values = loss[group][np.isfinite(loss[group])]
        if len(values) >= PER_BLOCK // 2 and values.mean() > 0:
            shares.append(values.std() / values.mean())
    return float(np.median(shares)) if shares else math.nan
