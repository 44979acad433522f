"""Short programs over the engine, in pairs: one that causes a failure and one that avoids it, shown as they run."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from types import MappingProxyType
from typing import Any

import numpy as np

from lab.designs.compare import kept_by
from lab.text import evaluate, run_lines
from lab.traps import detect_mutation
from model import Tensor, cross_entropy, no_grad, where
from nn import MLP, SGD, Linear

Numbers = float | int | list[float]
_NUMBERS = re.compile(r"(\w+) = ([-\d., \[\]]+?)(?:  # (.*))?\n")


def norm(parameter: Tensor) -> float:
    """Return the norm of a parameter's gradient; 0 if it has none."""
    return 0.0 if parameter.grad is None else float(np.linalg.norm(parameter.grad))


_USED = (Tensor, cross_entropy, no_grad, where, MLP, SGD, Linear, detect_mutation, kept_by, norm)
NAMES = MappingProxyType({"np": np} | {each.__name__: each for each in _USED})  # that a program may use


@dataclass(frozen=True)
class Program:
    """Lines of Python, and what they show.

    name     of what the learner's numbers are assigned to; `numbers`: the default ones; "" and [] if it takes none
    own      what these numbers are
    lines    those after that
    shows    a dict, as an expression; a list of numbers in it is a curve
    """

    name: str
    numbers: Numbers
    own: str
    lines: str
    shows: str

    def code(self, numbers: Numbers | None = None) -> str:
        """Return the whole program, with these numbers or the default ones."""
        return (f"{self.name} = {self.numbers if numbers is None else numbers}\n" if self.name else "") + self.lines


NO_PROGRAM = Program("", [], "", "", "")


@dataclass(frozen=True)
class Ran:
    """The outcome of a program: its lines with the numbers, what it shows, and the error that ended it, or ""."""

    code: str
    shown: Mapping[str, Any]
    error: str


def pair(text: str) -> tuple[Program, Program]:
    """Read two programs from one text: lines with - are of the first alone, those with + of the second alone.

    The first line may assign the learner's numbers, and its comment says what they are; the last ones return what is
    shown. Raises ValueError for a line that begins with another sign.
    """
    lines = text.split("\n")
    if other := [line for line in lines if line[:1] not in ("-", "+", " ")]:
        raise ValueError(f"Neither -, + nor a space is in front of {other[0]!r}.")
    broken, fixed = ("\n".join(line[1:] for line in lines if line[0] != other) for other in "+-")
    return _program(broken), _program(fixed)


def _program(text: str) -> Program:
    code, _, shows = text.rpartition("\nreturn ")
    first = _NUMBERS.match(code)
    if not first:
        return Program("", [], "", f"{code}\n", shows)
    return Program(first[1], ast.literal_eval(first[2]), first[3] or "", f"{code[first.end() :]}\n", shows)


def run(program: Program, numbers: Numbers | None = None) -> Ran:
    """Run a program with these numbers, or its defaults. Its output is hidden; what it returns is shown."""
    code, names = program.code(numbers), dict(NAMES)
    with redirect_stdout(StringIO()), np.errstate(all="ignore"):
        try:
            run_lines(code, names)
            return Ran(code, evaluate(program.shows, names), "")
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            return Ran(code, {}, f"{type(error).__name__}: {error}")


_IN_PYTORCH = (  # this engine's words and what PyTorch has for them, replaced in this order; comments go
    (r"  #.*|^ *(\w+\.label = |losses).*\n", ""),
    (r"\bWatched\(", "Tensor("),
    (r"\.data ([-+]= [\d.]+)$", r" \1"),
    (r"\bwhere\(", "torch.where("),
    (r', label="\w+"', ""),
    (r"\brng = np\.random\.default_rng\(", "torch.manual_seed("),
    (r"\brng\.normal\(size=\(([\d, ]+)\)\)", r"torch.randn(\1)"),
    (r"\bcross_entropy\(", "torch.nn.functional.cross_entropy("),
    (r"\.softmax\(\)", ".softmax(1)"),
    (r"\bTensor\(([^()]+), requires_grad=False\)", r"torch.tensor(\1)"),
    (r"\bTensor\(([^()]+?)(, requires_grad=True)?\)", r"torch.tensor(\1, requires_grad=True)"),
    (r"\bno_grad\(\)", "torch.no_grad()"),
    (r"(?<!optimizer)\.zero_grad\(\)", ".grad = None"),
    (r"\bSGD\(", "torch.optim.SGD("),
    (r"np\.array\((\w+\.grad)\)", r"\1"),
    (r"np\.array\(", "torch.tensor("),
    (r"\.numpy\(\)", ".detach()"),
    (r"\.astype\(int\)", ".int()"),
)


def in_pytorch(program: Program) -> str:
    """Return a program's lines in PyTorch, for a program that has only what both have. It prints what the program
    shows, and the end of a curve."""
    lines = textwrap.dedent(re.sub(r"^with detect_mutation\(.*\n", "", program.lines))  # PyTorch detects without it
    for name, value in re.findall(r'"([^"]+)": ([\w.()]+)', program.shows):
        lines += f"print({name!r}, {'loss.item()' if value == 'losses' else value})\n"
    for pattern, text in _IN_PYTORCH:
        lines = re.sub(pattern, text, lines, flags=re.MULTILINE)
    return lines
