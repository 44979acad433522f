"""The terms of glossary.toml, each explained in a sentence that is true of this engine, and the page that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from lab.text import read_rows


@dataclass(frozen=True)
class Term:
    """One term.

    meaning      its explanation in one sentence
    path, query  where the lab shows it: a page, and the parameters of its address
    also         synonyms, for the search
    """

    meaning: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()


TERMS = MappingProxyType({word: Term(**row) for word, row in read_rows(Path(__file__).with_suffix(".toml")).items()})
