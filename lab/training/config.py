"""The settings of a training run. Each is declared once: its default, its limits, its help and its label on the page.

The command line makes its options from this declaration, the page its fields, and `Config` its checks. An error names
the setting and says what to write instead.
"""

from __future__ import annotations

import difflib
import math
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from lab.training.features import FEATURES
from nn import ACTIVATIONS, INITS

DEFAULT_LR = MappingProxyType({"adam": 0.001, "sgd": 0.05})
TASKS = ("classification", "regression")
TINY, BELOW_1 = sys.float_info.min, math.nextafter(1.0, 0.0)  # limits that leave 0 and 1 out
MIN_SAMPLES = 10  # generated: with fewer there is nothing left to learn
PAGE_EPOCHS = 300  # that a page accepts, so that one visitor cannot occupy the server
Change = tuple[int, str, Any]  # the epoch after which it applies, the setting, its new value


class ConfigError(ValueError):
    """A setting cannot be used. The message is one sentence for the learner: what is wrong, and what to do.

    setting: the field of Config at fault; the message begins with its command-line option. problem: the rest of the
    message, or all of it if no setting is given.
    """

    def __init__(self, problem: str, setting: str = "") -> None:
        super().__init__(f"--{setting.replace('_', '-')} {problem}" if setting else problem)
        self.setting, self.problem = setting, problem


@dataclass(frozen=True)
class Setting:
    """What is known of a setting besides its type and default.

    kind: "text", "number", "int", "flag", "widths", "names" or "changes". metavar: what --help calls its value.
    low, high: its limits, and what: these in words. example: a value to try. choices: the only texts that it takes.
    label: on the page; "" if the page does not have it. page: the limits there. note: what to say of it there.
    changeable: whether it may change during training.
    """

    kind: str
    metavar: str
    help: str
    low: float = 0.0
    high: float = math.inf
    what: str = "at least 0"
    example: float | None = None
    choices: Sequence[str] = ()
    label: str = ""
    page: tuple[float | None, float | None] = (None, None)
    note: str = ""
    changeable: bool = False


def setting(default: Any, kind: str, metavar: str, help: str, **more: Any) -> Any:
    """Declare a field of Config."""
    return field(default=default, metadata={"setting": Setting(kind, metavar, help, **more)})


def choice(default: Any, choices: Sequence[str], help: str = "{}", **more: Any) -> Any:
    """Declare a field of Config that takes one of some texts."""
    return setting(default, "text", "NAME", help.format(", ".join(choices)), choices=choices, **more)


