"""Runs whose illness is known, because it was given to them: really trained, each with one cause, on small data.

`test_doctor.py` reads a part of them, `benchmarks/doctor.py` all of them, on two sets of seeds: the thresholds of the
doctor were set while looking at runs of TUNED and the few hundred seeds after it, and never at those of HELD_OUT.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lab.training.config import Config
from lab.training.datasets import load_dataset
from lab.training.doctor import diagnose
from lab.training.records import Record
from train import Trainer, train

TUNED, HELD_OUT = 0, 1000  # the first seed of each set; every run has one of its own
FIRST = 3  # epoch from which a prefix counts


@dataclass(frozen=True)
class Labelled:
    """A run, what is wrong with it ("healthy": nothing), and the doctor's first word after each epoch."""

    cause: str
    records: list[Record]
    config: Config
    words: list[str]

    @property
    def due(self) -> int:
        """The epoch by which the cause has shown itself: that of the last record at the latest."""
        by = DUE[self.cause]
        if self.cause == "overfitting":  # within ten epochs of its best
            by += int(np.argmin([record["val_loss"] for record in self.records])) + 1
        return min(by, len(self.records))


def labelled(first_seed: int, every: int = 1) -> Iterator[Labelled]:
    """Train them all, or every second, third, ... of each cause."""
    runs = [(cause, settings) for cause, some in (CAUSES | {"healthy": WELL}).items() for settings in some]
    for index, (cause, settings) in enumerate(runs):
        if index % every == 0:
            records, config = trained(first_seed + index, **settings)
            words = [diagnose(records[:count], config)[0].key for count in range(1, len(records) + 1)]
            yield Labelled(cause, records, config, words)


NEUTRAL = ("healthy", "settled", "few", "unsettled", "learning", "early")


@dataclass(frozen=True)
class Score:
    """in_time: ill runs, named right in the epoch by which their cause has shown itself; false: prefixes of healthy
    runs with an alarm; elsewhere: prefixes of ill runs that name another cause than theirs."""

    ill: int
    in_time: int
    healthy: int
    false: int
    later: int  # prefixes of ill runs from that epoch on
    right_later: int
    sooner: int  # and those before it
    wrong_sooner: int

    def __str__(self) -> str:
        return (
            f"{self.in_time} of {self.ill} causes named by the time their evidence is there "
            f"({self.in_time / self.ill:.1%}); {self.right_later} of {self.later} prefixes from then on right "
            f"({self.right_later / self.later:.1%}); {self.wrong_sooner} of {self.sooner} before then name another "
            f"cause; false alarms on {self.false} of {self.healthy} healthy prefixes "
            f"({self.false / max(1, self.healthy):.2%})"
        )


def score(runs: Sequence[Labelled]) -> Score:
    ill = [run for run in runs if run.cause != "healthy"]
    healthy = [word for run in runs if run.cause == "healthy" for word in run.words[FIRST - 1 :]]
    later = [word == run.cause for run in ill for word in run.words[run.due - 1 :]]
    sooner = [word not in (*NEUTRAL, run.cause) for run in ill for word in run.words[FIRST - 1 : run.due - 1]]
    return Score(
        ill=len(ill),
        in_time=sum(run.words[run.due - 1] == run.cause for run in ill),
        healthy=len(healthy),
        false=sum(word not in NEUTRAL for word in healthy),
        later=len(later),
        right_later=sum(later),
        sooner=len(sooner),
        wrong_sooner=sum(sooner),
    )


def matrix(runs: Sequence[Labelled], epoch: int | None) -> str:
    """Causes against the doctor's words after an epoch, or after the last; of runs that had ended, their last word."""
    said = Counter((run.cause, run.words[min(epoch or len(run.words), len(run.words)) - 1]) for run in runs)
    words = [word for word in (*CAUSES, *NEUTRAL, "clipped", "chance") if any(word == name for _, name in said)]
    lines = ["cause".ljust(13) + "".join(f"{word[:11]:>12}" for word in words)]
    lines += [
        cause.ljust(13) + "".join(f"{said[cause, word] or '.':>12}" for word in words) for cause in (*CAUSES, "healthy")
    ]
    return "\n".join(lines)


SGD = {"optimizer": "sgd"}
SMALL = ("moons", "circles", "xor", "blobs", "spirals", "digits")


def trained(
    seed: int,
    *,
    mislabelled: float = 0.0,
    train_samples: int | None = None,
    bias: float = 0.0,
    **settings: Any,
) -> tuple[list[Record], Config]:
    """Train for real. mislabelled: share of wrong labels; train_samples: their number; bias: of hidden units."""
    config = Config(**{"hidden": (32, 32), "epochs": 15, **settings, "seed": seed})
    data = load_dataset(config)
    rng = np.random.default_rng(seed)

    def with_noise(labels):
        if not mislabelled:
            return labels
        shift = rng.integers(1, len(data.classes), len(labels))
        return np.where(rng.random(len(labels)) < mislabelled, (labels + shift) % len(data.classes), labels)

    data = replace(data, train_x=data.train_x[:train_samples], train_y=with_noise(data.train_y[:train_samples]))
    trainer = Trainer(config, data)
    for layer in trainer.model.layers[:-1]:
        layer.bias.data = layer.bias.numpy() + bias
    return list(train(config, trainer)), config


