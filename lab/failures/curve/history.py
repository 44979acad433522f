"""The columns of an uploaded curve, in the form in which the doctor reads a run."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from lab.failures.curve.table import Table, forward_filled
from lab.training.config import Config
from lab.training.figures import RECENT, STILL, WINDOW, Figures
from lab.training.records import Record

BLOCKS, PER_BLOCK = 30, 8  # number of blocks that steps are averaged in; fewest steps in a block
MANY_ROWS, FEW_EPOCHS = 60, 8  # with more rows in fewer epochs than these, steps are looked at
MAX_EPOCHS = 5000  # that are points of their own
MAX_CLASSES = 1000
ONLY = {"val_loss": "train_loss", "val_accuracy": "train_accuracy"}  # where nothing is known of the training


class UploadedCurve(Figures):
    """The columns of a curve, as a run that the doctor can read. What it lacks is nan, or has no columns.

    unit     what a point is: an "epoch", a "block" of steps, or a "row"
    places   where each point lies on the axis of the curve
    first    loss and gradient norm of the very first step
    raw      the loss of each row
    groups   the rows of each point
    norm_ended  the point from which on the gradient norm is mostly inf or nan, or None
    """

    def __init__(
        self,
        records: Sequence[Record],
        config: Config,
        unit: str,
        places: Sequence[float],
        notes: Sequence[str] = (),
        names: Sequence[str] = (),
        first: tuple[float, float] | None = None,
        raw: np.ndarray | None = None,
        groups: Sequence[slice] = (),
        norm_ended: int | None = None,
    ) -> None:
        super().__init__(records, config, "log")
        self.first = first or (float(self.loss[0]), math.nan)
        self.raw = np.array(raw if raw is not None else self.loss)
        self.groups = list(groups)
        self.norm_ended = norm_ended
        self.unit = unit
        self.places = list(places)
        self.notes = list(notes)
        if names:
            self.layers = list(names)
        self.total = np.array([_float(cast(Any, record).get("total_norm")) for record in records])

    @classmethod
    def of(cls, table: Table) -> UploadedCurve:
        """Average the rows of each epoch to one point, and many steps to the points of a few blocks."""
        if "train_loss" not in table.columns:
            table = replace(
                table,
                columns={ONLY.get(role, role): values for role, values in table.columns.items()},
                bad={ONLY.get(role, role): values for role, values in table.bad.items()},
                notes=[*table.notes, "There is no training loss: the validation loss is used for both."],
            )
            return cls.of(table)
        starts, unit, notes = _grouped(table)
        at = _places(table, unit, starts)
        groups = [slice(a, b) for a, b in zip(starts, [*starts[1:], table.rows], strict=True)]
        numbers = [math.floor(at[a]) for a in starts] if unit == "epoch" else range(1, len(starts) + 1)
        means = {role: _means(values, starts) for role, values in table.columns.items()}
        ended = {role: np.logical_or.reduceat(bad, starts).tolist() for role, bad in table.bad.items()}
        loss = _bridged(means["train_loss"], ended["train_loss"])
        validated = "val_loss" in means
        val_loss = _bridged(means["val_loss"], ended["val_loss"]) if validated else loss
        nothing = [math.nan] * len(groups)
        accuracy = _bridged(means["train_accuracy"]) if "train_accuracy" in means else nothing
        val_accuracy = (
            _bridged(means["val_accuracy"]) if "val_accuracy" in means else nothing if validated else accuracy
        )
        layers, dead = table.layers("grad_norm"), table.layers("dead_units")
        if layers and layers[: len(dead)] != dead:
            notes.append("The dead units belong to other layers than the gradient norms and are not used.")
            dead = []
        per_layer = {"grad_norm": layers, "dead_units": dead, "update_ratio": table.layers("update_ratio")}
        per_layer = {kind: names for kind, names in per_layer.items() if names}
        layers = layers or dead
        means |= {f"dead_units/{name}": list(np.nan_to_num(_bridged(means[f"dead_units/{name}"]))) for name in dead}
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
            notes.append("Straight lines bridge the gaps in the validation loss.")
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
            notes,
            layers,
            start if single else None,
            table.columns["train_loss"],
            groups,
            _mostly_bad(ended.get("grad_norm", ())),
        )

    @cached_property
    def classes(self) -> int | None:
        """The number of classes among which guessing costs the first loss; None if no number fits."""
        if "weight_histogram" in self.records[0]:
            return Figures(self.records, self.config).classes
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

    @property
    def end(self) -> int | None:
        return self.ended[0] if self.ended else None

    @property
    def only_validation_ended(self) -> bool:
        return bool(self.ended and self.ended[1] == "validation loss")

    @cached_property
    def grew(self) -> float:
        """By which factor the loss grows from epoch to epoch, evenly and to the end; 0 if it does not."""
        loss = self.loss[np.isfinite(self.loss)]
        if len(loss) < 2 * WINDOW or int(np.argmin(loss)) > 1 or loss.min() <= 0 or loss.max() < 8 * loss[0]:
            return 0.0
        early, middle, late = (math.log(np.median(part)) for part in np.array_split(loss, 3))
        return math.exp((late - middle) * 3 / len(loss)) if late - middle >= 0.85 * (middle - early) > 0 else 0.0

    @cached_property
    def range(self) -> float:
        """The range of the loss over its mean; inf if the network has learned or there are few epochs."""
        many = len(self) >= RECENT and not self.learned
        return float(np.ptp(self.smooth) / abs(self.smooth.mean())) if many else math.inf

    @cached_property
    def stands(self) -> bool:
        """Whether the loss has hardly changed since the first epoch."""
        first, last = self.smooth[:WINDOW].mean(), self.smooth[-WINDOW:].mean()
        better = self.train_score[-WINDOW:].mean() - self.train_score[0] > 0.15
        trained = 1 - self.loss[-WINDOW:].mean() / self.loss[:WINDOW].mean()
        return bool(self.range < 0.12 and abs(1 - last / first) < 0.06 and trained < 0.15 and not better)

    @cached_property
    def spikes(self) -> np.ndarray:
        """The rows whose loss is above all early losses and far above their neighbours'."""
        loss = self.raw[np.isfinite(self.raw)]
        if len(loss) != len(self.raw) or len(loss) < 2 * RECENT or loss.min() < 0:
            return np.empty(0, int)
        wide = np.pad(loss, RECENT, constant_values=math.nan)  # the first and last values have fewer neighbours
        around = np.nanmedian(np.lib.stride_tricks.sliding_window_view(wide, 2 * RECENT + 1), axis=1)
        high = np.flatnonzero((loss > 1.3 * np.median(loss[:RECENT])) & (loss > 2.5 * around))
        return high if (np.diff(high) > 1).all() and len(high) <= 0.1 * len(loss) else high[:0]

    @cached_property
    def double_softmax(self) -> int:
        """The number of classes for which the loss stands at the floor of a softmax applied to a softmax; 0 for none.

        Logits between 0 and 1 cost at least log(1 + (n - 1)/e) among n classes, and 1 more where the answer is wrong.
        """
        accuracy, loss = self.train_score[-WINDOW:].mean(), self.loss[-WINDOW:].mean()
        if not (accuracy >= 0.7 and abs(self.fall) < STILL):
            return 0
        floors = np.log1p(np.arange(1, 999) / math.e)  # of 2, 3, ... classes
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
        for values in (self.loss[:end], self.total[:end], self.norm[:end]):
            finite = values[np.isfinite(values)]
            if len(finite) > 1 and finite[-1] > max(3 * finite.min(), finite[0]):
                return True
        return which != "validation loss" and (end < 2 or bool(self.loss[0] > 50))

    @property
    def left_behind(self) -> bool:
        """Whether validation loss no longer falls, at many times the training loss, which began like it."""
        late, low = max(WINDOW, len(self) // 3), self.loss[-WINDOW:].mean()
        before, now = self.val_loss[-2 * late : -late], self.val_loss[-late:].mean()
        if len(before) < late or self.ended is not None:
            return False
        far = now > (4 if now < 1.05 * self.val_loss.min() else 2) * low and now - low >= 0.25 * self.loss[0]
        return bool(far and now >= 0.98 * before.mean() and self.val_loss[0] <= 4 * self.loss[0])

    def group_of(self, row: int) -> int:
        """Return the index of the point that a row belongs to."""
        return next((i for i, rows in enumerate(self.groups) if rows.start <= row < rows.stop), row)

    @property
    def has_train_score(self) -> bool:
        return bool(np.isfinite(self.train_score).any())

    def in_unit(self, text: str) -> str:
        """Replace "epoch" in a sentence of the doctor's by this curve's unit."""
        if self.unit == "epoch":
            return text
        return re.sub(
            r"\b([Ee])poch(s?)\b", lambda found: (self.unit if found[1] == "e" else self.unit.title()) + found[2], text
        )

    def place(self, epoch: int) -> float | None:
        return self.places[self.epochs.index(epoch)] if epoch in self.epochs else None


def _grouped(table: Table) -> tuple[list[int], str, list[str]]:
    """Return where each group of rows begins, what a group is (see `unit`), and notes for the reader."""
    loss = table.columns["train_loss"]
    known = np.flatnonzero(np.isfinite(loss) | table.bad["train_loss"])
    epochs = table.columns.get("epoch")
    if epochs is not None:
        # a row without an epoch belongs to the last epoch above it
        changes = np.flatnonzero(np.diff(np.floor(forward_filled(epochs))) != 0) + 1
        starts = [0, *changes.tolist()]
        if FEW_EPOCHS <= len(starts) <= MAX_EPOCHS or len(known) <= len(starts):
            several = len(known) > 1.5 * len(starts)
            return starts, "epoch", [f"The {len(known):,} losses are averaged by epoch."] if several else []
    if len(known) <= MANY_ROWS:
        starts = [0, *known[1:].tolist()] if len(known) else [0]
        return starts, "row", []
    blocks = min(BLOCKS, len(known) // PER_BLOCK)
    starts = [0, *(int(part[0]) for part in np.array_split(known, blocks)[1:])]
    size = len(known) // blocks
    return (
        starts,
        "block",
        [f"The {len(known):,} steps are averaged in {blocks} blocks of about {size}."],
    )


def _places(table: Table, unit: str, starts: Sequence[int]) -> np.ndarray:
    """Return where each row lies (rows,): its epoch, its step if these never fall, or else its number."""
    counter = table.columns.get("epoch" if unit == "epoch" else "step")
    if counter is not None:
        filled = forward_filled(counter)
        if unit == "epoch" or np.all(np.diff(filled[list(starts)]) > 0):
            return filled
    return np.arange(1.0, table.rows + 1)


def _mostly_bad(bad: Sequence[bool]) -> int | None:
    """Return the first bad point if most of those from there on are bad: a scaler of losses tries a few that are."""
    first = next((at for at, is_bad in enumerate(bad) if is_bad), None)
    return first if first is not None and sum(bad[first:]) > len(bad[first:]) / 2 else None


def _means(values: np.ndarray, starts: Sequence[int]) -> list[float]:
    """Return the mean of the finite values of each group; nan where there is none."""
    finite = np.isfinite(values)
    counts = np.add.reduceat(finite, starts, dtype=int)
    sums = np.add.reduceat(np.where(finite, values, 0.0), starts)
    return np.divide(sums, counts, out=np.full(len(counts), math.nan), where=counts > 0).tolist()


def _bridged(values: Sequence[float], ended: Sequence[bool] | None = None) -> list[float]:
    """Bridge gaps with straight lines; what is marked as ended stays nan."""
    array = np.array(values, dtype=float)
    known = np.flatnonzero(np.isfinite(array))
    if known.size:
        array = np.interp(np.arange(len(array)), known, array[known])
    if ended is not None:
        array[np.array(ended)] = math.nan
    return [float(value) for value in array]


def _float(value: Any) -> float:
    return math.nan if value is None else float(value)
