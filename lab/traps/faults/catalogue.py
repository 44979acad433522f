"""The catalogue of faults: catalogue.toml describes each, and names its engine, optimizer, loss or setting."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import ndiff
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lab.text import read_rows, run_lines
from lab.traps.faults import broken_engines, broken_training
from lab.traps.faults.broken_training import Setup, likelihood_loss
from model import Tensor
from nn import SGD


@dataclass(frozen=True)
class Fault:
    """One fault; catalogue.toml explains the texts. The runs `broken` and `healthy` differ in one thing only.

    A training fault has no example and shows in the gradients of the network instead."""

    key: str
    name: str
    cause: str
    symptom: str
    in_training: str
    caught_by: str
    broken: Setup
    healthy: Setup
    failure: str = ""
    example: str = ""
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    verdict: str = ""

    @property
    def kind(self) -> str:
        """ "engine": a wrong rule of the engine. "training": a mistake in the loop or its settings."""
        return "engine" if self.example else "training"

    @property
    def in_a_line(self) -> str:
        """The lines of the example as one line."""
        return self.example.replace("\n", "; ")

    def compute(self, **leaves: Tensor) -> Tensor:
        """Run the lines of the example on its leaves."""
        names: dict[str, Any] = {**leaves}
        run_lines(self.example, names)
        result: Tensor = names["y"]
        return result

    @cached_property
    def difference(self) -> list[str]:
        """The wrong lines and the right ones as a diff of all lines: each begins with "- ", "+ " or two spaces."""
        wrong, right = self._codes()
        return [line for line in ndiff(wrong.splitlines(), right.splitlines()) if not line.startswith("?")]

    @property
    def fix(self) -> str:
        """The lines that change, as a diff: those to remove, then those to add."""
        changed = [line for sign in "-+" for line in self.difference if line[0] == sign and line[2:].strip()]
        lines = textwrap.dedent("\n".join(line[2:] for line in changed)).splitlines()
        return "\n".join(f"{line[0]} {text}" for line, text in zip(changed, lines, strict=True))

    def _codes(self) -> tuple[str, str]:
        """Return the wrong lines and the right ones: of methods, of the loss, or a setting."""
        pair = self.broken, self.healthy
        for broken, healthy in ((self.broken.engine, Tensor), (self.broken.optimizer, SGD)):
            if broken is not healthy:
                methods = [name for name, value in vars(broken).items() if inspect.isfunction(value)]
                wrong, right = (
                    "\n".join(source(getattr(kind, name)) for name in methods) for kind in (broken, healthy)
                )
                return wrong, right
        if self.broken.loss is not self.healthy.loss:
            wrong, right = (source(setup.loss) for setup in pair)
            return wrong, right
        configs = [setup.config(0) for setup in pair]
        (name,) = (f.name for f in fields(configs[0]) if getattr(configs[0], f.name) != getattr(configs[1], f.name))
        wrong, right = (f"Config({name}={getattr(config, name)!r})" for config in configs)
        return wrong, right


@cache  # the files do not change while the lab runs
def source(function: Callable) -> str:
    """Return the source of a function as it is shown: without decorators, docstring, and annotations of its parameters
    and result."""
    text = re.sub(r"^(@.*\n)+", "", textwrap.dedent(inspect.getsource(function)))
    text = re.sub(r'\n +"""(.|\n)*?"""', "", text, count=1)

    def without_annotations(line: re.Match) -> str:
        return re.sub(r"(\w): [\w.]+(?=[,)])", r"\1", re.sub(r": [\w.]+ = ", "=", re.sub(r" -> .*:$", ":", line[0])))

    return re.sub(r"^ *def .*:$", without_annotations, text, flags=re.MULTILINE)


def _fault(row: dict[str, Any]) -> Fault:
    """Make a fault from its row of catalogue.toml, in which names stand for classes and functions."""
    modules = {"engine": broken_engines}
    modules |= dict.fromkeys(("optimizer", "loss", "broken_loss"), broken_training)
    parts = {name: getattr(module, row.pop(name)) for name, module in modules.items() if name in row}
    loss, settings = parts.pop("loss", likelihood_loss), row.pop("settings", {})
    broken = Setup(
        parts.pop("engine", Tensor),
        parts.pop("optimizer", SGD),
        parts.pop("broken_loss", loss),
        MappingProxyType(settings | row.pop("broken_settings", {})),
    )
    return Fault(**row, **parts, broken=broken, healthy=Setup(loss=loss, settings=MappingProxyType(settings)))


FAULTS = tuple(_fault(row) for row in read_rows(Path(__file__).with_suffix(".toml"))["fault"])
BY_KEY = MappingProxyType({fault.key: fault for fault in FAULTS})