def largest_rise(records):
    return max(np.diff([record["train_loss"] for record in records]))


def fraction_of_the_gradient_that_arrives(records):
    norms = list(records[-1]["grad_norm"].values())
    return norms[0] / norms[-1]


def drift(records):
    return records[-1]["val_loss"] - records[-1]["train_loss"]


BETTER = {  # verdict -> what it is about, as a number that a remedy makes smaller
    "rate-high": largest_rise,
    "rate-low": lambda records: records[-1]["train_loss"],
    "flat": lambda records: -records[-1]["grad_norm"]["layer1"],
    "vanishing": lambda records: -fraction_of_the_gradient_that_arrives(records),
    "exploding": lambda records: max(records[-1]["grad_norm"].values()) + drift(records),
    "dying": lambda records: max(records[-1]["dead_units"].values()),
    "overfitting": drift,
    "overflow": lambda records: records[-1]["diverged"],
    "clipped": lambda records: records[-1]["train_loss"],
    "collapsed": lambda records: records[-1]["train_loss"],
    "underfitting": lambda records: -records[-1]["train_accuracy"],
    "settled": lambda records: records[-1]["val_loss"],
    "learning": lambda records: -records[-1]["train_accuracy"],
}


CAUSES = {
    "rate-high": [
        {"data": "moons", **SGD, "lr": 10.0, "activation": "tanh"},
        {"data": "digits", "lr": 0.1, "activation": "tanh"},
        {"data": "xor", **SGD, "lr": 8.0, "activation": "tanh"},
        {"data": "digits", **SGD, "lr": 5.0, "activation": "tanh"},
        {"data": "circles", "lr": 1.0, "activation": "tanh"},
        {"data": "digits", "lr": 0.1},
    ],
    "rate-low": [
        {"data": "moons", **SGD, "lr": 1e-4},
        {"data": "circles", **SGD, "lr": 1e-4},
        {"data": "digits", **SGD, "lr": 1e-4},
        {"data": "digits", "lr": 1e-6},
        {"data": "xor", "lr": 1e-5},
        {"data": "spirals", **SGD, "lr": 1e-4},
    ],
    "flat": [{"data": data, "init": "zeros", "lr": 0.01} for data in SMALL],
    "overflow": [
        {"data": "moons", **SGD, "lr": 300.0, "activation": "leaky_relu"},
        {"data": "xor", **SGD, "lr": 100.0, "activation": "leaky_relu"},
        {"data": "digits", **SGD, "lr": 100.0, "activation": "identity"},
        {"data": "circles", **SGD, "lr": 1000.0, "activation": "leaky_relu"},
        {"data": "spirals", **SGD, "lr": 300.0, "activation": "leaky_relu"},
        {"data": "digits", **SGD, "lr": 30.0, "momentum": 0.9, "activation": "leaky_relu"},
    ],
    "exploding": [
        {"data": "moons", "init": "normal", "hidden": (64, 64, 64, 64), **SGD, "lr": 1e-5},
        {"data": "digits", "init": "normal", "hidden": (64, 64, 64)},
        {"data": "digits", "init": "normal", "hidden": (128, 128), **SGD, "lr": 1e-4},
        {"data": "spirals", "init": "normal", "hidden": (64, 64, 64, 64), **SGD, "lr": 1e-5},
        {"data": "circles", "init": "normal", "hidden": (64, 64, 64), **SGD, "lr": 1e-4},
        {"data": "xor", "init": "normal", "hidden": (64, 64, 64), **SGD, "lr": 1e-5},
    ],
    "vanishing": [
        {"data": "moons", "hidden": (16,) * 6, "activation": "sigmoid", **SGD, "lr": 0.1},
        {"data": "digits", "hidden": (32,) * 6, "activation": "sigmoid", **SGD, "lr": 0.1},
        {"data": "spirals", "hidden": (16,) * 8, "activation": "sigmoid"},
        {"data": "circles", "hidden": (16,) * 8, "activation": "sigmoid", **SGD, "lr": 0.1},
        {"data": "xor", "hidden": (16,) * 6, "activation": "sigmoid", **SGD, "lr": 0.1},
        {"data": "digits", "hidden": (32,) * 5, "activation": "sigmoid", **SGD, "lr": 0.05},
    ],
    "dying": [
        {"data": "moons", "bias": -3.0},
        {"data": "digits", "bias": -3.0},
        {"data": "xor", "bias": -4.0},
        {"data": "circles", "bias": -4.0},
        {"data": "blobs", "bias": -4.0, **SGD, "lr": 0.05},
        {"data": "spirals", "bias": -3.0},
    ],
    "collapsed": [
        {"data": "moons", **SGD, "lr": 0.1, "weight_decay": 0.2},
        {"data": "digits", **SGD, "lr": 0.1, "weight_decay": 0.2},
        {"data": "digits", "weight_decay": 1.0},
        {"data": "spirals", **SGD, "lr": 0.1, "weight_decay": 0.2},
        {"data": "circles", **SGD, "lr": 0.1, "weight_decay": 0.5},
        {"data": "xor", **SGD, "lr": 0.1, "weight_decay": 0.1},
    ],
    "overfitting": [
        {"data": "digits", "train_samples": 60, "lr": 0.01, "epochs": 30},
        {"data": "digits", "train_samples": 100, "lr": 0.003, "epochs": 30},
        {"data": "digits", "train_samples": 80, "lr": 0.003, "epochs": 30, "activation": "tanh"},
        {"data": "spirals", "train_samples": 40, "lr": 0.01, "epochs": 60, "batch_size": 10},
        {"data": "digits", "train_samples": 40, "lr": 0.003, "epochs": 40},
        {"data": "xor", "hidden": (64, 64), "lr": 0.01, "epochs": 60, "val_fraction": 0.95},
    ],
    "noise": [
        {"data": "moons", "mislabelled": 0.3, "lr": 0.005},
        {"data": "digits", "mislabelled": 0.3, "lr": 0.005},
        {"data": "digits", "mislabelled": 0.3, "lr": 0.002, "activation": "tanh"},
        {"data": "xor", "mislabelled": 0.3, "lr": 0.005},
        {"data": "circles", "mislabelled": 0.3, "lr": 0.005},
        {"data": "blobs", "mislabelled": 0.3, "lr": 0.005},
    ],
    "underfitting": [  # what draws straight lines only: a loss between plain and learned may be that of the noise
        {"data": data, "lr": 0.01, "epochs": 30} | settings
        for data in ("circles", "xor")
        for settings in (
            {"hidden": ()},
            {"hidden": (), **SGD, "lr": 0.1},
            {"hidden": (), "batch_size": 64, "lr": 0.03},
            {"hidden": (), "noise": 0.2},
            {"activation": "identity"},
            {"activation": "identity", **SGD, "lr": 0.05},
            {"activation": "identity", "hidden": (16,)},
            {"activation": "identity", "hidden": (16,), **SGD, "lr": 0.1},
            {"activation": "identity", "hidden": (8, 8, 8)},
            {"activation": "identity", "hidden": (64,), "lr": 0.003},
        )
    ],
}
WELL = [
    *({"data": data, "lr": 0.01} for data in SMALL),
    *({"data": data, **SGD, "lr": 0.1, "epochs": 40 if data == "spirals" else 15} for data in SMALL),
    *({"data": data, "hidden": (128, 64), "epochs": 30} for data in SMALL),  # as the command line has them
    *({"data": data, "activation": "tanh", "lr": 0.01} for data in ("moons", "circles", "xor", "digits")),
    *({"data": data, "hidden": (16, 16), "lr": 0.01, "epochs": 20} for data in ("moons", "circles", "xor", "blobs")),
    {"data": "digits"},
    {"data": "digits", "hidden": (64,)},
    {"data": "digits", **SGD, "lr": 0.02, "momentum": 0.9},
    {"data": "moons", "hidden": (16,), "lr": 0.02},
    {"data": "blobs", "hidden": (), "lr": 0.01},
    {"data": "digits", "hidden": ()},
    {"data": "circles", "activation": "leaky_relu", "lr": 0.01, "batch_size": 64},
    {"data": "spirals", "activation": "tanh", "lr": 0.01, "epochs": 60},
    {"data": "moons", "activation": "sigmoid", "lr": 0.02, "epochs": 30},
    {"data": "digits", "activation": "sigmoid", "hidden": (32,), "lr": 0.01},
    {"data": "moons", **SGD, "lr": 0.05, "epochs": 30},
    {"data": "digits", **SGD, "lr": 0.1, "schedule": "cosine"},
    {"data": "circles", "lr": 0.01, "warmup": 4, "epochs": 20},
    {"data": "xor", "lr": 0.01, "weight_decay": 0.001},
]
# The epoch by which the evidence of a cause is there
DUE = {
    "rate-high": 10,  # to swing takes time
    "rate-low": 3,
    "flat": 3,
    "overflow": 1,
    "exploding": 3,
    "vanishing": 3,
    "dying": 3,
    "collapsed": 10,  # weight decay pulls from epoch to epoch
    "overfitting": 10,  # epochs after the lowest validation loss
    "noise": 15,  # the right labels have to be learned first
    "underfitting": 20,  # a plateau has to last
}
