"""The causes that a curve may show, with their names and advice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.failures.catalogue import ROWS


@dataclass(frozen=True)
class Known:
    """A cause with its name and advice. failures.toml explains the fields, above the first one."""

    name: str
    advice: str
    apart: str
    failure: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


KNOWN: Mapping[str, Known] = {key: Known(**row) for key, row in ROWS["curve"].items()}
