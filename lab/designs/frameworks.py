"""This engine beside PyTorch: questions whose answers can be run.

Each has a function for this engine, and a snippet for PyTorch that prints its answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from lab.expression.run_pytorch import run_programs
from model import Tensor, where


def _graph():
    x = Tensor(3.0)
    y = x * x if x.item() > 0 else -x
    y.backward()
    return f"{x.grad:g}"


def _grad():
    x = Tensor(3.0)
    for _ in range(2):
        (x * x).backward()
    return f"{x.grad:g}"


def _twice():
    x = Tensor(3.0)
    y = x * x
    y.backward()
    y.backward()
    return x.grad


def _write():
    x = Tensor(3.0)
    y = x * x
    x.data += 1
    y.backward()
    return x.grad


def _result():
    x = Tensor(3.0)
    h = x * 1
    y = h * h
    h += 1
    y.backward()
    return f"{x.grad:g}"


def _whole():
    x = Tensor([1.0, 2.0])
    (x * x).backward()
    return x.grad


def _dtype():
    return Tensor(1.0).dtype


def _kink():
    x = Tensor(0.0)
    x.relu().backward()
    return f"{x.grad:g}"


def _ties():
    x = Tensor([2.0, 2.0])
    x.max().backward()
    return x.grad.tolist()


def _second():
    x = Tensor(2.0)
    (x**3).backward()
    x.grad.backward()
    return x.grad


def _where():
    x = Tensor(-1.0)
    where(x > 0, x.sqrt(), 0.0).backward()
    return x.grad


@dataclass(frozen=True)
class EngineAnswer:
    """What an engine printed, or the error that it raised."""

    text: str
    failed: bool = False

    @property
    def outcome(self) -> str:
        """In a few letters. Two errors are one outcome, whatever their words."""
        return "✗ error" if self.failed else self.text


@dataclass(frozen=True)
class EngineQuestion:
    """name: in two or three words; ask: this engine; torch: a snippet."""

    name: str
    title: str
    ask: Callable[[], Any]
    torch: str

    @property
    def source(self) -> str:
        """What `ask` does, without its first line."""
        return dedent("".join(inspect.getsourcelines(self.ask)[0][1:]))


QUESTIONS: dict[str, EngineQuestion] = {
    "graph": EngineQuestion(
        "if on a value",
        "Can an if look at a value? (The gradient)",
        _graph,
        "x = torch.tensor(3.0, requires_grad=True)\n"
        "y = x * x if x.item() > 0 else -x\n"
        "y.backward()\n"
        "print(f'{x.grad.item():g}')",
    ),
    "grad": EngineQuestion(
        "two passes",
        "Does a second pass add to x.grad? (One pass gives 6)",
        _grad,
        "x = torch.tensor(3.0, requires_grad=True)\n"
        "for _ in range(2):\n"
        "    (x * x).backward()\n"
        "print(f'{x.grad.item():g}')",
    ),
    "twice": EngineQuestion(
        "backward twice",
        "Backward twice through one graph?",
        _twice,
        "x = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\ny.backward()\nprint(x.grad)",
    ),
    "write": EngineQuestion(
        "x.data += 1",
        "x.data += 1 before the backward pass of x * x, whose gradient is 6",
        _write,
        "x = torch.tensor(3.0, requires_grad=True)\ny = x * x\nx.data += 1\ny.backward()\nprint(f'{x.grad.item():g}')",
    ),
    "result": EngineQuestion(
        "h += 1",
        "h += 1 on a result h before the backward pass of h * h",
        _result,
        "x = torch.tensor(3.0, requires_grad=True)\nh = x * 1\ny = h * h\nh += 1\ny.backward()\nprint(x.grad)",
    ),
    "whole": EngineQuestion(
        "many results",
        "Backward from many numbers at once?",
        _whole,
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).backward()\nprint(x.grad)",
    ),
    "dtype": EngineQuestion(
        "dtype",
        "What is the default dtype?",
        _dtype,
        "print(str(torch.tensor(1.0).dtype).removeprefix('torch.'))",
    ),
    "kink": EngineQuestion(
        "relu at 0",
        "The slope of relu at 0",
        _kink,
        "x = torch.tensor(0.0, requires_grad=True)\nx.relu().backward()\nprint(f'{x.grad.item():g}')",
    ),
    "ties": EngineQuestion(
        "max with ties",
        "Who gets the gradient of a maximum with ties?",
        _ties,
        "x = torch.tensor([2.0, 2.0], requires_grad=True)\nx.max().backward()\nprint(x.grad.tolist())",
    ),
    "second": EngineQuestion(
        "2nd derivative",
        "A derivative of a derivative of x**3 at 2?",
        _second,
        "x = torch.tensor(2.0, requires_grad=True)\n"
        "(g,) = torch.autograd.grad(x ** 3, x, create_graph=True)\n"
        "g.backward()\n"
        "print(f'{x.grad.item():g}')",
    ),
    "where": EngineQuestion(
        "where and sqrt",
        "where(x > 0, sqrt(x), 0) at −1",
        _where,
        "x = torch.tensor(-1.0, requires_grad=True)\n"
        "torch.where(x > 0, x.sqrt(), torch.tensor(0.0)).backward()\n"
        "print(x.grad.item())",
    ),
}


def answer(question: EngineQuestion) -> EngineAnswer:
    """What this engine answers, run now; an error that it raises is an answer, too."""
    try:
        return EngineAnswer(str(question.ask()))
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        return EngineAnswer(_first_sentence(f"{type(error).__name__}: {error}"), failed=True)


def pytorch_answers() -> tuple[str, dict[str, EngineAnswer]]:
    """PyTorch's version, and its answer to each question by key. RuntimeError: there is no answer."""
    header = "import torch\nimport numpy as np\n"
    ran = run_programs({key: header + question.torch for key, question in QUESTIONS.items()})
    answers = {
        key: EngineAnswer(_first_sentence(one.error), failed=True) if one.error else EngineAnswer(one.printed.strip())
        for key, one in ran.items()
    }
    return next(iter(ran.values())).version, answers


def _first_sentence(error: str) -> str:
    return error.split("\n")[0].split(". ")[0].rstrip(".")
