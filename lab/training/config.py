"""The settings of a training run: what they may be, and a sentence for what they may not."""

from __future__ import annotations

import difflib
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any, cast

from lab.training.features import FEATURES
from model import ACTIVATIONS, INITS

DEFAULT_LR = MappingProxyType({"adam": 0.001, "sgd": 0.05})
TASKS = ("classification", "regression")
SKIP = ("no", "yes")
SCHEDULES = ("constant", "step", "cosine")
MOST_NOISE, FEWEST_SAMPLES = 10.0, 10  # of generated data: with more noise or fewer points nothing is left to learn


LIVE = ("lr", "momentum", "weight_decay", "l1", "batch_size", "clip", "noise")  # what can change while a network trains
Change = tuple[int, str, Any]  # after so many epochs, a setting and its value


class ConfigError(ValueError):
    """A setting cannot be used. The message is one sentence for the learner: what is wrong, and what to do.

    setting: the field of Config that it begins with, as an option of the command line; problem: the rest of the
    sentence. With no setting the problem is all of it.
    """

    def __init__(self, problem: str, setting: str = "") -> None:
        super().__init__(f"--{setting.replace('_', '-')} {problem}" if setting else problem)
        self.setting, self.problem = setting, problem


@dataclass(frozen=True)
class Config:
    """Everything that determines a run. Raises ConfigError for a setting that makes no sense.

    changes: what changes while the run trains, as (epoch, setting, value): after so many epochs the setting, one of
    LIVE, has this value. `at` gives the settings of an epoch.

    hidden: the widths of the hidden layers; none at all is softmax regression. lr: None takes the optimizer's default.
    clip: the largest norm of all gradients together; None does not clip. target: the label column of a CSV file.
    features: of two inputs x and y, what the network gets (see features.py); empty: the inputs as they are.
    skip: "yes" adds what a hidden layer gets to what it gives, where both have the same width.
    task: what a CSV file is for, one of TASKS; None: regression where its target is measured, and else classification.
    noise, samples: of generated data, the deviation that blurs its points and how many there are; None: as usual.
    weight_decay: this share of each weight is added to its gradient, which pulls it towards 0.
    l1: so many times the sum of the weights' absolute values, biases left out, is added to the loss that a step lowers.
    schedule, warmup: how the learning rate changes (see `learning_rate`). patience: stop after so many epochs without
    a better one; None does not stop early.
    """

    data: str = "digits"
    data_dir: str | None = None
    target: str | None = None
    task: str | None = None
    noise: float | None = None
    samples: int | None = None
    hidden: tuple[int, ...] = (128, 64)
    features: tuple[str, ...] = ()
    skip: str = "no"
    activation: str = "relu"
    init: str = "he"
    optimizer: str = "adam"
    lr: float = cast(float, None)
    schedule: str = "constant"
    warmup: int = 0
    momentum: float = 0.0
    weight_decay: float = 0.0
    l1: float = 0.0
    clip: float | None = None
    batch_size: int = 32
    epochs: int = 20
    patience: int | None = None
    seed: int = 0
    val_fraction: float = 0.2
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        for name, text in (("data", self.data), ("data_dir", self.data_dir), ("target", self.target)):
            require(isinstance(text, str) or (text is None and name != "data"), "must be a text.", name)
        require(
            self.noise is None or (is_number(self.noise) and 0 <= self.noise <= MOST_NOISE),
            f"must be a number from 0 to {MOST_NOISE:g}, not {shown(self.noise)}: try 0.2.",
            "noise",
        )
        require(
            isinstance(self.hidden, (list, tuple)) and all(is_whole(width, 1) for width in self.hidden),
            f"must be whole numbers from 1 (the widths of the layers), not {shown(self.hidden)}: "
            f"write for example 64 32.",
            "hidden",
        )
        object.__setattr__(self, "hidden", tuple(self.hidden))  # a list comes from JSON and from the command line
        require(
            isinstance(self.features, (list, tuple)) and len(set(self.features)) == len(self.features),
            f"must be different names, not {shown(self.features)}: write for example x y x2.",
            "features",
        )
        for name in self.features:
            _require_one_of("features", name, tuple(FEATURES))
        object.__setattr__(self, "features", tuple(self.features))
        if self.task is not None:
            _require_one_of("task", self.task, TASKS)
        _require_one_of("skip", self.skip, SKIP)
        _require_one_of("activation", self.activation, ACTIVATIONS)
        _require_one_of("init", self.init, INITS)
        _require_one_of("optimizer", self.optimizer, tuple(DEFAULT_LR))
        if self.lr is None:
            object.__setattr__(self, "lr", DEFAULT_LR[self.optimizer])
        require(
            is_number(self.lr) and self.lr > 0,
            f"must be a positive number, not {shown(self.lr)}: try {DEFAULT_LR[self.optimizer]}.",
            "lr",
        )
        require(
            is_number(self.momentum) and 0 <= self.momentum < 1,
            f"must be at least 0 and less than 1, not {shown(self.momentum)}: try 0.9.",
            "momentum",
        )
        require(
            self.optimizer == "sgd" or self.momentum == 0,
            "belongs to sgd, and adam has its own: choose the optimizer sgd, or no momentum.",
            "momentum",
        )
        require(
            is_number(self.weight_decay) and self.weight_decay >= 0,
            f"must be a number from 0, not {shown(self.weight_decay)}: try 0.01.",
            "weight_decay",
        )
        require(is_number(self.l1) and self.l1 >= 0, f"must be a number from 0, not {shown(self.l1)}: try 0.001.", "l1")
        require(
            self.clip is None or (is_number(self.clip) and self.clip > 0),
            f"must be a positive number, not {shown(self.clip)}: try 1.",
            "clip",
        )
        for name, value, low in (
            ("batch_size", self.batch_size, 1),
            ("epochs", self.epochs, 1),
            ("warmup", self.warmup, 0),
            ("patience", 1 if self.patience is None else self.patience, 1),
            ("samples", FEWEST_SAMPLES if self.samples is None else self.samples, FEWEST_SAMPLES),
            ("seed", self.seed, 0),
        ):
            require(is_whole(value, low), f"must be a whole number from {low}, not {shown(value)}.", name)
        _require_one_of("schedule", self.schedule, SCHEDULES)
        require(
            self.warmup < self.epochs,
            f"must be less than the {self.epochs} epochs, not {self.warmup}.",
            "warmup",
        )
        require(
            is_number(self.val_fraction) and 0 <= self.val_fraction < 1,
            f"must be a number from 0 (hold out nothing) to below 1, not {shown(self.val_fraction)}: try 0.2.",
            "val_fraction",
        )

        self._check_changes()

    def _check_changes(self) -> None:
        listed = (list, tuple)  # JSON may hold anything else
        good = isinstance(self.changes, listed) and all(isinstance(change, listed) for change in self.changes)
        object.__setattr__(self, "changes", tuple(map(tuple, self.changes)) if good else (self.changes,))
        last = 0
        for change in self.changes:
            require(
                good and len(change) == 3 and is_whole(change[0], max(last, 1)) and change[1] in LIVE,
                f"must be the epoch after which a setting changes, and its new value, in the order of the epochs, not "
                f"{shown(change)}: write for example 5:lr=0.01. Settings that can change are {', '.join(LIVE)}.",
                "changes",
            )
            last = change[0]
            replace(self, changes=(), **{change[1]: change[2]})  # raises ConfigError

    def at(self, epochs: float) -> Config:
        """The settings in force after so many epochs, as those of a run without changes."""
        if not self.changes:
            return self
        made = {name: value for after, name, value in self.changes if after <= epochs}
        return replace(self, changes=(), **made)

    @property
    def latest(self) -> Config:
        """The settings in force at the end of the run."""
        return self.at(math.inf)

    @property
    def layer_names(self) -> list[str]:
        """What the records call the layers, the output layer last."""
        return [f"layer{number}" for number in range(1, len(self.hidden) + 2)]

    def to_json(self) -> dict[str, Any]:
        lists = {"hidden": list(self.hidden), "features": list(self.features)}
        return asdict(self) | lists | {"changes": [list(change) for change in self.changes]}

    @classmethod
    def from_json(cls, settings: dict[str, Any]) -> Config:
        """The inverse of `to_json`. A setting that is missing has its default, one that is unknown is an error."""
        unknown = sorted(settings.keys() - {field.name for field in fields(cls)})
        require(not unknown, f"There is no setting called {', '.join(map(repr, unknown))}: remove it from config.json.")
        return cls(**settings)


