"""What a runner of learners' code is asked and answers: programs and numbers. `LocalRunner` is one in this process, for
this project's own texts; the one for learners' texts is in lab/practice/sandbox.py."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from lab.practice import driver
from practice.task import Inputs


@dataclass(frozen=True)
class Job:
    """One program, the values of its inputs, and the expressions to evaluate after it.

    secret  names of inputs that are not sent: only the judge of the answer sees them
    """

    program: str
    inputs: Inputs
    shows: tuple[str, ...]
    secret: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """An exception: the name of its class, its message, line and column in the learner's file, or None, and the names
    of its class and the classes above it."""

    kind: str
    message: str
    line: int | None = None
    column: int | None = None
    bases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The result of a job: the value of each expression up to the first that failed, and how it failed.

    verdict  the judge's objection, "" if there is none or if the exception is one that the task asks for; None without
             a judge or after any other exception
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    problem: Problem | None = None
    verdict: str | None = None


class StoppedError(Exception):
    """The learner's process ended without an answer: why, in one sentence, and the line of their code, if known."""

    def __init__(self, sentence: str, line: int | None = None) -> None:
        super().__init__(sentence)
        self.line = line


class Runner(Protocol):
    """Something that loads a text and runs programs with it."""

    def load(self, source: str, file: str, modules: Sequence[str] = ()) -> Problem | None:
        """Run the text as a module that may import these `modules` of the project; return what it raised, or None.
        Raises StoppedError."""

    def run(self, jobs: Sequence[Job]) -> list[Answer]:
        """Run each job and return its answer. Raises StoppedError."""


class LocalRunner:
    """A runner in this process, for this project's own texts only. NumPy's warnings are off: mistakes may overflow."""

    def load(self, source: str, file: str, modules: Sequence[str] = ()) -> Problem | None:
        self._file = file
        try:
            with np.errstate(all="ignore"):
                self._namespace = driver.load(source, file)
        except Exception as error:
            return problem(driver.failed(error, file))
        return None

    def run(self, jobs: Sequence[Job]) -> list[Answer]:
        with np.errstate(all="ignore"):
            return [answer(driver.run(self._namespace, self._file, *packed(job)), job.shows) for job in jobs]


def packed(job: Job) -> tuple[str, dict[str, Any], list[str]]:
    """Return a job as arguments for `driver.run`, with fresh copies of its arrays."""
    inputs = {name: _copied(value) for name, value in job.inputs.items() if name not in job.secret}
    return job.program, inputs, [*job.shows]


def _copied(value: Any) -> Any:
    """Return an input as the learner's process receives it."""
    if type(value) is np.ndarray and value.ndim:
        return value.copy()
    return driver.decode(driver.encode(value, math.inf))


def encoded(inputs: Inputs, secret: Sequence[str] = ()) -> dict[str, Any]:
    """Return inputs as JSON data, without the secret ones."""
    return {name: driver.encode(value, math.inf) for name, value in inputs.items() if name not in secret}


def answer(data: Mapping[str, Any], shows: Sequence[str]) -> Answer:
    """Read the driver's answer to a job with these expressions from JSON data. Raises AttributeError, and what
    `driver.decode` raises, for anything else."""
    values = {str(name): driver.decode(value) for name, value in data["values"].items()}
    failure = problem(data["error"]) if "error" in data else None
    if [*values] != [*shows][: len(values)] or (failure is None and len(values) < len(shows)):
        raise ValueError("The answer is to other expressions.")
    return Answer(values, failure)


def problem(data: Mapping[str, Any]) -> Problem:
    """Read an exception that the driver reported, up to the lengths that the driver keeps to. Raises what
    `driver.decode` raises for anything else."""
    texts = data["kind"], data["message"], *data.get("bases", ())
    kind, message, *bases = map(driver.decode, texts)
    if not all(isinstance(text, str) for text in (kind, message, *bases)):
        raise TypeError("The kind, the message and the classes of an exception are texts.")
    line, column = (place if type(place) is int and place > 0 else None for place in (data["line"], data["column"]))
    names = tuple(base[: driver.MAX_NAME] for base in bases[: driver.MAX_BASES])
    return Problem(kind[: driver.MAX_NAME], message[: driver.MAX_MESSAGE], line, column, names)
