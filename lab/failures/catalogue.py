"""The failures that people ask about most, read from catalogue.toml for all pages.

messages.toml has the error messages about shapes, which are not among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lab.failures import programs
from lab.failures.failure import Demonstration, Destination, Failure, Form, Program
from lab.text import read_rows


def _read(file: Path) -> tuple[Failure, ...]:
    """Read the failures from a TOML file.
    Raises KeyError or TypeError for a missing or unknown field, AttributeError for an unknown program."""
    return tuple(map(_failure, read_rows(file)["failure"]))


def _failure(row: dict[str, Any]) -> Failure:
    places = tuple(Destination(**place) for place in row.get("places", ()))
    others = tuple(Form(**other | _programs(other)) for other in row.get("others", ()))
    return Failure(**row | _programs(row) | {"places": places, "others": others})


def _programs(row: Mapping[str, Any]) -> dict[str, Program]:
    return {name: getattr(programs, row[name]) for name in ("broken", "fixed")}


FAILURES = _read(Path(__file__).with_suffix(".toml"))
BY_KEY = MappingProxyType({failure.key: failure for failure in FAILURES})
SHAPES = MappingProxyType(
    {
        key: Demonstration(**row | _programs(row))
        for key, row in read_rows(Path(__file__).with_name("messages.toml")).items()
    }
)
