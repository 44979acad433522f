"""The failures that people ask about most, read from failures.toml for all pages.

NEARBY are the mistakes that are known and not among them: two tensors whose shapes do not fit, overfitting, and others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lab.failures.failure import Cause, Demonstration, Destination, Failure, Form, Shared
from lab.failures.programs import in_pytorch, pair
from lab.text import read_rows

Label = tuple[str, ...]  # keys of failures; several if a sentence may be about any of them, OTHER for none
OTHER: Label = ()
ROWS = read_rows(Path(__file__).with_name("failures.toml"))
_READ_HERE = {"program", "said", "places", "others", "asks", "sign", "read"}  # other fields stay as they are


def failure_of(number: int, key: str, row: Mapping[str, Any]) -> Failure:
    """Read a failure. Raises TypeError for a missing or unknown field, ValueError for a program that is no pair."""
    places = tuple(Destination.at(does, address) for does, address in row.get("places", ()))
    others = tuple(Form(**_in_both(other)) for other in row.get("others", ()))
    says = {"says": "".join(row.get("phrases", ())[:1])}
    return Failure(**says | _in_both(row), number=number, key=key, places=places, others=others)


def sentences_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what people write about a failure."""
    return tuple(" ".join(row["said"].split()).split(" | "))


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    programs = dict(zip(("broken", "fixed"), pair(row["program"]), strict=True)) if "program" in row else {}
    return programs | {name: value for name, value in row.items() if name not in _READ_HERE}


def _in_both(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a failure or a form, its program in PyTorch included."""
    found = _plain(row)
    return {"torch": in_pytorch(found["broken"]), **found}


def _sentences() -> dict[Label, tuple[str, ...]]:
    """Return what people write, by the keys of the failures that it may be about. Raises ValueError for an unknown
    key."""
    rows = [((key,), row) for key, row in ROWS["failure"].items()]
    rows += [((key,), row) for key, row in ROWS["nearby"].items() if "said" in row]
    rows += [(row["keys"], row) for row in ROWS["several"]] + [(OTHER, ROWS["other"])]
    if unknown := {key for label, _ in rows for key in label} - KNOWN.keys():
        raise ValueError(f"no failure has the key {min(unknown)!r}")
    return {label: sentences_of(row) for label, row in rows}


def _causes() -> dict[str, Cause]:
    """Return the forms of failures that a message may have as its cause: "key" for the first, "key/2" for the third."""
    found = {}
    for key, failure in ROWS["failure"].items():
        for form, row in enumerate((failure, *failure.get("others", ()))):
            if "asks" in row:
                name = f"{key}/{form}" if form else key
                found[name] = Cause(row["asks"], key, form, row.get("sign", ""), row.get("read", (key,)))
    return found


FAILURES = tuple(failure_of(at, *failure) for at, failure in enumerate(ROWS["failure"].items(), 1))
BY_KEY = MappingProxyType({failure.key: failure for failure in FAILURES})
_NEARBY = ROWS["shape"] | ROWS["nearby"]
NEARBY = MappingProxyType({key: Demonstration(**_plain(row)) for key, row in _NEARBY.items()})
KNOWN: Mapping[str, Demonstration] = MappingProxyType({**BY_KEY, **NEARBY})
SENTENCES = MappingProxyType(_sentences())
CAUSES = MappingProxyType(_causes())
SHARED = tuple(Shared(**row | {"causes": tuple(CAUSES[name] for name in row["causes"])}) for row in ROWS["shared"])
