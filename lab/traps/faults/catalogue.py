"""The catalogue of faults: catalogue.toml describes each, and this module adds the engine or run that has it."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lab.text import body, read_rows
from lab.traps.faults import engines, examples, training
from lab.traps.faults.training import Setup, run_of
from model import Tensor
from nn import SGD

# ---------------------------------------------------------------- the faults


@dataclass(frozen=True)
class Fault:
    """One fault. `example` is the expression that reveals an engine's fault, `shapes` holds the shapes of its leaves;
    a training fault has none and shows in the gradients of the network instead. catalogue.toml explains the texts."""

    key: str
    name: str
    cause: str
    symptom: str
    in_training: str
    caught_by: str
    broken: Setup
    failure: str = ""
    healthy: Setup = field(default_factory=Setup)
    example: Callable[..., Tensor] | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    checked: Callable[..., Tensor] | None = None  # the expression for gradcheck, if not the example
    shorter: Callable[..., Tensor] | None = None  # the example with fewer events, to play them one by one
    verdict: str = ""
    guard: Callable[[], None] | None = None  # a program that the healthy engine refuses
    fix: str = ""
    torch_code: str = ""
    torch_message: str = ""

    @property
    def kind(self) -> str:
        """ "engine": a wrong rule of the engine. "training": a mistake in the loop or its settings."""
        return "engine" if self.example else "training"

    @cached_property  # because Python searches the whole file for a class
    def code(self) -> str:
        """The wrong lines: the broken rule, method or function, or the setting."""
        if self.broken.engine is not Tensor:
            return _methods(self.broken.engine)
        if self.broken.optimizer is not SGD:
            return _methods(self.broken.optimizer)
        if self.broken.loss is not self.healthy.loss:
            return _unannotated(inspect.getsource(self.broken.loss))
        return self.fix.splitlines()[0].removeprefix("- ")

    @property
    def right(self) -> str:
        """The right lines in place of `code`: of the engine, optimizer or loss, or a setting."""
        for broken, healthy in ((self.broken.engine, Tensor), (self.broken.optimizer, SGD)):
            if broken is not healthy:
                names = [name for name, value in vars(broken).items() if inspect.isfunction(value)]
                return "\n".join(_plain(getattr(healthy, name)) for name in names)
        if self.broken.loss is not self.healthy.loss:
            return _plain(self.healthy.loss)
        return self.fix.splitlines()[-1].removeprefix("+ ")

    def changed_lines(self) -> tuple[list[bool], list[bool]]:
        """Mark the lines of `code` that the fix removes, and the lines of `right` that it adds.

        If the fix names none of the lines on one side, mark all that differ from the other side.
        """
        sides = self.code.splitlines(), self.right.splitlines()
        blocks = SequenceMatcher(None, sides[0], sides[1], autojunk=False).get_matching_blocks()
        flags = []
        for side, (sign, lines) in enumerate(zip("-+", sides, strict=True)):
            changed = [line[2:].strip() for line in self.fix.splitlines() if line.startswith(sign)]
            equal = {block[side] + offset for block in blocks for offset in range(block.size)}
            differing = [at not in equal and bool(line.strip()) for at, line in enumerate(lines)]
            named = [
                mark and any(line.strip().startswith(text) for text in changed)
                for line, mark in zip(lines, differing, strict=True)
            ]
            flags.append(named if any(named) else differing)
        return flags[0], flags[1]

    def refusal(self) -> tuple[str, str] | None:
        """Run the guard program on the healthy engine; return its lines and the error, or None if there is no guard."""
        if self.guard is None:
            return None
        try:
            self.guard()
        except (RuntimeError, ValueError) as error:
            return body(self.guard), f"{type(error).__name__}: {error}"
        raise AssertionError(f"The guard program of “{self.name}” raised no error.")


@cache  # the files do not change while the lab runs
def source(function: Callable) -> str:
    """Return the source of an expression without type annotations."""
    return re.sub(r": Tensor| -> Tensor", "", inspect.getsource(function))


@cache
def _plain(function: Callable) -> str:
    """Return the source of a function without decorators, docstring and annotations."""
    lines = re.sub(r"^(@.*\n)+", "", textwrap.dedent(inspect.getsource(function)))
    return _unannotated(re.sub(r'\n +"""(.|\n)*?"""', "", lines, count=1))


def _unannotated(source: str) -> str:
    """Remove the annotations of parameters, results and variables, which differ between engines and explain nothing."""

    def shortened(line: re.Match) -> str:
        parameters = re.sub(r": [\w.]+ = ", "=", re.sub(r" -> .*:$", ":", line[0]))
        return re.sub(r"(\w): [\w.]+(?=[,)])", r"\1", parameters)

    source = re.sub(r"^ *def .*:$", shortened, source, flags=re.MULTILINE)
    return re.sub(r"^ +\w+: [\w\[\]]+\n", "", source, flags=re.MULTILINE)


def _methods(broken: type) -> str:
    """Return the source of the methods of a class, as `_plain` does for each."""
    return "\n".join(_plain(value) for value in vars(broken).values() if inspect.isfunction(value))


# ---------------------------------------------------------------- the engine or run that has each fault

RUNS: Mapping[str, dict[str, Any]] = {
    "overwrite": {
        "broken": run_of(engine=engines.Overwrites),
        "example": examples.twice_used,
        "shapes": {"a": (), "b": ()},
    },
    "skip-unbroadcast": {
        "broken": run_of(engine=engines.SkipsUnbroadcast),
        "example": examples.bias_on_rows,
        "shapes": {"X": (4, 3), "b": (3,)},
    },
    "silent-broadcast": {
        "healthy": run_of(loss=training.squared_loss, activation="tanh", lr=0.03, epochs=30),
        "broken": run_of(loss=training.broadcast_loss, activation="tanh", lr=0.03, epochs=30),
        "guard": examples.loss_of_two_shapes,
    },
    "wrong-order": {
        "broken": run_of(engine=engines.WrongOrder),
        "example": examples.shortcut,
        "shapes": {"a": (), "b": ()},
    },
    "recursive": {
        "broken": run_of(engine=engines.Recursive),
        "example": examples.doublings,
        "shapes": {"a": ()},
        "checked": examples.long_chain,
        "shorter": examples.few_doublings,
    },
    "late-read": {
        "broken": run_of(engine=engines.LateReads),
        "example": examples.early_update,
        "shapes": {"a": (3,), "b": (3,)},
        "guard": examples.write_between_the_passes,
    },
    "wrong-capture": {
        "broken": run_of(engine=engines.WrongCapture),
        "example": examples.sum_of_two,
        "shapes": {"a": (3,), "b": (3,)},
    },
    "forgot-zero-grad": {
        "healthy": run_of(lr=0.05, epochs=30),
        "broken": run_of(optimizer=training.NeverZeroes, lr=0.05, epochs=30),
    },
    "zero-some": {
        "healthy": run_of(lr=0.004, epochs=30),
        "broken": run_of(optimizer=training.ZeroesSome, lr=0.004, epochs=30),
    },
    "backward-twice": {
        "broken": run_of(engine=engines.BackwardTwice),
        "example": examples.product_of_three,
        "shapes": {"a": (), "b": (), "c": ()},
        "guard": examples.second_backward,
    },
    "relu-side": {
        "broken": run_of(engine=engines.ReluWrongSide),
        "example": examples.hidden_layer,
        "shapes": {"X": (2, 3), "W": (3, 2)},
    },
    "mean-undivided": {
        "broken": run_of(engine=engines.MeanUndivided),
        "example": examples.mean_of_rows,
        "shapes": {"X": (2, 4)},
    },
    "softmax-unshifted": {
        "healthy": run_of(loss=training.offset_loss),
        "broken": run_of(engine=engines.SoftmaxUnshifted, loss=training.offset_loss),
        "example": examples.large_logits,
        "shapes": {"x": (3,)},
    },
    "log-unguarded": {
        "healthy": run_of(loss=training.masked_loss),
        "broken": run_of(engine=engines.LogUnguarded, loss=training.masked_loss),
        "example": examples.sure_logits,
        "shapes": {"x": (3,)},
    },
    "sign-flipped": {
        "healthy": run_of(lr=0.01),
        "broken": run_of(optimizer=training.Ascends, lr=0.01),
        "guard": examples.negative_rate,
    },
    "zero-init": {"broken": run_of(init="zeros")},
    "rate-too-high": {"healthy": run_of(activation="tanh"), "broken": run_of(activation="tanh", lr=20.0)},
    "half-precision": {
        "broken": run_of(engine=engines.HalfPrecision),
        "example": examples.small_factor,
        "shapes": {"x": (3,)},
    },
}
FAULTS = tuple(Fault(**row, **RUNS[row["key"]]) for row in read_rows(Path(__file__).with_suffix(".toml"))["fault"])
BY_KEY = MappingProxyType({fault.key: fault for fault in FAULTS})
