"""What is known of a failure: by what it is recognised, the programs that cause and cure it, and where to try it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import Any

import numpy as np

from lab.text import body

Program = Callable[..., Any]  # takes the learner's numbers, if any; returns what it shows, by name
Numbers = float | int | list[float]


@dataclass(frozen=True)
class Ran:
    """A program that has just run: its lines with the numbers, what it shows, and the error that ended it, or ""."""

    code: str
    shown: Mapping[str, Any]
    error: str


@dataclass(frozen=True)
class Demonstration:
    """A mistake, the texts by which it is known, and a pair of programs over the engine.

    phrases   PyTorch's own text first, if it has one, then that of other versions, of this engine, of other libraries
    keywords  words that speak for it where nothing better is found
    tells     what tells it from the others, for a text that is not clear
    meaning   why it happens
    silent    what this engine does where it raises no error
    """

    title: str
    phrases: tuple[str, ...]
    keywords: tuple[str, ...]
    tells: str
    meaning: str
    fix: str
    broken: Program
    fixed: Program
    silent: str = field(default="", kw_only=True)

    def cause(self) -> tuple[str, str]:
        """The lines that go wrong, and the error that this engine raised when they were run now; "" for none."""
        ran = run(self.broken)
        if ran.error or self.silent:
            return ran.code, ran.error
        raise AssertionError(f"The demonstration of “{self.title}” raised no error.")

    def cure(self) -> tuple[str, np.ndarray]:
        """The lines that go right, and the gradient that they gave when they were run now."""
        ran = run(self.fixed)
        return ran.code, np.array(next(iter(ran.shown.values())))


@dataclass(frozen=True)
class Destination:
    """Where a failure can be tried: a page's path, the parameters of its address, and what one does there."""

    does: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Form:
    """One of several forms in which a failure comes. Its programs take the same numbers as those of the others.

    says  PyTorch's own text, if it has one
    """

    name: str
    broken: Program
    fixed: Program
    torch: str
    says: str = ""
    silent: str = ""


@dataclass(frozen=True)
class Failure(Demonstration):
    """One of the failures that people ask about most.

    number   1 to 25, known to all
    key      in addresses
    symptom  what one notices first
    torch    the PyTorch equivalent of the broken program, from the same numbers. It prints what it shows
    related  keys of what is easily taken for it, or comes with it
    form     what its programs are an example of, where it comes in several forms; `others`: the other ones
    own      says what the learner's numbers are, where there are any
    limits   the lowest and the highest of them; `fewest`: how many there must be
    """

    number: int = field(kw_only=True)
    key: str = field(kw_only=True)
    symptom: str = field(kw_only=True)
    torch: str = field(kw_only=True)
    places: tuple[Destination, ...] = field(default=(), kw_only=True)
    related: tuple[str, ...] = field(default=(), kw_only=True)
    form: str = field(default="", kw_only=True)
    others: tuple[Form, ...] = field(default=(), kw_only=True)
    own: str = field(default="", kw_only=True)
    limits: tuple[float, float] = field(default=(-100.0, 100.0), kw_only=True)
    fewest: int = field(default=1, kw_only=True)

    @property
    def name(self) -> str:
        return self.title

    @property
    def forms(self) -> list[str]:
        """Their names; none where there is but one."""
        return [self.form, *(other.name for other in self.others)] if self.others else []

    def in_form(self, number: int) -> Failure:
        """The failure with the programs of one of its forms; of the first, if there is none with this number."""
        if not 0 < number <= len(self.others):
            return self
        other = self.others[number - 1]
        return replace(
            self,
            broken=other.broken,
            fixed=other.fixed,
            torch=other.torch,
            silent=other.silent,
            phrases=(other.says,) if other.says else (),
        )

    @property
    def numbers(self) -> Numbers:
        """Those that its programs begin with."""
        return default(self.broken)

    def pytorch_equivalent(self, numbers: Numbers | None = None) -> str:
        """The lines for PyTorch, with the same numbers."""
        name = next(iter(inspect.signature(self.broken).parameters))
        return f"import torch\n\n{name} = {self.numbers if numbers is None else numbers}\n{self.torch}"


def default(program: Program) -> Any:
    """The numbers of a program that asks for some."""
    (parameter,) = inspect.signature(program).parameters.values()
    return parameter.default if isinstance(parameter.default, (int, float)) else list(parameter.default)


def run(program: Program, numbers: Numbers | None = None) -> Ran:
    """Run it now, with these numbers or its own. What it prints is not shown: what it returns is."""
    lines, given = body(program), {}
    for name in inspect.signature(program).parameters:
        given[name] = default(program) if numbers is None else numbers
        lines = f"{name} = {given[name]}\n{lines}"
    with redirect_stdout(StringIO()), np.errstate(all="ignore"):
        try:
            return Ran(lines, program(**given) or {}, "")
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            return Ran(lines, {}, f"{type(error).__name__}: {error}")


def written(numbers: Numbers) -> str:
    """As a learner writes them: "1, 2.5"."""
    return ", ".join(f"{number:g}" for number in (numbers if isinstance(numbers, list) else [numbers]))


MOST = 8  # numbers


def read_numbers(failure: Failure, text: str) -> Numbers:
    """The learner's numbers for the programs of a failure, and its own for an empty text. ValueError, with a sentence:
    they do not fit."""
    usual = failure.numbers
    if not text.strip():
        return usual
    first = usual[0] if isinstance(usual, list) else usual
    least, most = (failure.fewest, MOST) if isinstance(usual, list) else (1, 1)
    kind = "whole number" if isinstance(first, int) else "number"
    count = f"{least} to {most} {kind}s" if most > 1 else f"one {kind}"
    low, high = failure.limits
    due = f"Write {count} from {low:g} to {high:g}, such as {written(usual)}. The default is used until then."
    try:
        numbers = [type(first)(part) for part in text.replace(";", ",").split(",")]
    except ValueError:
        raise ValueError(due) from None
    if not least <= len(numbers) <= most or not all(low <= number <= high for number in numbers):
        raise ValueError(due)
    return numbers if isinstance(usual, list) else numbers[0]
