"""The causes that a curve may show, and all that is said of each wherever it is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.text import read_rows


@dataclass(frozen=True)
class Known:
    """A cause, and what is said of it wherever it is found: the head of known.toml says what the fields are."""

    name: str
    advice: str
    apart: str
    failure: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


KNOWN: Mapping[str, Known] = {key: Known(**row) for key, row in read_rows(Path(__file__).with_suffix(".toml")).items()}
# Keys of rules, here and the doctor's, of what is known by another key.
CALLED = {
    "chance": "labels",
    "swinging": "rate-high",
    "blowing-up": "rate-high",
    "ended-grown": "rate-high",
    "at-guessing": "flat",
    "no-motion": "frozen",
    "spikes": "batch-noise",
}
