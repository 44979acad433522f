"""The words of the field as this lab uses them, as glossary.toml has them: each in one sentence that is true of this
engine, with the place that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from lab.text import read_rows


@dataclass(frozen=True)
class Term:
    """One word.

    meaning      one sentence
    path, query  where the lab shows it: a page, and the parameters of its address
    also         other words for the same thing, by which the search finds it
    """

    meaning: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()


def _read(file: Path) -> Mapping[str, Term]:
    """KeyError, TypeError: a row lacks a field, or has one that there is not."""
    return MappingProxyType({word: Term(**row) for word, row in read_rows(file).items()})


TERMS = _read(Path(__file__).with_suffix(".toml"))
