"""The questions that people ask about automatic differentiation, as concepts.toml has them, for the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.text import read_rows


@dataclass(frozen=True)
class Concept:
    """One question. path, query: the page, and the parameters of its address, that show the answer."""

    question: str
    answer: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()  # other ways to ask it


def _read(file: Path) -> tuple[Concept, ...]:
    """KeyError, TypeError: a row lacks a field, or has one that there is not."""
    return tuple(Concept(**row) for row in read_rows(file)["concept"])


CONCEPTS = _read(Path(__file__).with_suffix(".toml"))
