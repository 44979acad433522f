"""The parts of a course: tasks with their checks and known mistakes, and how a tasks.toml is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from string import Template
from typing import Any

from numpy.random import Generator

from lab.text import read_rows

Inputs = Mapping[str, Any]  # name -> value for a program: numbers, texts, bools, None, arrays, lists and dicts
Cases = Callable[[Generator, int], Inputs]  # (rng, size) -> a case: size 0 is the smallest sensible one
Judge = Callable[[Inputs, Mapping[str, Any]], str]


def _nothing(rng: Generator, size: int) -> Inputs:
    return {}


@dataclass(frozen=True)
class Check:
    """A program that uses the learner's code and must give the same results as with the reference.

    name      what is checked, in the learner's words: "A value used twice"
    program   code that a learner could have typed; it sees the learner's names and those of `inputs`
    shows     the expressions to compare after it, in the order of the report: a cause before its consequences. Numbers
              and arrays are also compared in shape
    inputs    (rng, size) -> a case: size 0 is the smallest sensible one, larger sizes may give larger cases
    output    the one of `shows` at which the backward pass begins, if finite differences can confirm it
    upstream  the name of the input that is passed to `backward`; None for 1
    derivatives  which of `shows` is the derivative of `output` by which input
    rtol      tolerance relative to the largest number of an array
    cases     the number of cases to run
    judge     (inputs, the values of `shows`) -> what is wrong with them, in one sentence, or ""; it replaces the
              comparison with the reference if many answers are right
    refusals  kinds of exceptions that may be right, too; the judge then gets no values
    secret    names of inputs that only the judge receives, not the program
    decides   names of inputs, each true or false, on which an `if` of the program depends: the learner's process gets
              the lines that are run, not the value
    slow      whether it takes long: then only the judge's sentence is reported, without a search for a smaller case or
              a known mistake
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
    refusals: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    decides: tuple[str, ...] = ()
    slow: bool = False

    def program_for(self, inputs: Inputs) -> str:
        """Return the program of a case. The lines that are run replace each `if` on a name of `decides`."""
        return _decided(self.program, tuple((name, bool(inputs[name])) for name in self.decides))


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people give: the reference with parts of its text replaced, (old, new) in each edit."""

    key: str
    sentence: str
    edits: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Task:
    """One step of a course. The comment at the top of a tasks.toml explains the fields."""

    key: str
    title: str
    text: str
    checks: tuple[Check, ...]
    mistakes: tuple[Mistake, ...]
    hints: tuple[str, ...]
    starter: str = ""


def read_tasks(folder: Path, functions: Mapping[str, Callable[..., Any]]) -> tuple[Task, ...]:
    """Read a course's tasks.toml. Raises KeyError or TypeError if a row has missing or unknown fields.

    functions   what the rows name as `inputs` and `judge`; "some p q" is the function that `some` makes for p and q
    """
    content = read_rows(folder / "tasks.toml")
    lines, kinds = content.get("lines", {}), content.get("kinds", {})  # shared texts, which rows use as $NAME and kind

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

    folder  the folder of `starter.py` (the initial file) and `reference.py`. In the reference, a line `# task: KEY`
            begins the lines of the task with that key, up to the next such line
    modules  modules of this project that the learner's file may import: ("model", "nn") for model.py and nn.py
    room    the shared name of several courses that the learner sees as one exercise, such as "debug", or ""
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
        """The name of the learner's file: "scalars.py"."""
        return f"{self.room or self.key}.py"

    def progress_key(self, key: str) -> str:
        """Return the key of a task in a learner's progress, such as "scalars/add" or "debug/order"."""
        return f"{self.room or self.key}/{key}"

    @cached_property
    def starter(self) -> str:
        return (self.folder / "starter.py").read_text("utf-8")

    @cached_property
    def reference(self) -> str:
        return (self.folder / "reference.py").read_text("utf-8")

    def parts(self, text: str) -> list[tuple[str, str]]:
        """Split a text such as the reference into (task key, lines). The lines before the first task are "given"."""
        return _parts(text)

    def lines_of(self, key: str) -> str:
        """Return the reference's lines for a task: all of them for a single task, none for one without lines."""
        parts = self.parts(self.reference)
        if len(parts) == 1:
            return self.reference
        return "".join(lines for name, lines in parts if name == key).rstrip() + "\n"

    def grown(self, text: str, count: int) -> str:
        """Return a text such as the reference with only the lines of its first `count` tasks. Lines of later tasks
        inside a function stay, as they change code that is there from the start."""
        return _grown(text, self._first(count))

    def grown_with(self, mistake: Mistake, count: int) -> str:
        """Return the reference with this mistake, and of it only the lines of its first `count` tasks, with a cache: a
        wrong answer is compared with hundreds of such texts, the next one with the same. Raises as `with_mistake`."""
        return _grown_with(self.reference, self._first(count), mistake)

    def _first(self, count: int) -> tuple[str, ...]:
        return ("given", *(task.key for task in self.tasks[:count]))

    def up_to(self, key: str) -> tuple[Task, ...]:
        """Return the tasks up to and including the one with the given key. Raises KeyError if there is none."""
        for position, task in enumerate(self.tasks):
            if task.key == key:
                return self.tasks[: position + 1]
        raise KeyError(key)

    def with_mistake(self, mistake: Mistake) -> str:
        """Return the reference with this mistake in it. Raises ValueError unless each edit matches exactly once."""
        return _with_mistake(self.reference, mistake)


def _parts(text: str) -> list[tuple[str, str]]:
    first, *others = re.split(r"^[ \t]*# task: ([\w-]+)\n", text, flags=re.MULTILINE)
    return [("given", first), *zip(others[::2], others[1::2], strict=True)]


def _grown(text: str, keys: Sequence[str]) -> str:
    return "".join(lines for key, lines in _parts(text) if key in keys or lines.startswith(" " * 8))


def _with_mistake(text: str, mistake: Mistake) -> str:
    for old, new in mistake.edits:
        if text.count(old) != 1:
            raise ValueError(f"{mistake.key}: {old!r} occurs {text.count(old)} times in the reference.")
        text = text.replace(old, new)
    return text


@lru_cache(200)
def _decided(program: str, decisions: tuple[tuple[str, bool], ...]) -> str:
    known, lines = dict(decisions), list[ast.stmt]()
    for line in ast.parse(program).body if known else ():
        if isinstance(line, ast.If) and isinstance(line.test, ast.Name) and line.test.id in known:
            lines += line.body if known[line.test.id] else line.orelse
        else:
            lines.append(line)
    return "\n".join(map(ast.unparse, lines)) if known else program


@lru_cache(3000)  # as many as the driver keeps compiled, and of the same texts
def _grown_with(reference: str, keys: Sequence[str], mistake: Mistake) -> str:
    return _grown(_with_mistake(reference, mistake), keys)
