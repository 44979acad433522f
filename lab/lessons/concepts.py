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


CONCEPTS = tuple(Concept(**row) for row in read_rows(Path(__file__).with_suffix(".toml"))["concept"])
