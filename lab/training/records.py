"""The record of an epoch as a typed class, and a check whether JSON from a file is such a record.

Its keys are those of metrics.jsonl. Charts, the doctor, the shelf and TensorBoard read only these records.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict, TypeGuard, cast, get_args

import numpy as np

from lab.text import percent_text, with_minus
from lab.training.config import Config

# Names of fields, as types of arguments
Curve = Literal["epoch", "train_loss", "val_loss", "train_accuracy", "val_accuracy"]
LayerCurve = Literal["grad_norm", "update_ratio", "dead_units", "saturated"]
Counted = Literal["weight_histogram", "gradient_histogram"]


class Histogram(TypedDict):
    """The number of values in each bin between two edges, and the numbers below the first and above the last edge."""

    edges: list[float]
    counts: list[int]  # one fewer than edges
    below: int
    above: int


def total(histogram: Histogram) -> int:
    """Return the number of values in a histogram."""
    return sum(histogram["counts"]) + histogram["below"] + histogram["above"]


def share_near_zero(histogram: Histogram) -> float:
    """Return the share of the values that lie in the two bins around 0."""
    counts = histogram["counts"]
    half = len(counts) // 2
    return (counts[half - 1] + counts[half]) / max(total(histogram), 1)  # values that are nan lie in no bin


def root_mean_square(histogram: Histogram) -> float:
    """Return the root mean square of the values, each taken to lie in the middle of its bin."""
    edges = np.array(histogram["edges"])
    middles = np.r_[edges[0], (edges[1:] + edges[:-1]) / 2, edges[-1]]
    counts = np.array([histogram["below"], *histogram["counts"], histogram["above"]])
    return math.sqrt(float(counts @ middles**2) / max(total(histogram), 1))


Measure = float | None  # None stands for inf and nan, which JSON does not have
PerLayer = dict[str, Measure]
SharePerHiddenLayer = dict[str, float]  # of all layers but the last, from 0 to 1
Histograms = dict[str, Histogram]  # per layer


class Baseline(TypedDict):
    """Loss and accuracy of the best answer that ignores the inputs.

    The losses: when the class shares of the training samples are the predicted probabilities; in a regression, when
    the prediction is their mean. The accuracies: of the commonest class; None in a regression.
    """

    baseline_train_loss: float
    baseline_val_loss: float
    baseline_train_accuracy: float | None
    baseline_val_accuracy: float | None


class Origin(Baseline):
    """What a run is judged against: the untrained network, and the answer that ignores the inputs."""

    train_loss: Measure  # of the untrained network, like the next three
    val_loss: Measure
    train_accuracy: float | None
    val_accuracy: float | None
    train_samples: int
    val_samples: int  # 0 if none is held out
    classes: int  # 0 in a regression


class Measured(TypedDict):
    """Measurements of a network at any moment, also before the first batch."""

    epoch: int  # number of complete epochs
    train_loss: Measure  # mean cross-entropy; in a regression mean squared error: always guessing the mean has 1
    val_loss: Measure
    train_accuracy: float | None  # share of the samples classified correctly, from 0 to 1; None in a regression
    val_accuracy: float | None
    gap: Measure  # train_accuracy - val_accuracy: 0.1 is a gap of ten points
    dead_units: SharePerHiddenLayer  # share of the units whose output is the same for all samples
    saturated: SharePerHiddenLayer  # share of outputs in the flat ends of tanh or sigmoid; 0 for other activations
    weight_histogram: Histograms  # with the same edges in all epochs of a run


class Record(Measured, total=False):
    """Measurements at the end of an epoch, and of the training during the epoch; it can be written as JSON directly.

    Of the fields listed here, the record of epoch 0 (untrained) has `origin` only; a slim record has no histograms.
    """

    grad_norm: PerLayer  # norm of the gradient of weights and biases before clipping, averaged over the batches
    gradient_histogram: Histograms  # of the weights alone, in the last batch, before clipping; same edges in all runs
    update_ratio: PerLayer  # norm of the last step's change of the weights, over the norm of the weights
    lr: float  # learning rate of the last step
    clipped: float  # share of the steps whose gradients were clipped
    best: bool  # True for the best epoch so far, by validation accuracy, then by loss
    since_best: int  # epochs since the best one so far; training stops when they reach the patience
    diverged: bool  # True if the loss became inf or nan: this is the last record
    seconds: float  # duration of the epoch
    changed: dict[str, float | None]  # settings that changed before this epoch (see `Config.changes`) and their values
    origin: Origin  # the same in all records of a run


FIELDS = frozenset(Record.__annotations__)  # those of Measured among them
BULKY = frozenset(get_args(Counted))  # they take most of a record's size, and of the time to read it


def slim(records: Sequence[Record]) -> list[Record]:
    """Return the records without their histograms, so that many fit into memory."""
    return [cast(Record, {name: value for name, value in record.items() if name not in BULKY}) for record in records]


def column(records: Sequence[Record], name: Curve) -> np.ndarray:
    """Collect one field of all records into an array (epochs,). None, which stands for inf or nan, becomes nan."""
    return np.array([record[name] for record in records], dtype=float)


def is_regression(record: Measured) -> bool:
    return record["train_accuracy"] is None


def is_comparable(one: Sequence[Measured], other: Sequence[Measured]) -> bool:
    """Return True if both runs have records, of the same kind: losses and scores of other kinds have no common axis."""
    return bool(one and other) and is_regression(one[0]) == is_regression(other[0])


def score(record: Record, part: Literal["train", "val"]) -> float:
    """Return a score of at most 1: the accuracy, or in a regression R² (see `r_squared`)."""
    known: Mapping[str, Any] = record
    accuracy: float | None = known[f"{part}_accuracy"]
    if accuracy is not None:
        return accuracy
    origin = known.get("origin")  # which a log from elsewhere lacks
    return r_squared(known[f"{part}_loss"], origin[f"baseline_{part}_loss"] if origin else 1.0)


def r_squared(loss: Measure, of_the_mean: float) -> float:
    """Return the share of a squared error that a regression saves: 0 for one that always answers with the mean.

    loss: the regression's; None for inf or nan. of_the_mean: the mean's on the same samples; the mean itself is that
    of the training samples.
    """
    if loss is None or not of_the_mean > 0:
        return -math.inf
    return 1 - loss / of_the_mean


def scores(records: Sequence[Record], part: Literal["train", "val"]) -> np.ndarray:
    """Collect the scores of all records into an array (epochs,), nan where the loss is not finite."""
    values = np.array([score(record, part) for record in records], dtype=float)
    return np.where(np.isfinite(values), values, np.nan)


def best_text(records: Sequence[Record], config: Config) -> str:
    """Describe the best score of a run: "best validation accuracy 97.1%", "... R² 0.940" or "no complete epoch"."""
    if not records:
        return "no complete epoch"
    part = "validation" if config.val_fraction else "training"
    best = max(score(record, "val") for record in records)
    scored = with_minus(f"R² {best:.3f}") if is_regression(records[0]) else f"accuracy {percent_text(best, 1)}"
    return f"best {part} {scored}"


def ending(config: Config, records: Sequence[Record]) -> str:
    """Return how a run ended: "trained", "stopped early" or "diverged"; "" while it has not ended."""
    last = records[-1]
    if last["diverged"]:
        return "diverged"
    if last["epoch"] >= config.epochs:
        return "trained"
    return "stopped early" if config.patience is not None and last["since_best"] >= config.patience else ""


def is_record(value: Any, epoch: int, layers: Sequence[str], histograms: bool = True) -> TypeGuard[Record]:
    """Return True if a value has the keys of a record of this epoch, from 1 on, with these layers (and histograms).

    The values are not checked.
    """
    if not isinstance(value, dict) or value.get("epoch") != epoch:
        return False
    keys: dict[str, Iterable[str]] = dict.fromkeys((*get_args(LayerCurve), *BULKY), layers)
    keys |= {"dead_units": layers[:-1], "saturated": layers[:-1], "origin": Origin.__annotations__}
    names = FIELDS if histograms else FIELDS - BULKY
    return names <= value.keys() and all(
        isinstance(value[name], dict) and value[name].keys() == {*inside}
        for name, inside in keys.items()
        if name in names
    )
