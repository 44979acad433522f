"""Reads and writes the file of a learner's progress, in the same format as the browser (static/progress/file.js)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

MAX_BYTES = 4_000_000  # as in static/progress/file.js
MAX_NUMBER = 2**31  # above every number of tasks and points
MAX_NAME = 80  # characters of a learner's name
MAX_DEPTH = 5  # of objects in a file, which needs 3
MAX_ENTRIES = 10_000  # texts and numbers in it
MAX_KEY = 200  # characters of the name of one
YEARS = range(2000, 2100)

Done = dict[str, str]  # key of a card or task -> the day it was done, "2026-01-31"


@dataclass(frozen=True)
class Work:
    """A learner's code for one course.

    text    the latest version
    best    the version that passed the most tasks
    passed  how many tasks it passed, in their order
    """

    text: str
    best: str
    passed: int


@dataclass(frozen=True)
class Stumble:
    """The last failure in a task: the name of its check, the key of the known mistake or "", and the day."""

    check: str
    mistake: str
    day: str


@dataclass(frozen=True)
class Progress:
    """A learner's progress.

    name      the learner's name, or ""
    cards, tasks  what is done and when; a question or a program also counts as a task
    texts     the key of a course -> the learner's code
    stumbles  a task such as "scalars/add" -> the last failure in it
    """

    name: str = ""
    cards: Done = field(default_factory=dict)
    tasks: Done = field(default_factory=dict)
    texts: dict[str, Work] = field(default_factory=dict)
    stumbles: dict[str, Stumble] = field(default_factory=dict)


def parse(content: bytes) -> Progress:
    """Return the progress in a file. Raises ValueError, whose message says what is wrong, for any other content."""
    if len(content) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES // 1_000_000} MB")
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise ValueError("it is damaged or not a progress file") from None
    if not isinstance(found, dict) or found.get("lab") != "tensor-ops-lab" or not isinstance(found.get("cards"), dict):
        raise ValueError("it is not a progress file from this lab")
    if _is_large(found):
        raise ValueError("it holds more than a progress file can")
    name = found.get("name")
    return Progress(
        name[:MAX_NAME].strip() if isinstance(name, str) else "",
        _days(found["cards"]),
        _days(found.get("tasks")),
        {key: Work(**one) for key, one in _objects(found.get("texts"), text=str, best=str, passed=int)},
        {key: Stumble(**one) for key, one in _objects(found.get("stumbles"), check=str, mistake=str, day=str)},
    )


def packed(progress: Progress) -> str:
    """Return the text of the file."""
    return json.dumps({"lab": "tensor-ops-lab", **asdict(progress)}, indent=1)


def hashed(text: str) -> str:
    """Return the 32-bit FNV-1a hash of a text in hexadecimal, as static/progress/hash.js computes it: with it the
    browser and the server tell each other which text they mean."""
    hash_ = 0x811C9DC5
    # A browser sends half a character (a lone surrogate) as U+FFFD.
    for byte in text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode():
        hash_ = (hash_ ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{hash_:08x}"


def is_day(text: Any) -> bool:
    """Return True if a value is a date such as "2026-01-31" in a plausible year."""
    if not isinstance(text, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        return False
    try:
        return date.fromisoformat(text).year in YEARS
    except ValueError:
        return False


def _is_large(value: Any) -> bool:
    """Return whether a value has more than a file needs, which would take long to read."""
    level, count = [value], 0
    for _ in range(MAX_DEPTH):
        keys = [key for one in level if isinstance(one, dict) for key in one]
        level = [part for one in level for part in _parts(one)]
        count += len(level)
        if count > MAX_ENTRIES or any(len(key) > MAX_KEY for key in keys):
            return True
    return any(_parts(one) for one in level)


def _parts(value: Any) -> list[Any]:
    return [*value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []


def _days(found: Any) -> Done:
    return {key: day for key, day in found.items() if is_day(day)} if isinstance(found, dict) else {}


def _objects(found: Any, **fields: type) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key and the fields of each object that has fields of these types and no number out of range."""
    for key, one in found.items() if isinstance(found, dict) else ():
        if isinstance(one, dict) and all(type(one.get(name)) is kind for name, kind in fields.items()):
            values = {name: one[name] for name in fields}
            if all(0 <= value < MAX_NUMBER for value in values.values() if isinstance(value, int)):
                yield key, values
