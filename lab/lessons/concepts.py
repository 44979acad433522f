"""The questions about automatic differentiation in concepts.toml, which the search answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.text import read_rows


@dataclass(frozen=True)
class Concept:
    """One question. path, query: the page that shows the answer, and the parameters of its address."""

    question: str
    answer: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()  # other ways to ask it


def _read(file: Path) -> tuple[Concept, ...]:
    """Read the questions. Raises KeyError or TypeError if a row lacks a field or has an unknown one."""
    return tuple(Concept(**row) for row in read_rows(file)["concept"])


CONCEPTS = _read(Path(__file__).with_suffix(".toml"))
