"""Reads and writes the file of a learner's progress, in the same format as the browser (static/progress/file.js)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from lab.practice import folder
from lab.practice.checker import CheckReport
from lab.practice.folder import FolderError
from practice.task import Course

FILE = "progress.json"  # in a learner's folder
MAX_BYTES = 4_000_000  # as in static/progress/file.js
MAX_NUMBER = 2**31  # above every number of tasks and points
MAX_NAME = 80  # characters of a learner's name
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


def _days(found: Any) -> Done:
    return {key: day for key, day in found.items() if is_day(day)} if isinstance(found, dict) else {}


def _objects(found: Any, **fields: type) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key and the fields of each object that has fields of these types and no number out of range."""
    for key, one in found.items() if isinstance(found, dict) else ():
        if isinstance(one, dict) and all(type(one.get(name)) is kind for name, kind in fields.items()):
            values = {name: one[name] for name in fields}
            if all(0 <= value < MAX_NUMBER for value in values.values() if isinstance(value, int)):
                yield key, values


# -- The file in a learner's folder: checks on the command line add to it, the page Start and `summary` read it ------


def read(path: Path) -> Progress:
    """Return the progress in a file. Raises FolderError if it cannot be read or is not a progress file."""
    try:
        return parse(folder.content(path, MAX_BYTES))
    except OSError as error:
        raise FolderError(f"{path} cannot be read: {folder.reason(error)}.") from None
    except ValueError as error:
        raise FolderError(f"{path} cannot be read: {error}. Rename it: the next check makes a new one.") from None


def read_folder(place: Path) -> Progress:
    """Return the progress kept in a folder, empty if there is none. Raises FolderError as `read` does."""
    path = place / FILE
    return read(path) if path.exists() else Progress()


def keep(place: Path, course: Course, text: str, report: CheckReport) -> None:
    """Add the result of a check to the progress in the folder. Raises FolderError."""
    found = checked(read_folder(place), course, text, report)
    folder.replace(place / FILE, packed(found).encode())


def checked(before: Progress, course: Course, text: str, report: CheckReport) -> Progress:
    """Return the progress after a check of a text; tasks that passed earlier keep their day."""
    today = datetime.now(UTC).date().isoformat()  # in UTC, as the browser counts days
    passed = [key for key, ok in report.passed.items() if ok]
    tasks = {course.progress_key(key): today for key in passed} | before.tasks
    earlier = before.texts.get(course.key)
    work = Work(text, text, len(passed))
    if earlier and earlier.passed > work.passed:
        work = replace(earlier, text=text)
    stumbles = dict(before.stumbles)
    if stumble := stumbled(report, today):
        stumbles[course.progress_key(stumble[0])] = stumble[1]
    return replace(before, tasks=tasks, texts=before.texts | {course.key: work}, stumbles=stumbles)


def stumbled(report: CheckReport, day: str) -> tuple[str, Stumble] | None:
    """Return the key of the task that failed and what went wrong in it; None if all passed or the check was stopped."""
    task = next((key for key, ok in report.passed.items() if not ok and not report.stopped), None)
    if task is None:
        return None
    check = next((name for name, ok in report.checks.items() if not ok), "")
    mistake = report.failure.mistake.key if report.failure and report.failure.mistake else ""
    return task, Stumble(check, mistake, day)
