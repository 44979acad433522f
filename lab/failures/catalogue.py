"""The failures that people ask about most, read from failures.toml for all pages.

NEARBY are the mistakes that are known and not among them: two tensors whose shapes do not fit, overfitting, and others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lab.failures.failure import Demonstration, Destination, Failure, Shared
from lab.failures.programs import in_pytorch, pair
from lab.text import read_rows

Label = tuple[str, ...]  # keys of failures; several if a sentence may be about any of them, OTHER for none
OTHER: Label = ()
ROWS = read_rows(Path(__file__).with_name("failures.toml"))
_READ_HERE = {"program", "said", "places", "others"}  # other fields stay as they are
_OF_A_FORM = {"others", "torch", "asks", "sign", "read"}  # other fields are those of all forms


def failure_of(number: int, key: str, row: Mapping[str, Any]) -> Failure:
    """Read a failure. Raises TypeError for a missing or unknown field, ValueError for a program that is no pair."""
    fields = {"says": "".join(row.get("phrases", ())[:1]), **_plain(row)}
    fields = {"torch": in_pytorch(fields["broken"]), "read": (key,), **fields}
    places = tuple(Destination.at(does, address) for does, address in row.get("places", ()))
    in_all = {name: value for name, value in row.items() if name not in _OF_A_FORM}
    forms = tuple(
        failure_of(number, key, in_all | ({"says": ""} if "silent" in other else {}) | other | {"form_number": at})
        for at, other in enumerate(row.get("others", ()), 1)
    )
    return Failure(**fields, number=number, key=key, places=places, others=forms)


def sentences_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what people write about a failure."""
    return tuple(" ".join(row["said"].split()).split(" | "))


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    programs = dict(zip(("broken", "fixed"), pair(row["program"]), strict=True)) if "program" in row else {}
    return programs | {name: value for name, value in row.items() if name not in _READ_HERE}


def _sentences() -> dict[Label, tuple[str, ...]]:
    """Return what people write, by the keys of the failures that it may be about. Raises ValueError for an unknown
    key."""
    rows = [((key,), row) for key, row in ROWS["failure"].items()]
    rows += [((key,), row) for key, row in ROWS["nearby"].items() if "said" in row]
    rows += [(row["keys"], row) for row in ROWS["several"]] + [(OTHER, ROWS["other"])]
    if unknown := {key for label, _ in rows for key in label} - KNOWN.keys():
        raise ValueError(f"no failure has the key {min(unknown)!r}")
    return {label: sentences_of(row) for label, row in rows}


def _cause(name: str) -> Failure:
    """Return the form of a failure that a message may have as its cause: "key" for the first, "key/2" for the third."""
    key, _, form = name.partition("/")
    return BY_KEY[key].in_form(int(form or 0))


FAILURES = tuple(failure_of(at, *failure) for at, failure in enumerate(ROWS["failure"].items(), 1))
BY_KEY = MappingProxyType({failure.key: failure for failure in FAILURES})
NEARBY = MappingProxyType({key: Demonstration(**_plain(row)) for key, row in ROWS["nearby"].items()})
KNOWN: Mapping[str, Demonstration] = MappingProxyType({**BY_KEY, **NEARBY})
SENTENCES = MappingProxyType(_sentences())
SHARED = tuple(Shared(**row | {"causes": [*map(_cause, row["causes"])]}) for row in ROWS["shared"])
