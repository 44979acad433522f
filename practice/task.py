"""What a course of tasks is made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any

from numpy.random import Generator

from lab.text import read_rows

Inputs = Mapping[str, Any]  # the values of a program's names: numbers, texts, bools, None, arrays, lists and dicts
Cases = Callable[[Generator, int], Inputs]  # (rng, size) -> a case: size 0 is the smallest that makes sense
Judge = Callable[[Inputs, Mapping[str, Any]], str]


def _nothing(rng: Generator, size: int) -> Inputs:
    return {}


@dataclass(frozen=True)
class Check:
    """A program that uses what the learner wrote, and what must come of it: the same as with the reference.

    name      what is checked, in the learner's words: "A value used twice"
    program   what a learner could have typed; it sees their names and those of `inputs`
    shows     the expressions whose values are compared afterwards, in the order in which they are told: the cause
              before its consequences. A number or an array also in its shape; a text, a bool or None as it is
    inputs    (rng, size) -> a case: size 0 is the smallest that makes sense, and each further one may be larger
    output    which of `shows` the backward pass began at, where finite differences have a say
    upstream  the name of the input that `backward` was given; None: 1
    derivatives  which of `shows` is the derivative of `output` by which input
    rtol      how far a number may be off, relative to the largest one of its array
    cases     how many are run
    judge     (inputs, the values of `shows`) -> what is wrong with them, in one sentence, or "": where many answers are
              right, it decides in place of the comparison with the reference
    secret    names of inputs that only the judge is given, not the program
    slow      takes long: the judge's sentence is all that is told, no smaller case and no known mistake is looked for
    """

    name: str
    program: str
    shows: tuple[str, ...]
    inputs: Cases = _nothing
    output: str = ""
    upstream: str | None = None
    derivatives: Mapping[str, str] | None = None
    rtol: float = 1e-6
    cases: int = 12
    judge: Judge | None = None
    secret: tuple[str, ...] = ()
    slow: bool = False


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people give: the reference with some of its text replaced, (old, new) in each edit."""

    key: str
    sentence: str
    edits: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Task:
    """One step of a course. The head of a tasks.toml says what its fields are."""

    key: str
    title: str
    text: str
    checks: tuple[Check, ...]
    mistakes: tuple[Mistake, ...]
    hints: tuple[str, ...]
    starter: str = ""
    also: tuple[str, ...] = ()


def read_tasks(folder: Path, functions: Mapping[str, Callable[..., Any]]) -> tuple[Task, ...]:
    """Read a course's tasks.toml. KeyError, TypeError: a row lacks something, or has too much.

    functions   what the rows name as `inputs` and `judge`. "some p q": the function that `some` makes for p and q
    """
    content = read_rows(folder / "tasks.toml")
    lines, kinds = content.get("lines", {}), content.get("kinds", {})  # rows name them: $NAME, and kind

    def named(text: str) -> Any:
        name, *words = text.split()
        if not words:
            return functions[name]
        keywords = dict(word.split("=") for word in words if "=" in word)
        return functions[name](*(word for word in words if "=" not in word), **keywords)

    def check(row: dict[str, Any]) -> Check:
        row = kinds[row.pop("kind")] | row if "kind" in row else row
        program = Template(row["program"])
        words = {name: row.pop(name) if name in row else lines[name] for name in program.get_identifiers()}
        called = {field: named(row[field]) for field in ("inputs", "judge") if field in row}
        return Check(**row | called | {"program": program.substitute(words)})

    def mistake(row: dict[str, Any]) -> Mistake:
        edits = (tuple(lines[text[1:]] if text.startswith("$") else text for text in edit) for edit in row["edits"])
        return Mistake(**row | {"edits": tuple(edits)})

    def task(row: dict[str, Any]) -> Task:
        made = {"checks": tuple(map(check, row["checks"])), "mistakes": tuple(map(mistake, row["mistakes"]))}
        return Task(**row | made)

    return tuple(map(task, content["task"]))


@dataclass(frozen=True)
class Course:
    """Tasks that build one file, step by step.

    folder  where `starter.py` (the file to begin with), `reference.py` and `unusual/*.py` are. In the reference, a line
            `# task: KEY` begins the lines that belong to the task of that key, up to the next such line.
    file    what the learner's file is called: "scalars.py"
    modules  files of this project that the learner's file may import: ("model",) for model.py
    room    of several courses that are one exercise for the learner, the name that they share: "debug"
    """

    key: str
    title: str
    question: str
    folder: Path
    tasks: tuple[Task, ...]
    modules: tuple[str, ...] = ()
    room: str = ""

    @property
    def file(self) -> str:
        return f"{self.room or self.key}.py"

    def deed(self, key: str) -> str:
        """What a passed task is called in one's progress: "scalars/add", "debug/order"."""
        return f"{self.room or self.key}/{key}"

    @cached_property
    def starter(self) -> str:
        return (self.folder / "starter.py").read_text("utf-8")

    @cached_property
    def reference(self) -> str:
        return (self.folder / "reference.py").read_text("utf-8")

    def parts(self, text: str) -> list[tuple[str, str]]:
        """A text such as the reference in parts: (key of a task, its lines). The lines before the first are "given"."""
        first, *others = re.split(r"^[ \t]*# task: ([\w-]+)\n", text, flags=re.MULTILINE)
        return [("given", first), *zip(others[::2], others[1::2], strict=True)]

    def lines_of(self, key: str) -> str:
        """The reference's lines for the task of that key: all of it for a single task, none for one without lines."""
        parts = self.parts(self.reference)
        if len(parts) == 1:
            return self.reference
        return "".join(lines for name, lines in parts if name == key).rstrip() + "\n"

    def grown(self, text: str, count: int) -> str:
        """A text such as the reference with its first `count` tasks alone. Lines of a later one that stand inside of a
        function change what is there from the start, and stay."""
        first = {"given", *(task.key for task in self.tasks[:count])}
        return "".join(lines for key, lines in self.parts(text) if key in first or lines.startswith(" " * 8))

    def up_to(self, key: str) -> tuple[Task, ...]:
        """The tasks up to that of the given key, and it. Raises KeyError where there is none."""
        for position, task in enumerate(self.tasks):
            if task.key == key:
                return self.tasks[: position + 1]
        raise KeyError(key)

    def with_mistake(self, mistake: Mistake) -> str:
        """The reference with this mistake in it. Raises ValueError where an edit does not fit exactly once."""
        text = self.reference
        for old, new in mistake.edits:
            if text.count(old) != 1:
                raise ValueError(f"{mistake.key}: {old!r} stands {text.count(old)} times in the reference.")
            text = text.replace(old, new)
        return text
