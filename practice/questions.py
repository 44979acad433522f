"""Questions, each tied to the place in the lab that proves its answer: the kinds, and how questions.toml is read."""

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
    """Where the lab proves an answer.

    file, query  the page, and the parameters of its address that prepare the state
    look         what to see there, a sentence
    """

    file: str
    look: str
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """What all kinds have.

    key      in a file of one's progress: it stays what it is
    because  why the right answer is right, in a few sentences
    run      what the question is about, as a function of an engine: its lines are shown with the question, and what it
             answers, or raises, with the answer. None where there are none
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
    """One answer to choose. why_not: why it is wrong; "" for the right one."""

    text: str
    why_not: str = ""


@dataclass(frozen=True)
class ChoiceQuestion(Question):
    """One of its options is right."""

    options: tuple[Option, ...] = ()


@dataclass(frozen=True)
class Slip:
    """A wrong number that people come to. value: how they come to it; why_not: what it leaves out."""

    value: Callable[[Engine], float]
    why_not: str


@dataclass(frozen=True)
class NumberQuestion(Question):
    """`answer` computes the number; where it is not given, `run` does."""

    answer: Callable[[Engine], float] | None = None
    slips: tuple[Slip, ...] = ()


@dataclass(frozen=True)
class Point:
    """Something that a good answer says.

    what     a clause: "Found:" or "Not found:" stands before it
    sayings  each is some patterns: a sentence in which all of them are found says it, and none of them may be negated
             there, unless NOT is one of them
    against  a sentence with any of these patterns says the opposite: then the point is not there
    """

    what: str
    sayings: tuple[tuple[str, ...], ...]
    against: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextQuestion(Question):
    """A short text, held against key points; all of them make it whole."""

    points: tuple[Point, ...] = ()


def _read(file: Path) -> tuple[Mapping[str, str], tuple[Question, ...]]:
    """The patterns that have names, and the questions. KeyError, TypeError: a row lacks something, or has too much."""
    content = read_rows(file)
    words: Mapping[str, str] = content["words"]
    return words, tuple(_question(row, words) for row in content["question"])


def _question(row: Mapping[str, Any], words: Mapping[str, str]) -> Question:
    made: dict[str, Any] = {**row, "place": ProofPlace(**row["place"])}
    kind = {"choice": ChoiceQuestion, "number": NumberQuestion, "text": TextQuestion}[made.pop("kind")]
    for name in ("run", "answer"):
        if name in made:
            made[name] = _function(made[name])
    if "options" in made:
        made["options"] = tuple(Option(**option) for option in made["options"])
    if "slips" in made:
        made["slips"] = tuple(Slip(_function(slip["value"]), slip["why_not"]) for slip in made["slips"])
    if "points" in made:
        made["points"] = tuple(_point(point, words) for point in made["points"])
    question: Question = kind(**made)
    return question


def _function(value: str | float) -> Callable[[Engine], Any]:
    """One of question_programs.py; or, where a number stands there, one that gives it."""
    if isinstance(value, str):
        function: Callable[[Engine], Any] = getattr(question_programs, value)
        return function
    return lambda engine: value


def _point(row: Mapping[str, Any], words: Mapping[str, str]) -> Point:
    def pattern(text: str) -> str:
        return words[text[1:]] if text.startswith("$") else text

    sayings = tuple(tuple(map(pattern, saying)) for saying in row["sayings"])
    return Point(row["what"], sayings, tuple(map(pattern, row.get("against", ()))))


_WORDS, QUESTIONS = _read(Path(__file__).with_name("questions.toml"))
NOT = _WORDS["NOT"]
