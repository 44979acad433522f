"""The failures that people ask about most, read from failures.toml for all pages.

SHAPES are the error messages about shapes, which are not among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lab.failures import programs
from lab.failures.failure import Demonstration, Destination, Failure, Form, patched
from lab.text import read_rows

Label = tuple[str, ...]  # keys of failures; several if a sentence may be about any of them, OTHER for none
OTHER: Label = ()
FIELDS = {"broken", "fixed", "said", "places", "others"}  # of a row, which are not those of a failure as they stand
_ROWS = read_rows(Path(__file__).with_name("failures.toml"))


def failure_of(row: Mapping[str, Any]) -> Failure:
    """Read a failure. Raises TypeError for a missing or unknown field, AttributeError for an unknown program, and
    ValueError for a patch that does not fit."""
    places = tuple(Destination(**place) for place in row.get("places", ()))
    others = tuple(Form(**_plain(other)) for other in row.get("others", ()))
    return Failure(**_plain(row), places=places, others=others)


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    broken = getattr(programs, row["broken"])
    rest = {name: value for name, value in row.items() if name not in FIELDS}
    return {**rest, "broken": broken, "fixed": patched(broken, row["fixed"])}


def _sentences() -> dict[Label, tuple[str, ...]]:
    """Return what people write, by the keys of the failures that it may be about. Raises ValueError for an unknown
    key."""
    rows = [((row["key"],), row) for row in _ROWS["failure"]]
    rows += [(row["keys"], row) for row in _ROWS["several"]] + [(OTHER, _ROWS["other"])]
    if unknown := {key for label, _ in rows for key in label} - BY_KEY.keys():
        raise ValueError(f"no failure has the key {min(unknown)!r}")
    return {label: tuple(row["said"].splitlines()) for label, row in rows}


FAILURES = tuple(map(failure_of, _ROWS["failure"]))
BY_KEY = MappingProxyType({failure.key: failure for failure in FAILURES})
SENTENCES = MappingProxyType(_sentences())
SHAPES = MappingProxyType({key: Demonstration(**_plain(row)) for key, row in _ROWS["shape"].items()})
