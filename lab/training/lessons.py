"""The lessons of the Training lab: settings, a question to guess before the run, and how to judge its records.

The right answer is computed from the records of the run that was watched: with other settings it may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType

from lab.text import layer_name, percent_text
from lab.training.config import Config
from lab.training.records import Curve, Record, score

Answer = tuple[int, str]  # the index of the right answer, and a sentence with the numbers that prove it


@dataclass(frozen=True)
class Lesson:
    """A run to watch, and a question about how it will end.

    answers: two or three; `judge` finds the right one from the records of a finished run, from epoch 1 on.
    """

    config: Config
    judge: Callable[[Sequence[Record]], Answer]
    question: str
    answers: tuple[str, ...]


def _accuracy(records: Sequence[Record]) -> Answer:
    last = score(records[-1], "val")
    return (0 if last < 0.9 else 1 if last < 0.97 else 2), f"validation accuracy ended at {percent_text(last, 1)}."


def _oscillation(records: Sequence[Record]) -> Answer:
    losses = _losses(records, "train_loss")
    if records[-1]["diverged"]:
        return 2, f"the loss was no longer a number in epoch {records[-1]['epoch']}."
    rises = sum(after > before for before, after in pairwise(losses))
    return int(4 * rises > len(losses)), f"the training loss rose in {rises} of {len(losses)} epochs."


def _loss_reduction(records: Sequence[Record]) -> Answer:
    losses = _losses(records, "train_loss")
    share = 1 - losses[-1] / losses[0]
    where = f"the training loss went from {losses[0]:.3g} after the first epoch to {losses[-1]:.3g}, {share:.0%} less."
    return (0 if share < 0.2 else 1 if share < 0.8 else 2), where


def _layers_with_gradient(records: Sequence[Record]) -> Answer:
    norms = records[-1]["grad_norm"]
    moved = [layer for layer, norm in norms.items() if norm]
    listed = ", ".join(f"{layer_name(layer)} {norm or 0:.3g}" for layer, norm in norms.items())
    answer = 0 if len(moved) == len(norms) else 1 if moved else 2
    return answer, f"the gradient norms of the last epoch were {listed}."


def _weakest_layer(records: Sequence[Record]) -> Answer:
    norms = list(records[-1]["grad_norm"].values())
    first, last = norms[0] or 0.0, norms[-1] or 0.0
    answer = 0 if 3 * first < last else 1 if 3 * last < first else 2
    return answer, f"in the last epoch the first layer’s gradient had norm {first:.2g}, the last layer’s {last:.2g}."


def _largest_gradient(records: Sequence[Record]) -> Answer:
    largest = max((norm for norm in records[0]["grad_norm"].values() if norm is not None), default=None)
    if largest is None:
        return 2, "the gradients of the first epoch were not finite."
    return (0 if largest < 1 else 1 if largest < 100 else 2), f"the largest norm of the first epoch was {largest:,.3g}."


def _dead(records: Sequence[Record]) -> Answer:
    share = max(records[-1]["dead_units"].values())
    answer = 0 if share < 0.25 else 1 if share < 0.9 else 2
    return answer, f"{share:.0%} of the units of a layer were dead in the end."


def _validation_loss(records: Sequence[Record]) -> Answer:
    losses = _losses(records, "val_loss")
    low = min(losses)
    at = losses.index(low) + 1
    answer = 0 if losses[-1] < 1.1 * low else 2 if at <= 2 else 1
    return answer, f"the validation loss was lowest in epoch {at} ({low:.3g}) and ended at {losses[-1]:.3g}."


def _explained_variance(records: Sequence[Record]) -> Answer:
    share = score(records[-1], "val")
    noise = NOISE**2 / (NOISE**2 + 0.5)  # the mean square of a sine is 1/2
    sentence = f"validation R² ended at {share:.2f}; noise is {noise:.0%} of the variance, and no curve explains that."
    return (0 if share > 0.98 else 1 if share > 0.8 else 2), sentence


def _losses(records: Sequence[Record], name: Curve) -> list[float]:
    return [loss for record in records if (loss := record[name]) is not None]


NOISE = 0.2  # standard deviation of the noise around the sine
FIRST = Config(data="moons", hidden=(8, 8), lr=0.01, epochs=60)  # the settings of a first visit
WIDER = replace(FIRST, hidden=(16, 16))
DEEP = replace(WIDER, data="circles", hidden=(16,) * 5, activation="sigmoid", init="xavier", optimizer="sgd", lr=0.1)
WILD = replace(WIDER, data="digits", hidden=(64,) * 3, init="normal", optimizer="sgd", lr=0.001, epochs=30)
# Declarations, read by rows
# fmt: off
LESSONS = MappingProxyType({
    "A healthy run": Lesson(FIRST, _accuracy,
        "Where will validation accuracy end?", ("below 90 %", "90 to 97 %", "above 97 %")),
    "Rate too high": Lesson(replace(WIDER, activation="tanh", lr=0.3), _oscillation,
        "A rate 30 times as large: what will the loss do?", ("fall faster", "jump up and down", "become infinite")),
    "Rate too low": Lesson(replace(WIDER, optimizer="sgd", lr=0.0001), _loss_reduction,
        "How much of the loss will be gone after 60 epochs?", ("hardly any", "about half", "nearly all")),
    "All weights zero": Lesson(replace(WIDER, init="zeros"), _layers_with_gradient,
        "Which layers will get a gradient?", ("all three", "the last one alone", "none")),
    "Vanishing gradients": Lesson(DEEP, _weakest_layer,
        "Which layer will get the smallest gradient?", ("the first", "the last", "all about the same")),
    "Exploding gradients": Lesson(WILD, _largest_gradient,
        "How large will the largest gradient norm of the first epoch be?", ("below 1", "1 to 100", "above 100")),
    "A layer dies": Lesson(replace(WIDER, data="digits", hidden=(32, 32), lr=0.3, epochs=30), _dead,
        "How many units of the worst layer will be dead in the end?", ("few", "about half", "nearly all")),
    "Overfitting": Lesson(replace(WIDER, data="xor", hidden=(64, 64), epochs=150, val_fraction=0.95), _validation_loss,
        "50 samples to train on: what will the validation loss do?",
        ("fall to the end", "fall, then rise", "rise from the start")),
    "A noisy curve": Lesson(
        replace(WIDER, data="sine", noise=NOISE, hidden=(32, 32), activation="tanh", schedule="cosine"),
        _explained_variance,
        "How much of the targets’ variance will the curve explain (R²)?", ("all of it", "a little less", "about half")),
})
