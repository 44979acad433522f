"""What a class has handed in: each file of progress, as static/progress/file.js writes it, is a row of a table."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.practice.folder import reason
from practice import LADDERS
from practice.debug import PROGRAMS, ROOM
from practice.questions import QUESTIONS

LARGEST = 100_000  # bytes of a file, as in static/progress/path.js

Done = dict[str, str]  # what is done -> the day, "2026-01-31"


@dataclass(frozen=True)
class Row:
    """One file. cards, tasks: what is done and when; a question or a program is one of the tasks."""

    student: str
    cards: Done
    tasks: Done


@dataclass
class Summary:
    """rows: of the files that could be read. notes: a sentence for each that could not, was changed, or is a double."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    complete: bool = True


def summary(files: Sequence[Path]) -> Summary:
    """Read all that can be read."""
    found = Summary()
    first: dict[tuple[tuple[str, str], ...], Path] = {}
    stems = [file.stem for file in files]
    for file in files:
        try:
            cards, tasks, doubt = read(file)
        except (OSError, ValueError) as error:
            why = reason(error) if isinstance(error, OSError) else str(error)
            found.notes.append(f"{plain(file)} is left out: {why}.")
            found.complete = False
            continue
        if doubt:
            found.notes.append(f"{plain(file)} {doubt}.")
        same = (*sorted(cards.items()), *sorted(tasks.items()))
        if same in first:
            found.notes.append(f"{plain(file)} says the same as {plain(first[same])}, on the same days.")
        elif same:
            first[same] = file
        student = file.stem if stems.count(file.stem) == 1 else str(file)
        found.rows.append(Row(plain(student), cards, tasks))
    return found


def read(file: Path) -> tuple[Done, Done, str]:
    """The cards and the tasks of a file, and what its checksum says against them, or "". One of cards alone has none.

    Raises OSError, or ValueError with what is wrong, for what is no file of progress.
    """
    with file.open("rb") as opened:
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST // 1000} kB")
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise ValueError("it is damaged, or no file of progress") from None
    if not isinstance(found, dict) or found.get("lab") != "tensor-ops-lab" or not isinstance(found.get("cards"), dict):
        raise ValueError("it is no file of progress from this lab")
    cards, tasks = _checked(found["cards"]), _checked(found.get("tasks"))
    if "checksum" in found:
        fits = found["checksum"] == checksum(cards, tasks)
        return cards, tasks, "" if fits else "does not fit its checksum: it was changed after it was saved"
    return cards, tasks, "has no checksum: an older version of the lab saved it, or it was changed" if tasks else ""


def checksum(cards: Done, tasks: Done) -> str:
    """As static/progress/file.js computes it: the 32-bit FNV-1a hash of a line for each deed, as eight digits."""
    lines = [f"{kind} {key} {day}\n" for kind, done in (("card", cards), ("task", tasks)) for key, day in done.items()]
    hashed = 0x811C9DC5
    for byte in "".join(sorted(lines)).encode("utf-8", "replace"):
        hashed = (hashed ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{hashed:08x}"


def _checked(found: Any) -> Done:
    """What of it is a key and a day, as in static/progress/file.js."""
    if not isinstance(found, dict):
        return {}
    return {
        key: day for key, day in found.items() if isinstance(day, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", day, re.A)
    }


def table(rows: Iterable[Row], items: Sequence[str] = ()) -> list[list[str]]:
    """The header, and a line for each row. items: keys of a teacher's set, of which each gets a column with its day."""
    groups = {
        **{one.title.lower(): [one.deed(task.key) for task in one.tasks] for one in LADDERS.values()},
        ROOM: [one.deed(one.key) for one in PROGRAMS],
        "questions": [f"questions/{one.key}" for one in QUESTIONS],
    }
    header = ["student", "cards", *(f"{name} (of {len(keys)})" for name, keys in groups.items()), "last day", *items]
    lines = [header]
    for row in rows:
        done = row.cards | row.tasks
        counts = [sum(key in row.tasks for key in keys) for keys in groups.values()]
        numbers = [str(count) for count in (len(row.cards), *counts)]
        lines.append([row.student, *numbers, max(done.values(), default=""), *(done.get(key, "") for key in items)])
    return lines


def drawn(lines: Sequence[Sequence[str]]) -> str:
    """A table for a terminal: texts to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if cell.isdecimal() else cell.ljust(width)
            for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def write_csv(lines: Iterable[Sequence[str]], out: Path) -> None:
    """For a spreadsheet, which would take a name that begins with such a sign for a formula. Raises OSError."""
    with out.open("w", encoding="utf-8-sig", newline="") as opened:
        csv.writer(opened).writerows(
            [f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell for cell in line] for line in lines
        )


def plain(name: object) -> str:
    """A file's name without what a terminal would obey."""
    return "".join(sign if sign.isprintable() else "?" for sign in str(name))
