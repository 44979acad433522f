"""Debug these: twelve short programs, each with one of the failures that people ask about most.

Each is a course of one task, whose starter is the program as it was found. Most of them use the lab's own engine. No
title or text says what the failure is: FAILURES does, for those who have found it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.random import Generator

from lab.text import read_rows
from practice.questions import Place
from practice.task import Check, Course, Inputs, Task, read_tasks

ROOM = "debug"
FOLDER = Path(__file__).parent


def _vector(rng: Generator, size: int, least: int = 2) -> np.ndarray:
    return np.round(rng.uniform(0.5, 3, size=least + size), 1)


# ---------------------------------------------------------------- the cases that the checks are run on


def _scaled(rng: Generator, size: int) -> Inputs:
    return {"x": _vector(rng, size), "w": rng.normal(), "target": rng.normal()}


def _two_losses(rng: Generator, size: int) -> Inputs:
    return {"x": _vector(rng, size, 1), "w": rng.normal()}


def _line(rng: Generator, size: int) -> Inputs:
    x = _vector(rng, size)
    return {"x": x, "y": rng.normal() * x + rng.normal(size=x.shape) / 10, "steps": 2 + 2 * size, "lr": 0.05}


def _regression(rng: Generator, size: int) -> Inputs:
    rows, columns = 2 + size, 1 + int(rng.integers(3))
    return {"x": rng.normal(size=(rows, columns)), "y": rng.normal(size=rows), "w": rng.normal(size=(columns, 1))}


def _layers(rng: Generator, size: int) -> Inputs:
    rows, n_in, hidden = 1 + size, 1 + int(rng.integers(3)), 2 + int(rng.integers(3))
    return {
        "x": rng.normal(size=(rows, n_in)),
        "w1": rng.normal(size=(n_in, hidden)),
        "w2": rng.normal(size=(hidden, 1)),
    }


def _some_positive(rng: Generator, size: int) -> Inputs:
    numbers = np.round(rng.uniform(-4, 9, size=3 + size), 1)
    numbers[rng.integers(len(numbers))] = 0.0
    return {"numbers": numbers}


def _descent(rng: Generator, size: int) -> Inputs:
    return {"w": rng.normal(), "target": rng.normal() + (3, -3)[size % 2], "steps": 1 + size, "lr": 0.1}


def _factors(rng: Generator, size: int) -> Inputs:
    return {"factors": [round(float(number), 1) for number in rng.uniform(1.5, 4, size=2 + size)]}


def _two_numbers(rng: Generator, size: int) -> Inputs:
    return {"a": float(rng.integers(2, 6)), "b": float(rng.integers(-5, -1))}


def _scores(rng: Generator, size: int) -> Inputs:
    rows, classes = 1 + size, 3
    scale = (1.0, 5.0)[size % 2]
    return {"logits": scale * rng.normal(size=(rows, classes)), "labels": rng.integers(classes, size=rows)}


def _large_scores(rng: Generator, size: int) -> Inputs:
    case = _scores(rng, size)
    return {**case, "logits": 1000 * case["logits"]}


def _batches(rng: Generator, size: int) -> Inputs:
    slope = rng.normal()
    batches = [
        [x, np.round(slope * x + rng.normal(size=x.shape) / 10, 1)] for x in (_vector(rng, 1) for _ in range(2 + size))
    ]
    return {"batches": batches, "w": round(rng.normal(), 1), "lr": 0.05}


# ---------------------------------------------------------------- what each program is checked for


CHECKS: Mapping[str, tuple[Check, ...]] = {
    "in_place": (
        Check(
            "The gradient and the scaled x",
            "gradient, scaled = gradient_and_scaled(x, w, target)",
            ("gradient", "scaled"),
            _scaled,
        ),
    ),
    "second_backward": (
        Check("The gradient of both losses", "gradient_of_w = gradient(x, w)", ("gradient_of_w",), _two_losses),
    ),
    "zero_grad": (Check("The weight after the steps", "w = fitted(x, y, steps, lr)", ("w",), _line),),
    "column_minus_row": (
        Check(
            "The loss and its gradient",
            "loss, gradient = loss_and_gradient(x, y, w)",
            ("loss", "gradient"),
            _regression,
        ),
    ),
    "detached": (
        Check(
            "Both gradients, and the hidden values",
            "grad1, grad2, hidden = gradients_and_hidden(x, w1, w2)",
            ("grad1", "grad2", "hidden"),
            _layers,
        ),
    ),
    "where_nan": (
        Check(
            "The root and the derivatives through it",
            "from model import Tensor\n\nx = Tensor(numbers)\ny = root(x)\ny.sum().backward()",
            ("y.data", "x.grad"),
            _some_positive,
        ),
        Check(
            "The root of a result",
            "from model import Tensor\n\nx = Tensor(numbers)\ny = root(x * 4.0) * 3.0\ny.sum().backward()",
            ("y.data", "x.grad"),
            _some_positive,
        ),
    ),
    "sign": (Check("The way", "visited = way(w, target, steps, lr)", ("visited",), _descent),),
    "late_capture": (
        Check(
            "The product and its derivatives",
            "product, derivatives = product_and_derivatives(factors)",
            ("product", "derivatives"),
            _factors,
        ),
        Check(
            "A factor of 0",
            "product, derivatives = product_and_derivatives([0.0, *factors])",
            ("product", "derivatives"),
            _factors,
            cases=4,
        ),
    ),
    "overwritten": (
        Check(
            "A value times another",
            "x, y = Value(a), Value(b)\n(x * y).backward()",
            ("x.grad", "y.grad"),
            _two_numbers,
            cases=2,
        ),
        Check("A value plus itself", "x = Value(a)\n(x + x).backward()", ("x.grad",), _two_numbers, cases=2),
        Check("A square", "x = Value(a)\n(x * x).backward()", ("x.grad",), _two_numbers, cases=2),
        Check(
            "Used by two results",
            "x, y = Value(a), Value(b)\n(x * y + x).backward()",
            ("x.grad", "y.grad"),
            _two_numbers,
            cases=2,
        ),
    ),
    "softmax_twice": (
        Check(
            "The loss, the gradient, the probabilities",
            "loss, gradient, probabilities = classified(logits, labels)",
            ("loss", "gradient", "probabilities"),
            _scores,
        ),
        Check(
            "Large logits",
            "loss, gradient, probabilities = classified(logits, labels)",
            ("loss", "gradient"),
            _large_scores,
            cases=4,
        ),
    ),
    "kept_loss": (
        Check(
            "The losses",
            "from model import Tensor\n\n"
            "history = [loss.item() if isinstance(loss, Tensor) else float(loss)\n"
            "           for loss in validation_losses(batches, w)]",
            ("history",),
            _batches,
        ),
        Check(
            "What the list keeps alive",
            "from model import Tensor, topological_order\n\n"
            "history = validation_losses(batches, w)\n"
            "kept = sum(len(topological_order(loss)) - 1 for loss in history if isinstance(loss, Tensor))",
            ("kept",),
            _batches,
        ),
    ),
    "order": (Check("The weight after all batches", "w = trained(batches, lr)", ("w",), _batches),),
}


# ---------------------------------------------------------------- the programs, and what is wrong with each


def _program(task: Task) -> Course:
    course = Course(task.key, task.title, task.text, FOLDER / task.key, (task,), room=ROOM)
    return replace(course, modules=("model",)) if "from model import" in course.starter else course


@dataclass(frozen=True)
class Failure:
    """name: of the failure, as people ask about it. place: where the lab shows it."""

    name: str
    place: Place


def _failures() -> Mapping[str, Failure]:
    rows = read_rows(FOLDER / "failures.toml")
    return MappingProxyType({key: Failure(row.pop("name"), Place(**row)) for key, row in rows.items()})


PROGRAMS = tuple(map(_program, read_tasks(FOLDER, CHECKS)))
FAILURES = _failures()
