"""The exercise "Debug these": twelve short programs, each with one of the failures that people ask about most.

Each is a course of one task, whose starter is the broken program. Most of them use the lab's own engine. No title or
text names the failure: FAILURES does, for learners who have found it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import Generator

from lab.text import read_rows
from practice.questions import ProofPlace
from practice.task import Course, Inputs, Task, read_tasks

ROOM = "debug"
FOLDER = Path(__file__).parent


def _vector(rng: Generator, size: int, shortest: int = 2) -> np.ndarray:
    return np.round(rng.uniform(0.5, 3, size=shortest + size), 1)


# ---------------------------------------------------------------- the cases of the checks


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
    if size == 0:
        return {"a": float(rng.integers(2, 6)), "b": float(rng.integers(-5, -1))}
    return {"a": round(rng.uniform(2, 6), 3), "b": -round(rng.uniform(2, 6), 3)}


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


FUNCTIONS: Mapping[str, Callable[..., Any]] = {  # what the rows of tasks.toml name
    "scaled": _scaled,
    "two_losses": _two_losses,
    "line": _line,
    "regression": _regression,
    "layers": _layers,
    "some_positive": _some_positive,
    "descent": _descent,
    "factors": _factors,
    "two_numbers": _two_numbers,
    "scores": _scores,
    "large_scores": _large_scores,
    "batches": _batches,
}


# ---------------------------------------------------------------- the programs and their failures


def _program(task: Task) -> Course:
    course = Course(task.key, task.title, task.text, FOLDER / task.key, (task,), room=ROOM)
    return replace(course, modules=("model", "nn")) if "from model import" in course.starter else course


@dataclass(frozen=True)
class HiddenFailure:
    """The failure of a program: its name, as people ask about it, and the place where the lab shows it."""

    name: str
    place: ProofPlace


def _failures() -> Mapping[str, HiddenFailure]:
    rows = read_rows(FOLDER / "failures.toml")
    return MappingProxyType({key: HiddenFailure(row.pop("name"), ProofPlace(**row)) for key, row in rows.items()})


PROGRAMS = tuple(map(_program, read_tasks(FOLDER, FUNCTIONS)))
FAILURES = _failures()
