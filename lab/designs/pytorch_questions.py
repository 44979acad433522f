"""Compare this engine with PyTorch by questions whose answers come from running code.

pytorch_questions.toml has a snippet for each engine, and PyTorch's answer where PyTorch is not installed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.expression.run_pytorch import run_programs
from model import Tensor

RECORDED_VERSION = "2.13.0"  # of PyTorch


@dataclass(frozen=True)
class EngineAnswer:
    """What an engine printed, or the error that it raised."""

    text: str
    failed: bool = False

    @property
    def outcome(self) -> str:
        """The answer in a few characters. All errors count as the same outcome."""
        return "✗ error" if self.failed else self.text


@dataclass(frozen=True)
class EngineQuestion:
    """A question. name: two or three words; here and torch: a snippet for each engine; recorded: PyTorch's answer, and
    whether it failed."""

    name: str
    title: str
    here: str
    torch: str
    recorded: str
    failed: bool = False


QUESTIONS = {
    key: EngineQuestion(**row)
    for key, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}


def answer(question: EngineQuestion) -> EngineAnswer:
    """Run a question on this engine; an error that it raises is also an answer."""
    *lines, last = question.here.splitlines()
    names = {"Tensor": Tensor}
    try:
        exec("\n".join(lines), names)
        return EngineAnswer(str(eval(last, names)))
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        return EngineAnswer(_first_sentence(f"{type(error).__name__}: {error}"), failed=True)


def differing(here: Mapping[str, EngineAnswer], there: Mapping[str, EngineAnswer]) -> list[str]:
    """Return the keys of the questions whose outcomes differ."""
    return [key for key in QUESTIONS if there[key].outcome != here[key].outcome]


def pytorch_answers() -> tuple[str, dict[str, EngineAnswer]]:
    """Return PyTorch's version and its answer to each question, by key. Raises RuntimeError if there is no answer."""
    ran = run_programs({key: f"import torch\n{question.torch}" for key, question in QUESTIONS.items()})
    answers = {
        key: EngineAnswer(_first_sentence(one.error), failed=True) if one.error else EngineAnswer(one.printed.strip())
        for key, one in ran.items()
    }
    return next(iter(ran.values())).version, answers


def recorded_answers() -> tuple[str, dict[str, EngineAnswer]]:
    """Return the version of PyTorch that was recorded, and its answer to each question, by key."""
    return RECORDED_VERSION, {key: EngineAnswer(one.recorded, one.failed) for key, one in QUESTIONS.items()}


def _first_sentence(error: str) -> str:
    return error.split("\n")[0].split(". ")[0].rstrip(".")
