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
# Rule key -> key in KNOWN, where they differ; rules of this folder and of the doctor.
KNOWN_KEY = {
    "chance": "labels",
    "swinging": "rate-high",
    "blowing-up": "rate-high",
    "ended-grown": "rate-high",
    "saturated": "rate-high",
    "at-guessing": "flat",
    "no-motion": "frozen",
    "spikes": "batch-noise",
}
