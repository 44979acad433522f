"""What went wrong, from a curve: what the doctor's rules say of the numbers that some trainer wrote.

A curve of another trainer says less than a run of this one. So a rule is asked only where the numbers that it goes by
are there; what several causes look like is given as several causes; and what could not be seen is listed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np

from lab.failures.table import CurveError, Table, read
from lab.training import symptoms
from lab.training.config import Config
from lab.training.doctor import Finding, Rule, diagnose, examine
from lab.training.records import Record
from lab.training.remedies import Remedy
from lab.training.run_folder import RunFolder
from lab.training.symptoms import FEWEST, STILL, WINDOW, Evidence, History

__all__ = ["KNOWN", "Answer", "Cause", "Curve", "CurveError", "Known", "of_run", "of_table", "of_text"]

BLOCKS, PER_BLOCK = 30, 8  # into so many blocks steps are put together; steps in a block, at least
MANY_ROWS, FEW_EPOCHS = 60, 8  # rows that are steps rather than epochs; epochs that are too few to look at
RISE = 3.0  # of a loss or norm, over its lowest so far, before it ceases to be a number: then it grew
HUGE = 3.0  # a first loss below it is not due to inputs or weights of a wrong scale
LARGE_NORM = 30.0  # of all gradients together, in the first epoch
SAME = 1e-6  # share by which a loss that stands exactly still may differ
SCATTER = 0.6  # deviation of single steps from their block, over its mean
CREEP = 0.2  # share by which a creeping loss falls at most
FLOOR = 0.03  # how near a loss stands to the floor of a softmax over a softmax
STANDS = 0.06  # share by which a loss that never learned anything may have changed
MOST_CLASSES = 1000


@dataclass(frozen=True)
class Known:
    """A cause, and all that is said of it wherever it is found.

    failure: its number among the 25, or None. apart: what would tell it from what looks the same. settings: of a run in
    the Training lab that goes wrong in this way; none where no setting does.
    """

    name: str
    failure: int | None
    advice: str
    apart: str
    settings: Mapping[str, str] = field(default_factory=dict)


_SMALL = {"data": "moons", "epochs": "20"}
KNOWN: Mapping[str, Known] = {
    "climbing": Known(
        "The step has the wrong sign", 18,
        "Look at the sign of the loss and of the update: weights go against the gradient.",
        "With the wrong sign a rate ten times smaller only makes the loss climb more slowly.",
    ),
    "piling": Known(
        "Gradients pile up: zero_grad is not called", 6,
        "Call optimizer.zero_grad() before every backward().",
        "Print the gradient norm of the first ten steps: without zero_grad it grows even with a rate of 0.",
    ),
    "nan": Known(
        "An operation gave inf or NaN: log(0), sqrt(0), 0/0", 9,
        "Run once with torch.autograd.set_detect_anomaly(True): it names the operation.",
        "With a rate ten times smaller it still happens.",
    ),
    "rate-high": Known(
        "The learning rate is too high", 17,
        "Divide the learning rate by 10, and again until the curve is smooth.",
        "With a tenth of the rate it is gone.",
        _SMALL | {"lr": "30", "optimizer": "sgd"},
    ),
    "scale": Known(
        "Numbers far too large from the start: inputs not scaled, or first weights too large", None,
        "Print x.mean() and x.std() of a batch, which should be near 0 and 1, and leave the weights as PyTorch "
        "initialises them.",
        "The very first loss, before any step, is huge already.",
        _SMALL | {"init": "normal", "hidden": "64 64"},
    ),
    "exploding": Known(
        "Gradients explode", None,
        "Clip them: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0), before the step.",
        "The gradient norm of each layer grows from the last layer to the first.",
        _SMALL | {"init": "normal", "hidden": "64 64"},
    ),
    "flat": Known(
        "Weights that all begin at zero", 16,
        "Leave the weights as PyTorch initialises them, at random.",
        "Print layer.weight.std() before the training: it is 0.",
        _SMALL | {"init": "zeros"},
    ),
    "dying": Known(
        "A layer of relu units is dead", 14,
        "Start again with a smaller rate, or with LeakyReLU.",
        "Print (h > 0).float().mean() of each hidden layer: it is 0.",
        _SMALL | {"lr": "10", "optimizer": "sgd", "hidden": "16 16"},
    ),
    "vanishing": Known(
        "Gradients vanish on their way back", 15,
        "Use ReLU instead of sigmoid or tanh, fewer layers, or skip connections.",
        "The gradient norm of each layer shrinks from the last layer to the first.",
        _SMALL | {"hidden": "16 16 16 16 16", "activation": "sigmoid", "init": "xavier"},
    ),
    "frozen": Known(
        "No parameter moves: the optimizer does not hold them, or no gradient reaches them", 19,
        "Print a weight before and after optimizer.step(), and len(list(model.parameters())).",
        "A weight is bit for bit the same after a step.",
    ),
    "softmax-twice": Known(
        "Softmax before cross_entropy, which applies its own", 25,
        "Give cross_entropy the logits: take the softmax out of the model.",
        "Look at the last layer of the model. Label smoothing has such a floor, too, and is no mistake.",
    ),
    "labels": Known(
        "The labels do not belong to their samples", None,
        "Look at ten samples with their labels as the loss gets them, after the shuffling.",
        "Train on twenty samples: they can be learned by heart, and others are no better than chance.",
        {"data": "moons", "noise": "2", "epochs": "40", "hidden": "64 64"},
    ),
    "rate-low": Known(
        "The learning rate is too low", None,
        "Multiply the learning rate by 10, until the curve bends.",
        "With ten times the rate the loss falls about ten times as fast.",
        _SMALL | {"lr": "0.00001"},
    ),
    "batch-noise": Known(
        "Single batches are too noisy for this rate", None,
        "Use larger batches, or let the rate fall during the training.",
        "With batches ten times as large the curve is smooth at the same rate.",
        _SMALL | {"batch_size": "1", "lr": "0.03"},
    ),
    "overfitting": Known(
        "The network overfits", None,
        "Stop at the lowest validation loss; more samples, weight decay or dropout move that point.",
        "The training loss goes on falling while the validation loss rises.",
        {"data": "moons", "samples": "50", "noise": "0.5", "hidden": "64 64", "epochs": "200", "lr": "0.01"},
    ),
    "underfitting": Known(
        "The network underfits", None,
        "Use a larger network, or inputs that say more.",
        "A network twice as wide gets further.",
        {"data": "circles", "hidden": "", "epochs": "60"},
    ),
    "collapsed": Known(
        "Weight decay has pulled the weights to zero", None,
        "Divide the weight decay by 100.", "Without it, it is gone.",
    ),
    "clipped": Known(
        "Clipping holds the training back", None, "Clip less.", "Without clipping, the loss falls faster."
    ),
    "noise": Known(
        "The labels are noisy", None, "Look at the training samples that the network gets wrong.",
        "Some of their labels are plainly wrong.",
    ),
}  # fmt: skip
# Keys of rules, here and the doctor's, of what is known by another key.
_AS_HERE = {"chance": "labels", "swinging": "rate-high"}


@dataclass(frozen=True)
class Cause:
    """key: of KNOWN; evidence: sentences with numbers; at: where on the curve it begins to show, or None; sure: do
    these numbers speak for this cause itself, or is it one of several that look the same? advice: what to do; of a run of this
    trainer, with its own settings."""

    key: str
    evidence: tuple[str, ...]
    at: float | None
    sure: bool
    advice: str

    @property
    def known(self) -> Known:
        return KNOWN[self.key]


@dataclass(frozen=True)
class Answer:
    """What a curve says. causes: the likeliest first; unseen: what could not be seen, and why; log: lines of PyTorch
    that would make it visible next time; notes: how the text was read. No cause means that nothing was seen."""

    curve: Curve
    causes: tuple[Cause, ...]
    unseen: tuple[str, ...]
    log: tuple[str, ...]
    notes: tuple[str, ...]
    ended: str  # where a loss ceases to be a number, in words, or ""


def of_text(source: str | bytes) -> Answer:
    """What a CSV or lines of JSON say. Raises CurveError."""
    return of_table(read(source))


def of_table(table: Table) -> Answer:
    curve = Curve.of(table)
    with np.errstate(all="ignore"):  # a share of zero is nan or inf, which no rule takes for something
        causes = _causes(examine(curve, OF_A_CURVE), curve)
    return Answer(curve, causes, *_not_seen(curve), (*table.notes, *curve.notes), _ended(curve))


def of_run(folder: Path) -> Answer:
    """What the run of this trainer in a folder says: the doctor sees all of it. Raises RunError, ConfigError."""
    run = RunFolder(folder)
    return of_records(run.records(), run.config())


def of_records(records: Sequence[Record], config: Config) -> Answer:
    """The same of records and settings. Raises CurveError where there are none."""
    if not records:
        raise CurveError("This run has no complete epoch yet: let it train for one.")
    curve = Curve(records, config, "epoch", [float(record["epoch"]) for record in records])
    causes = tuple(
        Cause(_of_here(finding), finding.evidence, float(finding.epoch), True, finding.remedy)
        for finding in diagnose(records, config)
        if not finding.well
    )
    return Answer(curve, causes, (), (), (), _ended(curve))


def _of_here(finding: Finding) -> str:
    """The key of what the doctor found in a run of this trainer. Why numbers ended, the settings say that it would
    change."""
    if finding.key == "overflow":
        return "rate-high" if "lr" in finding.settings else "scale" if "init" in finding.settings else "nan"
    return _AS_HERE.get(finding.key, finding.key)


# ---------------------------------------------------------------- a curve as the doctor reads it


class Curve(History):
    """The columns of a curve as those of a run. What it lacks is nan, or has no columns.

    unit: what a row is: an "epoch", a "block" of steps, or a "row". places: where it lies on the axis of the curve.
    scatter: see `_scatter`. first: the loss and the gradient norm of the very first step, where steps are logged.
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
    ) -> None:
        super().__init__(records, config)
        self.first = first
        self.unit = unit
        self.places = list(places)
        self.scatter = scatter
        self.notes = list(notes)
        if names:
            self.layers = list(names)
        self.total = np.array([_float(cast(Any, record).get("total_norm")) for record in records])

    @classmethod
    def of(cls, table: Table) -> Curve:
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
        return cls(records, config, unit, places, _scatter(table, groups), notes, layers, start if single else None)

    @cached_property
    def classes(self) -> int | None:
        """Among how many classes a guess costs what the loss begins with, if it does; else None."""
        if "weight_histogram" in self.records[0]:
            return _classes_of(self)
        value = float(self.loss[0])  # before anything is learned, it is that or a little more
        count = math.floor(math.exp(value) + 0.2) if 0.5 < value < math.log(MOST_CLASSES) else 0
        return count if count > 1 else None

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


