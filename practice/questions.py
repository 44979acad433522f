"""Defines the kinds of questions and reads questions.toml. Each question links to the page that proves its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.text import read_rows
from practice import question_programs
from practice.question_programs import Engine

TOPICS = ("Derivatives", "Graph and order", "Shapes", "Engine", "Training", "Frameworks")


@dataclass(frozen=True)
class ProofPlace:
    """The place where the lab proves an answer.

    file, query  the page, and the parameters of its address that set its state
    look         what to look for there, a sentence
    """

    file: str
    look: str
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """The fields of all kinds of questions.

    key      the key in a learner's progress: it must never change
    because  why the right answer is right, in a few sentences
    run      the code that the question is about, as a function of an engine, or None. Its lines are shown with the
             question, its result or exception with the answer
    """

    key: str
    topic: str
    text: str
    hint: str
    because: str
    place: ProofPlace
    run: Callable[[Engine], object] | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Option:
    """One answer to choose. why_not: why it is wrong, or "" for the right one."""

    text: str
    why_not: str = ""


@dataclass(frozen=True)
class ChoiceQuestion(Question):
    """A question with options, of which one is right."""

    options: tuple[Option, ...] = ()


@dataclass(frozen=True)
class Slip:
    """A wrong number that people arrive at. value: computes it as they do; why_not: what is wrong with it."""

    value: Callable[[Engine], float]
    why_not: str


@dataclass(frozen=True)
class NumberQuestion(Question):
    """A question for a number, which `answer` computes; without it, `run` does."""

    answer: Callable[[Engine], float] | None = None
    slips: tuple[Slip, ...] = ()


def _read(file: Path) -> tuple[Question, ...]:
    """Read the questions. Raises KeyError or TypeError for missing or unknown fields."""
    return tuple(map(_question, read_rows(file)["question"]))


def _question(row: Mapping[str, Any]) -> Question:
    made: dict[str, Any] = {**row, "place": ProofPlace(**row["place"])}
    kind = {"choice": ChoiceQuestion, "number": NumberQuestion}[made.pop("kind")]
    for name in ("run", "answer"):
        if name in made:
            made[name] = _function(made[name])
    if "options" in made:
        made["options"] = tuple(Option(**option) for option in made["options"])
    if "slips" in made:
        made["slips"] = tuple(Slip(_function(slip["value"]), slip["why_not"]) for slip in made["slips"])
    question: Question = kind(**made)
    return question


def _function(value: str | float) -> Callable[[Engine], Any]:
    """Return the function of question_programs.py with this name, or a function that returns this number."""
    if isinstance(value, str):
        function: Callable[[Engine], Any] = getattr(question_programs, value)
        return function
    return lambda engine: value


QUESTIONS = _read(Path(__file__).with_name("questions.toml"))
