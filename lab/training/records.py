"""The record of an epoch: what it says, in one class, and whether what was read from a file is one.

Its keys are those of metrics.jsonl. Charts, the doctor, the shelf, TensorBoard and the report read nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypedDict, TypeGuard, cast, get_type_hints

import numpy as np

from lab.text import with_minus
from lab.training.config import LIVE, Config, is_int, is_number

# Names of fields, for whoever takes one as an argument
Curve = Literal["epoch", "train_loss", "val_loss", "train_accuracy", "val_accuracy"]
LayerCurve = Literal["grad_norm", "update_ratio", "dead_units", "saturated"]
Counted = Literal["weight_histogram", "gradient_histogram"]


class Histogram(TypedDict):
    """How many values lie in each bin between two edges, and how many lie below and above all of them."""

    edges: list[float]
    counts: list[int]  # one fewer than edges
    below: int
    above: int


# The kinds of what is measured. `is_record` tells them apart, and TensorBoard and others take all of a kind.
Share = Annotated[float, "from 0 to 1"]
Score = Annotated[float | None, "from 0 to 1; None in a regression"]
Measure = float | None  # None where it is inf or nan, which JSON cannot say
PerLayer = dict[str, Measure]
SharePerHiddenLayer = Annotated[dict[str, float], "of all layers but the last, from 0 to 1"]
Histograms = dict[str, Histogram]  # per layer
Changed = Annotated[dict[str, float | None], "a setting -> its value from then on"]


class Origin(TypedDict):
    """What a run is judged against: the untrained network, and the answer that never looks at the inputs (see
    `Baseline` in data_card.py)."""

    train_loss: Measure  # before the first step, as the next three
    val_loss: Measure
    train_accuracy: float | None
    val_accuracy: float | None
    baseline_train_loss: float
    baseline_val_loss: float
    baseline_train_accuracy: float | None
    baseline_val_accuracy: float | None
    train_samples: int
    val_samples: int  # 0 where none is held out
    classes: int  # 0 in a regression


class Measured(TypedDict):
    """A network at any moment; before the first batch, too."""

    epoch: int  # how many are complete
    train_loss: Measure  # mean cross-entropy; in a regression mean squared error, 1 for who always guesses the mean
    val_loss: Measure
    train_accuracy: Score  # of the samples classified correctly
    val_accuracy: Score
    gap: Measure  # train_accuracy - val_accuracy: 0.1 is a gap of ten points
    dead_units: SharePerHiddenLayer  # of the units, whose output is the same for all samples
    saturated: SharePerHiddenLayer  # of the outputs, in the flat ends of tanh or sigmoid; 0 for other activations
    weight_histogram: Histograms  # between edges that stay the same all through the run


class Record(Measured, total=False):
    """A network at the end of an epoch, and how it got there. It is JSON as it stands.

    The record of epoch 0, before the training, has nothing of this second part; a slim record has no histograms.
    """

    grad_norm: PerLayer  # of the gradient of weights and biases before clipping, averaged over the batches
    gradient_histogram: Histograms  # of the weights alone, in the last batch before clipping; all runs have these edges
    update_ratio: PerLayer  # how far the last step moved the weights, over their norm
    lr: float  # of the last step
    clipped: Share  # of the steps, whose gradients were clipped
    best: bool  # the best epoch so far? By validation accuracy, then by loss
    since_best: int  # epochs since the best so far: with this many, patience is compared
    diverged: bool  # did the loss stop being a number? Then this is the last record
    seconds: float  # spent on the epoch
    changed: Changed  # settings that changed before this epoch (see `Config.changes`)
    origin: Origin  # the same in all records of a run


FIELDS: Mapping[str, Any] = MappingProxyType(get_type_hints(Record, include_extras=True))  # name -> its kind


def fields_of(*kinds: Any) -> tuple[str, ...]:
    """The names of all that is of one of these kinds."""
    return tuple(name for name, kind in FIELDS.items() if kind in kinds)


BULKY = frozenset(fields_of(Histograms))  # most of a record, and of the time to read one


ADDED = frozenset({"origin", "changed"})  # which runs of earlier versions lack


def slim(records: Sequence[Record]) -> list[Record]:
    """The records without their histograms, to be kept in numbers."""
    return [cast(Record, {name: value for name, value in record.items() if name not in BULKY}) for record in records]


def column(records: Sequence[Record], name: Curve) -> np.ndarray:
    """A number of all records, (epochs,). None, which stands for inf or nan, becomes nan."""
    return np.array([record[name] for record in records], dtype=float)


def is_regression(record: Measured) -> bool:
    return record["train_accuracy"] is None


def score(record: Measured, part: Literal["train", "val"]) -> float:
    """How well it does, at most 1: its accuracy, or in a regression R², the share of the variance that it explains."""
    accuracy, loss = (
        (record["train_accuracy"], record["train_loss"])
        if part == "train"
        else (record["val_accuracy"], record["val_loss"])
    )
    return accuracy if accuracy is not None else -math.inf if loss is None else 1 - loss


def scores(records: Sequence[Measured], part: Literal["train", "val"]) -> np.ndarray:
    """The scores of all records, (epochs,); nan where there is none."""
    values = np.array([score(record, part) for record in records], dtype=float)
    return np.where(np.isfinite(values), values, np.nan)


def score_text(value: float, record: Measured) -> str:
    """A score of that record's kind, such as "accuracy 97.1%" or "R² 0.94"."""
    return with_minus(f"R² {value:.3f}") if is_regression(record) else f"accuracy {value:.1%}"