def _classes_of(curve: Curve) -> int | None:
    return History(curve.records, curve.config).classes


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


# ---------------------------------------------------------------- what only a curve needs


def _asked(find: Callable[[Curve], Evidence | None]) -> Callable[[History], Evidence | None]:
    """A symptom of a curve, as the doctor's table has it."""
    return lambda h: find(cast(Curve, h))


def _g(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}g}"


def _evidence(c: Curve, at: int, *sentences: str) -> Evidence:
    return Evidence(sentences, c.epochs[at])


def _end(c: Curve) -> int | None:
    bad = np.flatnonzero(~np.isfinite(c.loss) | ~np.isfinite(c.val_loss))
    return int(bad[0]) if bad.size else None


def _has_grown(c: Curve, end: int) -> bool:
    """Was it on its way up before it ceased to be a number? A curve that ends at once had no time to show it."""
    series = [c.loss[:end], c.total[:end], *([c.norms[:end].max(axis=1)] if c.norms.size else [])]
    for values in series:
        finite = values[np.isfinite(values)]
        if len(finite) > 1 and finite[-1] > max(RISE * finite.min(), finite[0]):
            return True
    return end < 2 or bool(c.loss[0] > 50)


def ended_sudden(c: Curve) -> Evidence | None:
    """It ceases to be a number in the middle of a run that went well."""
    end = _end(c)
    return None if end is None or _has_grown(c, end) else symptoms.overflow(c)


