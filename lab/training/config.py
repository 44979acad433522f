"""The settings of a training run: their limits, and an error that explains a value outside them."""

from __future__ import annotations

import difflib
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any, cast

from lab.training.features import FEATURES
from nn import ACTIVATIONS, INITS

DEFAULT_LR = MappingProxyType({"adam": 0.001, "sgd": 0.05})
TASKS = ("classification", "regression")
SKIP = ("no", "yes")
SCHEDULES = ("constant", "step", "cosine")
MAX_NOISE, MIN_SAMPLES = 10.0, 10  # of generated data: beyond these limits there is nothing left to learn


LIVE = ("lr", "momentum", "weight_decay", "l1", "batch_size", "clip", "noise")  # settings that can change in training
Change = tuple[int, str, Any]  # the epoch after which it applies, the setting, its new value


CHOICES: Mapping[str, Sequence[str]] = MappingProxyType(
    {"task": TASKS, "skip": SKIP, "activation": ACTIVATIONS, "init": INITS, "schedule": SCHEDULES}
    | {"optimizer": tuple(DEFAULT_LR)}
)
# Setting, which numbers it can have, what to say of others, and one to try; None: the usual learning rate
NUMBERS: Sequence[tuple[str, Callable[[float], bool], str, float | None]] = (
    ("noise", lambda value: 0 <= value <= MAX_NOISE, f"a number from 0 to {MAX_NOISE:g}", 0.2),
    ("lr", lambda value: value > 0, "a positive number", None),
    ("momentum", lambda value: 0 <= value < 1, "at least 0 and less than 1", 0.9),
    ("weight_decay", lambda value: value >= 0, "at least 0", 0.01),
    ("l1", lambda value: value >= 0, "at least 0", 0.001),
    ("clip", lambda value: value > 0, "a positive number", 1),
    ("val_fraction", lambda value: 0 <= value < 1, "at least 0 (hold out nothing) and less than 1", 0.2),
)
MIN_INTS = {"batch_size": 1, "epochs": 1, "warmup": 0, "patience": 1, "samples": MIN_SAMPLES, "seed": 0}


class ConfigError(ValueError):
    """A setting cannot be used. The message is one sentence for the learner: what is wrong, and what to do.

    setting: the field of Config at fault; the message begins with its command-line option. problem: the rest of the
    message, or all of it if no setting is given.
    """

    def __init__(self, problem: str, setting: str = "") -> None:
        super().__init__(f"--{setting.replace('_', '-')} {problem}" if setting else problem)
        self.setting, self.problem = setting, problem


