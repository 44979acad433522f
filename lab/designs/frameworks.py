"""Compare this engine with PyTorch by questions whose answers come from running code.

Each question has a function for this engine, and a snippet in frameworks.toml that prints PyTorch's answer. Where
PyTorch is not installed, its answers are those in frameworks.json. This command records them with their version:

    python -m lab.designs.frameworks
"""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
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
    return f"{x.grad:g}"


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
        """The answer in a few characters. All errors count as the same outcome."""
        return "✗ error" if self.failed else self.text


@dataclass(frozen=True)
class EngineQuestion:
    """A question. name: two or three words; ask: runs it on this engine; torch: a snippet for PyTorch."""

    name: str
    title: str
    torch: str
    ask: Callable[[], Any]

    @property
    def source(self) -> str:
        """The source of `ask` without its first line."""
        return dedent("".join(inspect.getsourcelines(self.ask)[0][1:]))


RECORDED = Path(__file__).with_suffix(".json")
QUESTIONS = {
    key: EngineQuestion(**row, ask=globals()[f"_{key}"])
    for key, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}


def answer(question: EngineQuestion) -> EngineAnswer:
    """Run a question on this engine; an error that it raises is also an answer."""
    try:
        return EngineAnswer(str(question.ask()))
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        return EngineAnswer(_first_sentence(f"{type(error).__name__}: {error}"), failed=True)


def differing(here: Mapping[str, EngineAnswer], there: Mapping[str, EngineAnswer]) -> list[str]:
    """Return the keys of the questions whose outcomes differ."""
    return [key for key in QUESTIONS if there[key].outcome != here[key].outcome]


def pytorch_answers() -> tuple[str, dict[str, EngineAnswer]]:
    """Return PyTorch's version and its answer to each question, by key. Raises RuntimeError if there is no answer."""
    header = "import torch\nimport numpy as np\n"
    ran = run_programs({key: header + question.torch for key, question in QUESTIONS.items()})
    answers = {
        key: EngineAnswer(_first_sentence(one.error), failed=True) if one.error else EngineAnswer(one.printed.strip())
        for key, one in ran.items()
    }
    return next(iter(ran.values())).version, answers


def recorded_answers() -> tuple[str, dict[str, EngineAnswer]]:
    """Return the version of PyTorch that was recorded, and its answer to each question, by key."""
    recorded = json.loads(RECORDED.read_text("utf-8"))
    return recorded["version"], {key: EngineAnswer(**recorded["answers"][key]) for key in QUESTIONS}


def _record() -> None:
    """Write the answers of the installed PyTorch to frameworks.json."""
    version, answers = pytorch_answers()
    recorded = {"version": version.split("+")[0], "answers": {key: asdict(one) for key, one in answers.items()}}
    RECORDED.write_text(json.dumps(recorded, indent=2) + "\n", "utf-8")


def _first_sentence(error: str) -> str:
    return error.split("\n")[0].split(". ")[0].rstrip(".")


if __name__ == "__main__":
    _record()