def ended_grown(c: Curve) -> Evidence | None:
    end = _end(c)
    return symptoms.overflow(c) if end is not None and _has_grown(c, end) else None


def piling(c: Curve) -> Evidence | None:
    """Gradients grow from epoch to epoch, and the loss does not settle. By layer, or all together."""
    loss = c.loss[np.isfinite(c.loss)]
    if len(loss) < FEWEST + 1 or loss[-WINDOW:].mean() < 1.3 * loss.min() or loss[1:].min() > loss[0]:
        return None
    lowest = int(np.argmin(loss))
    highest = lowest + int(np.argmax(loss[lowest:]))
    if loss[lowest] < 0.3 * loss[0] and loss[highest] > 1.5 * loss[0]:
        return _evidence(
            c, lowest,
            f"The loss had fallen from {_g(loss[0])} to {_g(loss[lowest])} in epoch {c.epochs[lowest]}, and went up to "
            f"{_g(loss[highest])} from there: the steps have become larger and larger.",
        )  # fmt: skip
    if c.norms.size:
        return symptoms.piling(c)
    norms = c.total[np.isfinite(c.total)]
    if len(norms) < FEWEST + 1:
        return None
    first, last = float(norms[0]), float(np.median(norms[-WINDOW:]))
    if not (last >= symptoms.GROWTH * first and last >= symptoms.BAND[1]):
        return None
    at = int(np.argmax(norms >= symptoms.GROWTH * first))
    return _evidence(
        c, at,
        f"The loss had fallen to {_g(loss.min())}, and is at {_g(loss[-WINDOW:].mean())} in the end; the gradient norm "
        f"grows from {_g(first, 2)} in epoch {c.epochs[0]} to {_g(last, 2)}.",
    )  # fmt: skip


