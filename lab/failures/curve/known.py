"""The causes that a curve may show, with their names and advice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.text import read_rows


@dataclass(frozen=True)
class Known:
    """A cause with its name and advice. The head of known.toml explains the fields."""

    name: str
    advice: str
    apart: str
    failure: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


KNOWN: Mapping[str, Known] = {key: Known(**row) for key, row in read_rows(Path(__file__).with_suffix(".toml")).items()}