@dataclass(frozen=True)
class Config:
    """Everything that determines a run. Raises ConfigError for a setting that makes no sense.

    changes: settings that change during training, as (epoch, setting, value): after that many epochs the setting (one
    of LIVE) takes this value. `at` returns the settings in force at an epoch.

    hidden: the widths of the hidden layers; () is softmax regression. lr: None takes the optimizer's default.
    clip: the largest norm of all gradients together; None does not clip. target: the label column of a CSV file.
    features: features computed from the two inputs x and y (see features.py); () feeds the inputs as they are.
    skip: "yes" adds a hidden layer's input to its output where both have the same width.
    task: one of TASKS, for a CSV file; None: regression if its target is a measured number, otherwise classification.
    drop, keep: columns of a CSV file that are left out, or used where they would be left out.
    noise, samples: standard deviation of the noise and number of points of generated data; None takes the default.
    weight_decay: this share of each weight is added to its gradient, which pulls it towards 0.
    l1: factor of the L1 penalty, the sum of the absolute weights (biases left out) that is added to the training loss.
    schedule, warmup: how the learning rate changes (see `learning_rate`). patience: stop after this many epochs without
    a better one; None does not stop early.
    """

    data: str = "digits"
    data_dir: str | None = None
    target: str | None = None
    task: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
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
        optional = {field.name for field in fields(self) if field.default is None and getattr(self, field.name) is None}
        for name in ("data", "data_dir", "target"):
            require(name in optional or isinstance(getattr(self, name), str), "must be text.", name)
        for name in ("drop", "keep"):
            names = getattr(self, name)
            right = isinstance(names, (list, tuple)) and all(isinstance(one, str) for one in names)
            require(right, "must be names of columns.", name)
            object.__setattr__(self, name, tuple(names))  # JSON and the command line give lists
        require(
            isinstance(self.hidden, (list, tuple)) and all(is_int(width, 1) for width in self.hidden),
            f"must be whole numbers of at least 1 (the widths of the layers), not {typed(self.hidden)}: "
            f"write for example 64 32.",
            "hidden",
        )
        require(
            isinstance(self.features, (list, tuple))
            and len(self.features) <= len(FEATURES)
            and all(self.features.count(name) == 1 for name in self.features),
            f"must be different names, not {typed(self.features)}: write for example x y x2.",
            "features",
        )
        for name in self.features:
            _require_one_of("features", name, tuple(FEATURES))
        object.__setattr__(self, "hidden", tuple(self.hidden))  # JSON and the command line give lists
        object.__setattr__(self, "features", tuple(self.features))
        for name, choices in CHOICES.items():
            if name not in optional:
                _require_one_of(name, getattr(self, name), choices)
        usual = DEFAULT_LR[self.optimizer]
        if self.lr is None:
            object.__setattr__(self, "lr", usual)
        for name, fits, what, example in NUMBERS:
            value = getattr(self, name)
            right = name in optional or (is_number(value) and fits(value))
            require(right, f"must be {what}, not {typed(value)}: try {example or usual}.", name)
        for name, low in MIN_INTS.items():
            value = getattr(self, name)
            right = name in optional or is_int(value, low)
            require(right, f"must be a whole number of at least {low}, not {typed(value)}.", name)
        require(
            self.optimizer == "sgd" or self.momentum == 0,
            "works only with sgd (adam has its own): choose the optimizer sgd, or no momentum.",
            "momentum",
        )
        require(self.warmup < self.epochs, f"must be less than the {self.epochs} epochs, not {self.warmup}.", "warmup")
        self._check_changes()

    def _check_changes(self) -> None:
        listed = (list, tuple)  # JSON may hold anything else
        good = isinstance(self.changes, listed) and all(isinstance(change, listed) for change in self.changes)
        object.__setattr__(self, "changes", tuple(map(tuple, self.changes)) if good else (self.changes,))
        last = 0
        for change in self.changes:
            require(
                good and len(change) == 3 and is_int(change[0], max(last, 1)) and change[1] in LIVE,
                f"must be the epoch after which a setting changes, and its new value, with later epochs last, not "
                f"{typed(change)}: write for example 5:lr=0.01. Settings that can change are {', '.join(LIVE)}.",
                "changes",
            )
            last = change[0]
            replace(self, changes=(), **{change[1]: change[2]})  # raises ConfigError

    def at(self, epochs: float) -> Config:
        """Return the settings in force after this many epochs, as a Config without changes."""
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
        """Names of the layers in the records, the output layer last."""
        return [f"layer{number}" for number in range(1, len(self.hidden) + 2)]

    def to_json(self) -> dict[str, Any]:
        lists = {name: list(getattr(self, name)) for name in ("hidden", "features", "drop", "keep")}
        return asdict(self) | lists | {"changes": [list(change) for change in self.changes]}

    @classmethod
    def from_json(cls, settings: dict[str, Any]) -> Config:
        """Make a Config from JSON; a missing setting gets its default. Raises ConfigError for an unknown one."""
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
    raise ConfigError(f"cannot be {typed(value)}: {hint}", name)


def is_number(value: Any) -> bool:
    """Return True for a finite int or float; a bool does not count."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def is_int(value: Any, low: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


def parse_widths(text: str) -> tuple[int, ...]:
    """Parse the widths of hidden layers from a text such as "64 32", "64, 32", "64-32" or "". Raises ConfigError."""
    words = re.split(r"[\s,;]+|(?<=\d)[x-](?=\d)", text.strip()) if text.strip() else []
    hidden: Any = tuple(int(word) if re.fullmatch("[0-9]{1,9}", word) else word for word in words)
    return Config(hidden=hidden).hidden


def typed(value: Any) -> str:
    """Format a value as it was typed on the command line, to be quoted in an error: "64 32", "'moons'"."""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else repr(value)


def setting_text(value: Any) -> str:
    """Format the value of a setting for readers: "64-32", "0.001", "none"."""
    if isinstance(value, (list, tuple)):
        return (changes_text(value) if value and isinstance(value[0], tuple) else sizes_text(value)) or "none"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def changes_text(changes: Sequence[Change]) -> str:
    """Format changes as the command line takes them: "5:lr=0.01 8:clip=1.0"."""
    return " ".join(f"{after}:{name.replace('_', '-')}={value}" for after, name, value in changes)


def parse_change(text: str) -> Change:
    """Parse one change such as "5:lr=0.01". Raises ConfigError."""
    after, colon, change = text.partition(":")
    name, equals, value = change.partition("=")
    name = name.replace("-", "_")
    require(
        bool(colon and equals) and after.isdecimal(), f"{text} is not a change: write one such as 5:lr=0.01.", "changes"
    )
    require(name in LIVE, f"cannot change {name!r}: choose one of {', '.join(LIVE)}.", "changes")
    try:
        return int(after), name, None if value == "None" else int(value) if name == "batch_size" else float(value)
    except ValueError:
        raise ConfigError(f"{text}: {value!r} is not a number.", "changes") from None


def sizes_text(sizes: Sequence[int]) -> str:
    return "-".join(map(str, sizes))


def describe(sizes: Sequence[int], config: Config) -> str:
    """Describe a network and its training in one line; sizes: all widths, from the inputs to the classes."""
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