def climbing(c: Curve) -> Evidence | None:
    """The loss rises from the very first on, part by part of the curve."""
    loss = c.loss[np.isfinite(c.loss)]
    if len(loss) < FEWEST + 1 or int(np.argmin(loss)) > 1 or (c.first and c.loss[0] > RISE * c.first[0]):
        return None
    parts = [float(np.median(part)) for part in np.array_split(loss, min(5, len(loss)))]
    if not all(a < b for a, b in pairwise(parts)) or parts[-1] < 1.2 * parts[0] or loss[0] > 15:
        return None
    accuracy = ""
    if c.scored_in_training and c.train_score[-1] < c.train_score[0]:
        accuracy = f" Training accuracy falls with it, from {c.train_score[0]:.0%} to {c.train_score[-1]:.0%}."
    return _evidence(
        c, 0, f"The training loss climbs from its first value, {_g(loss[0])}, to {_g(loss[-1])}.{accuracy}"
    )


def huge_start(c: Curve) -> Evidence | None:
    """The first loss is far beyond guessing, before any step could throw it there, or comes down from there by itself.

    Of a loss without accuracies nobody knows what guessing costs: it may measure something in thousands.
    """
    first, norm = c.first or (float(c.loss[0]), math.nan)
    norms = np.array([norm, c.total[0], *(c.norms[0] if c.norms.size and not c.first else [])])
    norm = float(np.max(norms[np.isfinite(norms)], initial=0.0))
    finite = c.loss[np.isfinite(c.loss)]
    if not math.isfinite(first) or first < 10:
        return None
    comes_down = len(finite) == len(c.loss) and float(np.median(finite[-WINDOW:])) < 0.5 * first
    if not c.scored_in_training and (comes_down or not c.first):
        return None
    if not norm > LARGE_NORM and not (comes_down and c.learned):
        return None
    gradient = f" The gradient norm is {_g(norm, 2)} there." if norm else ""
    where = "In the first step" if c.first else f"In epoch {c.epochs[0]}"
    return _evidence(c, 0, f"{where} the loss is {_g(first)}: guessing among ten classes costs 2.3.{gradient}")


