"""This engine beside PyTorch: questions whose answers can be run.

Each has a function for this engine, and a snippet for PyTorch that prints its answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from lab.pytorch import run_programs
from model import Tensor, where


def _graph():
    x = Tensor(3.0)
    y = x * x if x.item() > 0 else -x
    y.backward()
    return f"while it runs: {y.op}, {x.grad:g}"


def _grad():
    x = Tensor(3.0)
    for _ in range(2):
        (x * x).backward()
    return f"x.grad adds up: {x.grad:g}"


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
    return f"{x.grad:g}: += made another tensor"


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
class Question:
    """ask: this engine; torch: a snippet."""

    title: str
    ask: Callable[[], Any]
    torch: str

    @property
    def source(self) -> str:
        """What `ask` does, without its first line."""
        return dedent("".join(inspect.getsourcelines(self.ask)[0][1:]))


QUESTIONS: dict[str, Question] = {
    "graph": Question(
        "When is the graph made? (An if on a value)",
        _graph,
        "x = torch.tensor(3.0, requires_grad=True)\n"
        "y = x * x if x.item() > 0 else -x\n"
        "y.backward()\n"
        "print(f'while it runs: {y.grad_fn.name()}, {x.grad.item():g}')",
    ),
    "grad": Question(
        "Where do gradients go? (Two passes.)",
        _grad,
        "x = torch.tensor(3.0, requires_grad=True)\n"
        "for _ in range(2):\n"
        "    (x * x).backward()\n"
        "print(f'x.grad adds up: {x.grad.item():g}')",
    ),
    "twice": Question(
        "Backward twice through one graph?",
        _twice,
        "x = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\ny.backward()\nprint(x.grad)",
    ),
    "write": Question(
        "x.data += 1 before the backward pass of x * x, whose gradient is 6",
        _write,
        "x = torch.tensor(3.0, requires_grad=True)\ny = x * x\nx.data += 1\ny.backward()\n"
        "print(f'{x.grad.item():g}, without a word')",
    ),
    "result": Question(
        "h += 1 on a result h before the backward pass of h * h",
        _result,
        "x = torch.tensor(3.0, requires_grad=True)\nh = x * 1\ny = h * h\nh += 1\ny.backward()\nprint(x.grad)",
    ),
    "whole": Question(
        "Backward from many numbers at once?",
        _whole,
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).backward()\nprint(x.grad)",
    ),
    "dtype": Question(
        "What is the default dtype?",
        _dtype,
        "print(torch.tensor(1.0).dtype)",
    ),
    "kink": Question(
        "The slope of relu at 0",
        _kink,
        "x = torch.tensor(0.0, requires_grad=True)\nx.relu().backward()\nprint(f'{x.grad.item():g}')",
    ),
    "ties": Question(
        "Who gets the gradient of a maximum with ties?",
        _ties,
        "x = torch.tensor([2.0, 2.0], requires_grad=True)\nx.max().backward()\nprint(x.grad.tolist())",
    ),
    "second": Question(
        "A derivative of a derivative of x**3 at 2?",
        _second,
        "x = torch.tensor(2.0, requires_grad=True)\n"
        "(g,) = torch.autograd.grad(x ** 3, x, create_graph=True)\n"
        "g.backward()\n"
        "print(f'{x.grad.item():g}')",
    ),
    "where": Question(
        "where(x > 0, sqrt(x), 0) at −1",
        _where,
        "x = torch.tensor(-1.0, requires_grad=True)\n"
        "torch.where(x > 0, x.sqrt(), torch.tensor(0.0)).backward()\n"
        "print(x.grad.item())",
    ),
}


def answer(question: Question) -> str:
    """What this engine answers, run now; an error that it raises is an answer, too."""
    try:
        return str(question.ask())
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {str(error).split('. ')[0].rstrip('.')}"


def pytorch_answers() -> dict[str, str]:
    """PyTorch's answer to each question, or its error, by key, and its version. RuntimeError: there is no answer."""
    header = "import torch\nimport numpy as np\n"
    ran = run_programs({key: header + question.torch for key, question in QUESTIONS.items()})
    said = {
        key: one.error.split("\n")[0].split(". ")[0] if one.error else one.printed.strip() for key, one in ran.items()
    }
    return said | {"version": next(iter(ran.values())).version}