@dataclass(frozen=True)
class Config:
    """Everything that determines a run. Raises ConfigError for a setting that makes no sense.

    hidden: () is softmax regression. lr: None takes the optimizer's default. clip, patience: None is no limit.
    changes: settings that change during training, as (epoch, setting, value): after that many epochs the setting (one
    of CHANGEABLE) takes this value. `at` returns the settings in force at an epoch.
    """

    # Declarations, read by rows
    # fmt: off
    data: str = setting("digits", "text", "NAME", "a dataset, or csv:PATH", label="Data")
    data_dir: str | None = setting(None, "text", "DIR", "the folder of the MNIST files (default: they are downloaded)")
    target: str | None = setting(
        None, "text", "COLUMN", "the target column of a CSV: its name, or its number from 1 (default: the last)"
    )
    task: str | None = choice(None, TASKS, "for a CSV: {} (default: regression if its target is a measured number)")
    drop: tuple[str, ...] = setting((), "names", "COLUMN", "columns of a CSV to leave out")
    keep: tuple[str, ...] = setting((), "names", "COLUMN", "columns of a CSV to use where they would be left out")
    encoding: str | None = setting(None, "text", "NAME", "of a CSV, such as cp1250 (default: a guess if not UTF-8)")
    noise: float | None = setting(
        None, "number", "DEVIATION", "of the noise in generated points (default: depends on --data)",
        high=10, what="a number from 0 to 10", example=0.2, label="Noise", page=(0.0, 2.0),
    )
    samples: int | None = setting(
        None, "int", "N", "generated points (default 1000)", low=MIN_SAMPLES, label="Samples", page=(MIN_SAMPLES, 5000)
    )
    hidden: tuple[int, ...] = setting(
        (128, 64), "widths", "WIDTH", "widths of the hidden layers", low=1, label="Hidden layers",
        note="Their widths, such as 16 8. Empty: none.",
    )
    features: tuple[str, ...] = setting(
        (), "names", "NAME", f"features made from the two inputs: {', '.join(FEATURES)} (default: the inputs)",
        choices=tuple(FEATURES), label="Input features",
    )
    skip: bool = setting(
        False, "flag", "", "skip connections: a hidden layer adds its input to its output if both have the same width",
        label="Skip connections", note="Adds a hidden layer’s input to its output where both have the same width.",
    )
    activation: str = choice("relu", ACTIVATIONS, label="Activation")
    init: str = choice(
        "he", INITS, label="Initial weights",
        note="Deviation by xavier: √(2 / (inputs + outputs)), by he: √(2 / inputs).",
    )
    optimizer: str = choice("adam", tuple(DEFAULT_LR), label="Optimizer")
    lr: float = setting(
        None, "number", "RATE",
        f"learning rate (default {' or '.join(f'{DEFAULT_LR[one]} for {one}' for one in DEFAULT_LR)})",
        low=TINY, what="a positive number", label="Learning rate", page=(0.0, 100.0), changeable=True,
    )
    schedule: str = choice("constant", ("constant", "step", "cosine"), "rate over time: {}", label="Rate over time")
    warmup: int = setting(
        0, "int", "EPOCHS", "epochs during which the learning rate grows from 0", low=0, label="Epochs of warm-up",
        page=(0, PAGE_EPOCHS),
    )
    momentum: float = setting(
        0.0, "number", "SHARE", "momentum of sgd", high=BELOW_1, what="at least 0 and less than 1", example=0.9,
        label="Momentum", page=(0.0, 0.99), changeable=True,
    )
    weight_decay: float = setting(
        0.0, "number", "SHARE", "share of each weight that is added to its gradient, which pulls it to 0",
        example=0.01, label="Weight decay", page=(0.0, 10.0), changeable=True,
    )
    l1: float = setting(
        0.0, "number", "FACTOR",
        "factor of the L1 penalty: adds the weights' absolute values to the loss, pulling them to 0 (not the biases)",
        example=0.001, label="L1 penalty", page=(0.0, 10.0), changeable=True,
    )
    clip: float | None = setting(
        None, "number", "NORM", "largest norm of all gradients together (default: no limit)",
        low=TINY, what="a positive number", example=1, label="Gradient limit", page=(0.0, 1000.0), changeable=True,
        note="Scale all gradients down when their joint norm exceeds this. 0: never.",
    )
    batch_size: int = setting(
        32, "int", "N", "samples in a batch", low=1, label="Batch size", page=(1, 1024), changeable=True
    )
    epochs: int = setting(
        20, "int", "N", "passes over the training samples", low=1, label="Epochs", page=(1, PAGE_EPOCHS)
    )
    patience: int | None = setting(
        None, "int", "N", "stop after N epochs without a better one (default: train all epochs)", low=1,
        label="Patience", page=(0, PAGE_EPOCHS), note="Stop after this many epochs without a better one. 0: never.",
    )
    seed: int = setting(
        0, "int", "N", "seed of everything that is random", low=0, label="Seed", page=(0, 2**32),
        note="Fixes the first weights and the order of the samples.",
    )
    val_fraction: float = setting(
        0.2, "number", "SHARE", "share of the samples held out for validation (0: none)",
        high=BELOW_1, what="at least 0 and less than 1", example=0.2, label="Validation share", page=(0.0, 0.99),
    )
    changes: tuple[Change, ...] = setting(
        (), "changes", "EPOCH:NAME=VALUE", "new values after EPOCH epochs: --changes 5:lr=0.001 8:batch-size=8"
    )
    # fmt: on

    def __post_init__(self) -> None:
        for name, known in SETTINGS.items():
            if getattr(self, name) is not None or getattr(Config, name) is not None:
                self._check(name, known, getattr(self, name))
        if self.lr is None:
            object.__setattr__(self, "lr", DEFAULT_LR[self.optimizer])
        require(
            self.optimizer == "sgd" or self.momentum == 0,
            "works only with sgd (adam has its own): choose the optimizer sgd, or no momentum.",
            "momentum",
        )
        require(self.warmup < self.epochs, f"must be less than the {self.epochs} epochs, not {self.warmup}.", "warmup")
        self._check_changes()

    def _check(self, name: str, known: Setting, value: Any) -> None:
        """Check a setting by itself. JSON and the command line give lists, which become tuples."""
        if known.kind == "number":
            example = known.example or DEFAULT_LR.get(self.optimizer)
            right = is_number(value) and known.low <= value <= known.high
            require(right, f"must be {known.what}, not {as_typed(value)}: try {example}.", name)
        elif known.kind == "int":
            right = is_int(value, int(known.low))
            require(right, f"must be a whole number of at least {known.low}, not {as_typed(value)}.", name)
        elif known.kind == "flag":
            require(isinstance(value, bool), f"is on or off, not {as_typed(value)}.", name)
        elif known.kind == "widths":
            require(
                isinstance(value, (list, tuple)) and all(is_int(width, 1) for width in value),
                f"must be whole numbers of at least 1 (the widths of the layers), not {as_typed(value)}: "
                f"write for example 64 32.",
                name,
            )
        elif known.kind == "names":
            right = isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
            require(right and len(set(value)) == len(value), f"must be different names, not {as_typed(value)}.", name)
        elif known.kind == "text" and not known.choices:
            require(isinstance(value, str), "must be text.", name)
        if known.choices:
            for one in value if known.kind == "names" else [value]:
                require(one in known.choices, f"cannot be {as_typed(one)}: {hint(one, known.choices)}", name)
        if known.kind in ("widths", "names"):
            object.__setattr__(self, name, tuple(value))

    def _check_changes(self) -> None:
        listed = (list, tuple)  # JSON may hold anything else
        good = isinstance(self.changes, listed) and all(isinstance(change, listed) for change in self.changes)
        object.__setattr__(self, "changes", tuple(map(tuple, self.changes)) if good else (self.changes,))
        last = 0
        for change in self.changes:
            require(
                good and len(change) == 3 and is_int(change[0], max(last, 1)) and change[1] in CHANGEABLE,
                f"must be the epoch after which a setting changes, and its new value, with later epochs last, not "
                f"{as_typed(change)}: write for example 5:lr=0.01. You can change {', '.join(CHANGEABLE)}.",
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
        lists = {name: list(value) for name, value in vars(self).items() if isinstance(value, tuple)}
        return asdict(self) | lists | {"changes": [list(change) for change in self.changes]}

    @classmethod
    def from_json(cls, settings: dict[str, Any]) -> Config:
        """Make a Config from JSON; a missing setting gets its default. Raises ConfigError for an unknown one."""
        unknown = sorted(settings.keys() - SETTINGS.keys())
        require(not unknown, f"There is no setting called {', '.join(map(repr, unknown))}: remove it from config.json.")
        return cls(**settings)


# Each setting and what was declared of it, and those that may change during training.
SETTINGS: Mapping[str, Setting] = MappingProxyType({one.name: one.metadata["setting"] for one in fields(Config)})
CHANGEABLE = tuple(name for name, known in SETTINGS.items() if known.changeable)


def require(condition: bool, problem: str, setting: str = "") -> None:
    if not condition:
        raise ConfigError(problem, setting)


def hint(value: Any, choices: Sequence[str]) -> str:
    """Return "did you mean ...?" for a word that is spelled nearly like one of the choices; list them otherwise."""
    close = difflib.get_close_matches(str(value).lower(), choices, n=1)
    return f"did you mean {close[0]}?" if close else f"choose one of {', '.join(choices)}."


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


def as_typed(value: Any) -> str:
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


def command_line(config: Config) -> str:
    """Write the command that trains a run with these settings, such as "python train.py --data moons --lr 0.01"."""
    default, words = Config(), ["python train.py"]
    for name, known in SETTINGS.items():
        value = getattr(config, name)
        if value != getattr(default, name):
            listed = changes_text(value).split() if known.kind == "changes" else value
            values = listed if isinstance(listed, (list, tuple)) else [] if known.kind == "flag" else [value]
            words += [f"--{name.replace('_', '-')}", *(shlex.quote(str(one)) for one in values)]
    return " ".join(words)


def parse(name: str, words: Sequence[str]) -> Any:
    """Parse a setting as it is written on the command line: ["64", "32"] or ["64-32"], ["0.1"]. Raises ConfigError."""
    kind, text = SETTINGS[name].kind, " ".join(words)
    if kind == "widths":
        return parse_widths(text)
    if kind == "names":
        return tuple(re.split(r"[\s,-]+", text.strip())) if words and SETTINGS[name].choices else tuple(words)
    if kind == "changes":
        return tuple(map(parse_change, words))
    if kind == "flag":
        require(text in ("yes", "no"), f"cannot be {text!r}: write yes or no.", name)
        return text == "yes"
    try:
        return {"number": float, "int": int}.get(kind, str)(text)
    except ValueError:
        raise ConfigError(f"cannot be {text!r}: write a {'whole ' * (kind == 'int')}number.", name) from None


def parse_change(text: str) -> Change:
    """Parse one change such as "5:lr=0.01". Raises ConfigError."""
    after, colon, change = text.partition(":")
    name, equals, value = change.partition("=")
    name = name.replace("-", "_")
    require(
        bool(colon and equals) and after.isdecimal(), f"{text} is not a change: write one such as 5:lr=0.01.", "changes"
    )
    require(name in CHANGEABLE, f"cannot change {name!r}: choose one of {', '.join(CHANGEABLE)}.", "changes")
    return int(after), name, None if value == "None" else parse(name, [value])


def sizes_text(sizes: Sequence[int]) -> str:
    return "-".join(map(str, sizes))


def describe(sizes: Sequence[int], config: Config) -> str:
    """Describe a network and its training in one line; sizes: all widths, from the inputs to the classes."""
    around = f" of {', '.join(config.features)}" if config.features else ""
    around += ", skip connections" if config.skip else ""
    more = f", momentum {config.momentum:g}" if config.momentum else ""
    more += f", weight decay {config.weight_decay:g}" if config.weight_decay else ""
    more += f", L1 {config.l1:g}" if config.l1 else ""
    schedule = f" {config.schedule}" if config.schedule != "constant" else ""
    schedule += f" after {epochs_text(config.warmup)} of warm-up" if config.warmup else ""
    return f"{sizes_text(sizes)} {config.activation}{around}, {config.optimizer}, lr {config.lr:g}{schedule}{more}"


def epochs_text(number: int) -> str:
    return f"{number} epoch" if number == 1 else f"{number} epochs"