def thrown(c: Curve) -> Evidence | None:
    """The loss jumps far beyond where guessing lies, and what comes after is no better than guessing."""
    finite = c.loss[np.isfinite(c.loss)]
    if len(finite) < FEWEST or c.learned:
        return None
    early = finite[: max(FEWEST, len(finite) // 3)]
    worst, rest = int(np.argmax(early)), float(np.median(finite[-WINDOW:]))
    begun = c.first[0] if c.first else float(early[0])
    jumped = early[worst] > RISE * begun and rest > 0.8 * begun
    if not jumped and not (c.scored_in_training and early[worst] > max(15.0, 5 * rest)):
        return None
    came = f", after {_g(begun)} at first" if begun < early[worst] else ""
    return _evidence(
        c, worst,
        f"In epoch {c.epochs[worst]} the loss is {_g(early[worst])}{came}, and {_g(rest)} in the end: the first steps "
        "went much too far.",
    )  # fmt: skip


def swinging(c: Curve) -> Evidence | None:
    """Where there is a validation loss it swings as well: the mean over the batches of an epoch is never at rest."""
    if c.falling > CREEP:
        return None
    recent = c.val_loss[np.isfinite(c.val_loss)][-len(symptoms.recent_loss(c)) :]
    if c.config.val_fraction and not symptoms.swings(recent, symptoms.SWING):
        return None
    return symptoms.swinging(c)


def cut_off(c: Curve) -> tuple[int, str] | None:
    """The first epoch from which on no gradient reaches a hidden layer, and the layer."""
    if c.norms.shape[1] < 2 or _end(c) is not None:
        return None
    for layer in range(c.norms.shape[1] - 1):
        column = c.norms[:, layer]
        zero = column <= 1e-12
        if zero[-1] and not c.learned:
            since = len(zero) - int(np.argmin(np.r_[zero[::-1], False]))
            return since, c.layers[layer]
    return None


def no_gradient(c: Curve) -> Evidence | None:
    """No gradient has ever reached any hidden layer, as where all weights are zero."""
    found = cut_off(c)
    if found is None or found[0] > 0 or np.any(c.norms[:, :-1] > 1e-12):
        return None
    return _evidence(
        c, 0, f"The gradient norm of every layer but the last is exactly 0 from epoch {c.epochs[0]} on, and the loss "
        f"stays at {_g(c.loss[-1])}."
    )  # fmt: skip


def cut_later(c: Curve) -> Evidence | None:
    """A layer gets no gradient any more, or never did while others do."""
    found = cut_off(c)
    if found is None:
        return None
    since, layer = found
    return _evidence(c, since, f"The gradient norm of {layer} is exactly 0 from epoch {c.epochs[since]} on.")


def late_explosion(c: Curve) -> Evidence | None:
    """A norm far beyond what is usual, in a run that has not learned."""
    if c.learned or (len(c) >= 2 * WINDOW and c.falling > STILL):
        return None
    return symptoms.exploding(c)


def scatters(c: Curve) -> Evidence | None:
    """Single steps lie far from their mean, and the means do not get anywhere any more."""
    if not c.scatter >= SCATTER or len(c) < 2 * WINDOW or c.learned:
        return None
    first, last = float(c.loss[0]), float(c.loss[-WINDOW:].mean())
    if not last > 0.2 * first or not (abs(c.falling) < 0.15 or symptoms.swinging(c)):
        return None
    return _evidence(
        c, len(c) // 2,
        f"Single steps lie {c.scatter:.0%} from the mean of their epoch, and the means have come from {_g(first)} to "
        f"{_g(last)} only.",
    )  # fmt: skip


def frozen(c: Curve) -> Evidence | None:
    """The loss is the same in every epoch, to the last digit."""
    loss = c.smooth
    if len(loss) < FEWEST + 1 or not np.isfinite(loss).all() or np.ptp(loss) > SAME * abs(loss.mean()):
        return None
    which = "validation" if c.config.val_fraction else "training"
    norm = c.total[np.isfinite(c.total)]
    gradients = f" Gradients are there: their norm is {_g(float(norm[-1]), 2)}." if norm.size and norm[-1] > 0 else ""
    return _evidence(
        c, 0, f"The {which} loss is {_g(loss[0], 6)} in each of {len(loss)} epochs, to the last digit.{gradients}"
    )


def second_softmax(c: Curve) -> Evidence | None:
    """The answers are right, but the loss stands at a floor: where a softmax of a softmax has its own.

    Logits between 0 and 1 cost at least log(1 + (n - 1)/e) among n classes, and 1 more where the answer is wrong.
    """
    if len(c) < 2 * WINDOW or not abs(c.falling) < STILL:
        return None
    accuracy = float(c.train_score[-WINDOW:].mean())
    if not accuracy >= 0.7:
        return None
    loss = float(c.loss[-WINDOW:].mean())
    highest = float(np.nanmax(c.loss))
    for count in range(2, MOST_CLASSES):
        floor = math.log1p((count - 1) / math.e)
        if abs(loss - floor - (1 - accuracy)) < FLOOR and highest <= floor + 1 + FLOOR:
            return _evidence(
                c, len(c) // 2,
                f"Training accuracy is {accuracy:.0%}, and yet the loss stands still at {_g(loss)}: with two softmaxes "
                f"{count} classes cannot cost less than {_g(floor)}.",
            )  # fmt: skip
    return None


def vanishing(c: Curve) -> Evidence | None:
    return None if cut_off(c) else symptoms.vanishing(c)


def learned_nothing_else(c: Curve) -> Evidence | None:
    """Training samples are learned, and others never did any better than at first."""
    if not c.config.val_fraction or len(c) < 2 * WINDOW or _end(c) is not None:
        return None
    gained = 1 - c.loss[-WINDOW:].mean() / c.loss[0]
    classes, middle = c.classes, float(np.median(c.val_score))
    if gained < 0.15 or not classes or c.val_loss.min() < 0.9 * c.guess or not middle <= 1.5 / classes:
        return None
    return _evidence(
        c, 0,
        f"The training loss falls by {gained:.0%}, but the validation loss was never below {_g(c.val_loss.min())}, "
        f"and guessing among {classes} classes costs {_g(c.guess)}. Validation accuracy is {middle:.0%}, and guessing "
        f"gives {1 / classes:.0%}.",
    )  # fmt: skip


def _stands(c: Curve) -> bool:
    """Has the loss never gone anywhere, from its first epoch on?"""
    if len(c) < 2 * FEWEST or _end(c) is not None or c.learned:
        return False
    loss = c.smooth
    first, last = loss[:WINDOW].mean(), loss[-WINDOW:].mean()
    if np.isfinite(c.train_score).any() and c.train_score[-WINDOW:].mean() - c.train_score[0] > 0.15:
        return False
    return bool(abs(1 - last / first) < STANDS and loss.max() - loss.min() < 2 * STANDS * abs(first))


def creeping(c: Curve) -> Evidence | None:
    """The loss falls in nearly every epoch, evenly, and by next to nothing."""
    loss = c.smooth
    if len(loss) < 2 * FEWEST or _end(c) is not None or c.learned:
        return None
    steps, middle = np.diff(loss), len(loss) // 2
    fell = 1 - loss[-1] / loss[0]
    early, late = loss[0] - loss[middle], loss[middle] - loss[-1]
    if np.mean(steps < 0) < 0.8 or not 0 < fell < CREEP or late < 0.35 * early:
        return None
    return _evidence(
        c, 0,
        f"The loss creeps from {_g(loss[0], 4)} to {_g(loss[-1], 4)} in {len(loss)} epochs, evenly and without a bend.",
    )  # fmt: skip


def stands_lively(c: Curve) -> Evidence | None:
    """It stands still though gradients reach every layer, as the log says."""
    if not _stands(c) or not c.norms.size or not c.norms[-WINDOW:].min() >= symptoms.BAND[0]:
        return None
    return _evidence(
        c, 0, f"{_stays(c)} Gradients reach every layer: the smallest norm is {_g(float(c.norms[-1].min()), 2)}."
    )


def stands(c: Curve) -> Evidence | None:
    return _evidence(c, 0, _stays(c)) if _stands(c) else None


def _stays(c: Curve) -> str:
    loss = c.smooth
    guess = f", and guessing among {c.classes} classes costs {_g(c.guess)}" if c.classes else ""
    return f"The loss stays between {_g(float(loss.min()))} and {_g(float(loss.max()))} from the first epoch on{guess}."


def overfitting(c: Curve) -> Evidence | None:
    """Where the answers on validation samples are as right as ever, a loss that rises a little is no alarm."""
    if not c.config.val_fraction:
        return None
    score, loss = c.val_score[-WINDOW:].mean(), c.val_loss
    if score >= symptoms.LEARNED and score >= np.max(c.val_score) - symptoms.LOST and loss[-1] < 1.5 * loss.min():
        return None
    return symptoms.overfitting(c)


def underfitting(c: Curve) -> Evidence | None:
    """As the doctor's, but by the validation loss, which is smoother than what other trainers write of training."""
    if not c.scored_in_training or c.learned or len(c) < symptoms.STILL_LONG or _end(c) is not None:
        return None
    width = len(c) // 4
    before, now = c.smooth[-2 * width : -width].mean(), c.smooth[-width:].mean()
    if not abs(1 - now / before) < STILL:
        return None
    which = "validation" if c.config.val_fraction else "training"
    return _evidence(
        c, len(c) - 2 * width,
        f"Training accuracy stands at {c.train_score[-width:].mean():.0%}, and the {which} loss hardly changes any "
        f"more: {_g(before)} on average from epoch {c.epochs[-2 * width]} to {c.epochs[-width - 1]}, {_g(now)} since.",
    )  # fmt: skip


def _known(key: str) -> Callable[[History], Remedy]:
    return lambda _: Remedy(KNOWN[_AS_HERE.get(key, key)].advice)


def _rule(key: str, find: Callable[[Curve], Evidence | None], instrument: str, *brings: str) -> Rule:
    return Rule(key, KNOWN[_AS_HERE.get(key, key)].name, _asked(find), _known(key), instrument, frozenset(brings))


_STUCK = ("labels", "rate-low", "underfitting", "overfitting", "stands")
_WILD = ("rate-high", "scale", "exploding", "vanishing", "dying", "batch-noise", "nan", *_STUCK)
# Causes before consequences, as the doctor's own table.
OF_A_CURVE = (
    _rule("climbing", climbing, "loss", "piling", *_WILD),
    _rule("scale", huge_start, "loss", "piling", *_WILD),
    _rule("piling", piling, "norms", *_WILD),
    _rule("nan", ended_sudden, "loss", *_WILD),
    _rule("rate-high", ended_grown, "loss", *_WILD),
    _rule("rate-high", thrown, "loss", *_WILD),
    _rule("frozen", frozen, "loss", "flat", "dying", *_STUCK),
    _rule("flat", no_gradient, "norms", "dying", "vanishing", *_STUCK),
    _rule("dying", symptoms.dead_layer, "dead units", "vanishing", "rate-high", *_STUCK),
    _rule("dying", cut_later, "norms", "vanishing", "rate-high", *_STUCK),
    _rule("softmax-twice", second_softmax, "loss", *_STUCK),
    _rule("batch-noise", scatters, "loss", "rate-high", *_STUCK),
    _rule("swinging", swinging, "loss", "rate-high", "batch-noise", "exploding", *_STUCK),
    _rule("exploding", late_explosion, "norms", *_STUCK),
    _rule("dying", symptoms.dying, "dead units", "vanishing", *_STUCK),
    _rule("vanishing", vanishing, "norms", *_STUCK),
    _rule("rate-low", symptoms.slow, "updates", *_STUCK),
    _rule("rate-low", creeping, "loss", *_STUCK),
    _rule("labels", stands_lively, "loss", *_STUCK),
    _rule("labels", learned_nothing_else, "loss", *_STUCK),
    _rule("overfitting", overfitting, "gap", "underfitting"),
    _rule("labels", stands, "loss", *_STUCK),
    _rule("underfitting", underfitting, "loss"),
)
# What the same numbers may also be, the likeliest first.
ALSO: Mapping[str, tuple[str, ...]] = {
    "climbing": ("rate-high",),
    "scale": ("rate-high",),
    "piling": ("rate-high",),
    "nan": ("rate-high",),
    "rate-high": ("scale", "piling"),
    "swinging": ("batch-noise", "piling"),
    "frozen": ("rate-low",),
    "flat": ("dying",),
    "dying": ("flat",),
    "softmax-twice": (),
    "batch-noise": ("rate-high",),
    "rate-low": ("vanishing", "labels"),
    "labels": ("rate-low", "vanishing", "flat"),
}


def _causes(found: Sequence[Finding], curve: Curve) -> tuple[Cause, ...]:
    """The findings, and after the first what its numbers may also be."""
    causes: dict[str, Cause] = {}
    for finding in found:
        key = _AS_HERE.get(finding.key, finding.key)
        also = _also(finding.key, curve)
        sentences = tuple(curve.says(sentence) for sentence in finding.evidence)
        causes.setdefault(key, Cause(key, sentences, curve.place(finding.epoch), not also, finding.remedy))
        if finding is found[0]:
            causes |= {key: Cause(key, (), None, False, KNOWN[key].advice) for key in also if key not in causes}
    return tuple(causes.values())


def _also(key: str, curve: Curve) -> tuple[str, ...]:
    if key == "labels" and not _stands(curve):
        return ("overfitting",)
    keys = ALSO.get(key, ())
    if curve.loss[0] < HUGE:
        keys = tuple(key for key in keys if key != "scale")
    if key in ("labels", "rate-low") and curve.norms.shape[1] > 1:
        return tuple(key for key in keys if key not in ("vanishing", "flat"))  # the norms would show them
    return keys


# ---------------------------------------------------------------- what could not be seen


def _not_seen(c: Curve) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the columns do not tell, and lines of PyTorch that log it."""
    unseen, log = [], []
    if not c.config.val_fraction:
        unseen.append("Overfitting: there is no validation loss.")
        log.append("val_loss = criterion(model(x_val), y_val)  # under torch.no_grad(), once per epoch")
    if not c.scored_in_training:
        unseen.append("Underfitting, and softmax before cross_entropy: there is no training accuracy.")
        log.append("accuracy = (out.argmax(1) == y).float().mean()")
    if c.norms.shape[1] < 2:
        unseen.append("Vanishing gradients, zero weights and dead layers: there is no gradient norm of each layer.")
        log.append("norms = {name: p.grad.norm().item() for name, p in model.named_parameters()}  # after backward()")
    if not c.norms.size and not np.isfinite(c.total).any():
        unseen.append("Gradients that pile up while the loss still falls: there is no gradient norm.")
    if not c.updates.size:
        unseen.append("How large the steps are: there is no ratio of update to weight.")
        log.append("ratio = (lr * p.grad.norm() / p.norm()).item()  # plain SGD; about 0.001 is usual")
    if len(c) < symptoms.STILL_EPOCHS:
        unseen.append(f"What takes time to show: the curve has only {len(c)} points to compare.")
    unseen.append("Wrong labels that are few, leaks from training into validation, and what the code does otherwise.")
    return tuple(unseen), tuple(log)


def _ended(c: Curve) -> str:
    end = _end(c)
    diverged = bool(c.records[-1].get("diverged"))
    if end is None and not diverged:
        return ""
    end = len(c) - 1 if end is None else end
    return f"From {c.unit} {c.epochs[end]} on the loss is no longer a number."