def best_text(records: Sequence[Record], config: Config) -> str:
    """The best validation of a run: "best validation accuracy 97.1%"; nothing of a run without an epoch."""
    if not records:
        return "no complete epoch"
    part = "validation" if config.val_fraction else "training"
    return f"best {part} {score_text(max(score(record, 'val') for record in records), records[0])}"


def ending(config: Config, records: Sequence[Record]) -> str:
    """How a run ended: "trained", "stopped early" or "diverged"; an empty text while it has not."""
    last = records[-1]
    if last["diverged"]:
        return "diverged"
    if last["epoch"] >= config.epochs:
        return "trained"
    return "stopped early" if config.patience is not None and last["since_best"] >= config.patience else ""


# ---------------------------------------------------------------- is it a record?

LARGEST = 1e39  # no float32 is larger


def is_record(value: Any, epoch: int, layers: Sequence[str], whole: bool = True) -> TypeGuard[Record]:
    """Is this the record of an epoch, from 1 on, of a network with these layers? Not `whole`: histograms aside."""
    return (
        isinstance(value, dict)
        and all(
            (name in value and _IS[kind](value[name], layers)) or (name in ADDED and name not in value)
            for name, kind in FIELDS.items()
            if whole or name not in BULKY
        )
        and value["epoch"] == epoch
        and len({value[name] is None for name in ("train_accuracy", "val_accuracy", "gap")}) == 1  # all in a regression
        and (epoch > 1 or value["best"])
    )


def _is_share(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 1


def _is_measure(value: Any) -> bool:
    return value is None or (is_number(value) and abs(value) <= LARGEST)


def _is_count(value: Any) -> bool:
    return is_int(value) and value <= LARGEST


def _is_histogram(value: Any) -> bool:
    if not isinstance(value, dict) or not value.keys() >= Histogram.__annotations__.keys():
        return False
    edges, counts = value["edges"], value["counts"]
    return (
        isinstance(edges, list)
        and isinstance(counts, list)
        and len(edges) == len(counts) + 1 > 1
        and all(map(_is_count, [*counts, value["below"], value["above"]]))
        and all(is_number(edge) and abs(edge) <= LARGEST for edge in edges)
        and all(low < high for low, high in pairwise(edges))
    )


def _is_origin(value: Any) -> bool:
    kinds = get_type_hints(Origin)
    return (
        isinstance(value, dict)
        and list(value) == list(kinds)
        and all(_is_count(value[name]) for name, kind in kinds.items() if kind is int)
        and all(_is_measure(value[name]) for name, kind in kinds.items() if kind == Measure)
        and all(is_number(value[name]) for name, kind in kinds.items() if kind is float)
    )


def _per(layers: Sequence[str], value: Any, is_right: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and list(value) == list(layers) and all(map(is_right, value.values()))


_IS: Mapping[Any, Callable[[Any, Sequence[str]], bool]] = MappingProxyType(
    {
        int: lambda value, _: _is_count(value),
        bool: lambda value, _: isinstance(value, bool),
        float: lambda value, _: is_number(value),
        Share: lambda value, _: _is_share(value),
        Score: lambda value, _: value is None or _is_share(value),
        Measure: lambda value, _: _is_measure(value),
        PerLayer: lambda value, layers: _per(layers, value, _is_measure),
        SharePerHiddenLayer: lambda value, layers: _per(layers[:-1], value, _is_share),
        Histograms: lambda value, layers: _per(layers, value, _is_histogram),
        Origin: lambda value, _: _is_origin(value),
        Changed: lambda value, _: (
            isinstance(value, dict) and value.keys() <= set(LIVE) and all(map(_is_measure, value.values()))
        ),
    }
)
