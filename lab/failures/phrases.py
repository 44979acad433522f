"""Read what people write about each failure: the sentences in phrases.txt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from lab.failures.catalogue import BY_KEY

FILE = Path(__file__).with_name("phrases.txt")
OTHER: tuple[str, ...] = ()  # the label of sentences about something else
_HEADING = re.compile(r"\[([a-z0-9 -]+)\]")


def parse(text: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the sentences of each heading, by the keys that it names; those of [other] by the label OTHER.

    Raises ValueError, with the number of the line, for an unknown key, a repeated heading or a sentence before the
    first heading.
    """
    sentences: dict[tuple[str, ...], list[str]] = {}
    current: list[str] | None = None
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if not line or line.startswith("#"):
            continue
        if heading := _HEADING.fullmatch(line):
            label = OTHER if heading[1] == "other" else tuple(heading[1].split())
            if unknown := set(label) - BY_KEY.keys():
                raise ValueError(f"line {number}: no failure has the key {min(unknown)!r}")
            if label in sentences:
                raise ValueError(f"line {number}: {line} is there twice")
            current = sentences.setdefault(label, [])
        elif current is None:
            raise ValueError(f"line {number}: a sentence needs a heading such as [nan] above it")
        else:
            current.append(line)
    return {label: tuple(its) for label, its in sentences.items()}


@cache
def phrases() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the sentences of phrases.txt, by label."""
    return MappingProxyType(parse(FILE.read_text(encoding="utf-8")))
