"""The file of a learner's progress, as the browser (static/progress/file.js) and the command line read and write it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

MAX_BYTES = 4_000_000  # as in static/progress/file.js
MAX_NAME = 80  # characters of a learner's name
VERSION = 2  # the first had neither texts nor a name
YEARS = range(2000, 2100)

Done = dict[str, str]  # what is done -> the day, "2026-01-31"

CHANGED, UNSIGNED = "changed", "unsigned"  # what a file may carry as its doubt, the worse first


@dataclass(frozen=True)
class Work:
    """A learner's file of one course.

    text    as it was last
    best    the text that passed the most tasks
    passed  how many those were, in their order
    """

    text: str
    best: str
    passed: int


@dataclass(frozen=True)
class Stumble:
    """What went wrong last in a task: the name of its check, the key of the known mistake or "", and the day."""

    check: str
    mistake: str
    day: str


@dataclass(frozen=True)
class Progress:
    """What a learner keeps.

    name      of the learner, "" where nobody gave one
    cards, tasks  what is done and when; a question or a program is one of the tasks
    texts     the key of a course -> the learner's file
    stumbles  a task such as "scalars/add" -> what went wrong in it last
    scores    a graph of Predict such as "1.17" -> points, and how many there are
    doubt     CHANGED: it was edited outside the lab, at some time. UNSIGNED: it comes from a file without a checksum.
    """

    name: str = ""
    cards: Done = field(default_factory=dict)
    tasks: Done = field(default_factory=dict)
    texts: dict[str, Work] = field(default_factory=dict)
    stumbles: dict[str, Stumble] = field(default_factory=dict)
    scores: dict[str, tuple[int, int]] = field(default_factory=dict)
    doubt: str = ""


def parse(content: bytes) -> tuple[Progress, bool]:
    """Return what a file holds, and whether this very file was edited after it was saved.

    Files of the first version are read, too. Raises ValueError, with what is wrong, for what is no file of progress.
    """
    if len(content) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES // 1_000_000} MB")
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise ValueError("it is damaged, or no file of progress") from None
    if not isinstance(found, dict) or found.get("lab") != "tensor-ops-lab" or not isinstance(found.get("cards"), dict):
        raise ValueError("it is no file of progress from this lab")
    cards, tasks = _days(found["cards"]), _days(found.get("tasks"))
    said = found.get("checksum")
    if found.get("version") != VERSION:
        edited = said is not None and said != checksum(cards, tasks)
        unsigned = said is None and bool(tasks)
        return Progress(cards=cards, tasks=tasks, doubt=CHANGED if edited else UNSIGNED if unsigned else ""), edited
    edited = said != checksum_of(found)
    carried = found.get("doubt")
    doubt = CHANGED if edited or carried not in ("", UNSIGNED) else carried
    name = found.get("name")
    return Progress(
        name[:MAX_NAME].strip() if isinstance(name, str) else "",
        cards,
        tasks,
        {key: Work(**one) for key, one in _objects(found.get("texts"), text=str, best=str, passed=int)},
        {key: Stumble(**one) for key, one in _objects(found.get("stumbles"), check=str, mistake=str, day=str)},
        {key: (one["got"], one["most"]) for key, one in _objects(found.get("scores"), got=int, most=int)},
        doubt,
    ), edited


def packed(progress: Progress) -> str:
    """Return the text of the file, with its checksum."""
    content: dict[str, Any] = {
        "lab": "tensor-ops-lab",
        "version": VERSION,
        "name": progress.name,
        "cards": progress.cards,
        "tasks": progress.tasks,
        "texts": {key: asdict(one) for key, one in progress.texts.items()},
        "stumbles": {key: asdict(one) for key, one in progress.stumbles.items()},
        "scores": {key: {"got": got, "most": most} for key, (got, most) in progress.scores.items()},
        "doubt": progress.doubt,
    }
    return json.dumps(content | {"checksum": checksum_of(content)}, indent=1)


def checksum_of(content: Mapping[str, Any]) -> str:
    """Return the checksum of a file: a hash of a line for each of its texts and numbers, but for the checksum's own.

    It shows that a file was edited by hand. It is no proof: anybody can compute another one.
    """
    lines = [line for key, value in content.items() if key != "checksum" for line in _lines(key, value)]
    return hashed("".join(sorted(lines, key=lambda line: line.encode("utf-16-be", "surrogatepass"))))


def checksum(cards: Done, tasks: Done) -> str:
    """Return the checksum of a file of the first version."""
    lines = [f"{kind} {key} {day}\n" for kind, done in (("card", cards), ("task", tasks)) for key, day in done.items()]
    return hashed("".join(sorted(lines)))


def hashed(text: str) -> str:
    """Return the 32-bit FNV-1a hash of a text in hexadecimal, as static/progress/hash.js computes it."""
    hash_ = 0x811C9DC5
    # A browser sends half a character (a lone surrogate) as U+FFFD.
    for byte in text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode():
        hash_ = (hash_ ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{hash_:08x}"


def is_day(text: Any) -> bool:
    """Whether a text is a day of the calendar, "2026-01-31", in years in which somebody may learn."""
    if not isinstance(text, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        return False
    try:
        return date.fromisoformat(text).year in YEARS
    except ValueError:
        return False


def _lines(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, (dict, list)):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _lines(f"{path}/{key}", one)
    else:
        yield f"{path} {value if isinstance(value, (str, int)) and not isinstance(value, bool) else '?'}\n"


def _days(found: Any) -> Done:
    return {key: day for key, day in found.items() if is_day(day)} if isinstance(found, dict) else {}


def _objects(found: Any, **fields: type) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects with fields of these types; numbers are not negative."""
    for key, one in found.items() if isinstance(found, dict) else ():
        if isinstance(one, dict) and all(type(one.get(name)) is kind for name, kind in fields.items()):
            values = {name: one[name] for name in fields}
            if all(value >= 0 for value in values.values() if isinstance(value, int)):
                yield key, values