def require(condition: bool, problem: str, setting: str = "") -> None:
    if not condition:
        raise ConfigError(problem, setting)


def _require_one_of(name: str, value: Any, choices: Sequence[str]) -> None:
    if value in choices:
        return
    close = difflib.get_close_matches(str(value).lower(), choices, n=1)
    hint = f"did you mean {close[0]}?" if close else f"choose one of {', '.join(choices)}."
    raise ConfigError(f"cannot be {shown(value)}: {hint}", name)


def is_number(value: Any) -> bool:
    """An int or a float, neither nan nor beyond any float; a bool is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def is_whole(value: Any, low: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


def widths(text: str) -> tuple[int, ...]:
    """The widths of hidden layers from a text such as "64 32", "64, 32", "64-32" or "". Raises ConfigError."""
    words = re.split(r"[\s,;]+|(?<=\d)[x-](?=\d)", text.strip()) if text.strip() else []
    hidden: Any = tuple(int(word) if word.isascii() and word.isdecimal() else word for word in words)
    return Config(hidden=hidden).hidden


def shown(value: Any) -> str:
    """A value as it was given on the command line, for a sentence about it: "64 32", "'moons'"."""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else repr(value)


def said(value: Any) -> str:
    """A setting in words, to be compared with another: "64-32", "0.001", "none"."""
    if isinstance(value, (list, tuple)):
        return (changes_text(value) if value and isinstance(value[0], tuple) else sizes_text(value)) or "none"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def changes_text(changes: Sequence[Change]) -> str:
    """Changes as the command line takes them: "5:lr=0.01 8:clip=1.0"."""
    return " ".join(f"{after}:{name.replace('_', '-')}={value}" for after, name, value in changes)


def parse_change(text: str) -> Change:
    """The inverse for one change. Raises ConfigError."""
    after, colon, change = text.partition(":")
    name, equals, value = change.partition("=")
    name = name.replace("-", "_")
    require(
        bool(colon and equals) and after.isdecimal(), f"{text} is no change: write for example 5:lr=0.01.", "changes"
    )
    require(name in LIVE, f"cannot change {name!r}: choose one of {', '.join(LIVE)}.", "changes")
    try:
        return int(after), name, None if value == "None" else int(value) if name == "batch_size" else float(value)
    except ValueError:
        raise ConfigError(f"{text}: {value!r} is no number.", "changes") from None


def sizes_text(sizes: Sequence[int]) -> str:
    return "-".join(map(str, sizes))


def describe(sizes: Sequence[int], config: Config) -> str:
    """A network and its training in one line; sizes: all widths, from the inputs to the classes."""
    around = f" of {', '.join(config.features)}" if config.features else ""
    around += ", skip connections" if config.skip == "yes" else ""
    more = f", momentum {config.momentum:g}" if config.momentum else ""
    more += f", weight decay {config.weight_decay:g}" if config.weight_decay else ""
    more += f", L1 {config.l1:g}" if config.l1 else ""
    schedule = f" {config.schedule}" if config.schedule != "constant" else ""
    schedule += f" after {epochs_text(config.warmup)} of warm-up" if config.warmup else ""
    return f"{sizes_text(sizes)} {config.activation}{around}, {config.optimizer}, lr {config.lr:g}{schedule}{more}"


def epochs_text(number: int) -> str:
    return f"{number} epoch" if number == 1 else f"{number} epochs"
