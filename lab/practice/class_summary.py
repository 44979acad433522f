"""Summarizes for a teacher what a class handed in: a table with a row for each learner, whose code is checked again.

A learner hands in a progress file, a folder of their own editor, or Python files.
"""

from __future__ import annotations

import contextlib
import csv
import glob
import os
import re
import secrets
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from tqdm import tqdm

from lab.practice import isolation, progress_file
from lab.practice.checker import CheckReport
from lab.practice.folder import FolderError, content, printable, read_file, reason
from lab.practice.judge_processes import MAX_PLACES, Judges
from lab.practice.progress_file import MAX_BYTES, Done, Progress, Stumble, Work, parse
from lab.practice.runner import StoppedError
from lab.text import listed
from practice import COURSES
from practice.debug import PROGRAMS, ROOM
from practice.questions import QUESTIONS
from practice.task import Course

MAX_NAME_WIDTH = 40  # columns of a terminal
# What may begin a formula at the start of a cell, or where some spreadsheets split a cell
FORMULA = re.compile(r"(?<!\w)[=+@\-\u2212]")


@dataclass(frozen=True)
class Row:
    """One learner.

    tasks   what is done and when; a question or a program also counts as a task
    texts   the key of a course -> the code
    passes  the key of a course -> how many tasks the code passes now, if it could be checked
    stumbles  a task -> the failure in it: of the check now, else of the learner's last check
    unread   whether the file could not be read, so that the rest is empty
    stopped  whether the check did not finish, so that the code may pass more
    """

    student: str
    source: Path
    cards: Done = field(default_factory=dict)
    tasks: Done = field(default_factory=dict)
    texts: Mapping[str, Work] = field(default_factory=dict)
    passes: Mapping[str, int] = field(default_factory=dict)
    stumbles: Mapping[str, Stumble] = field(default_factory=dict)
    unread: bool = False
    stopped: bool = False


@dataclass
class Summary:
    """The rows of all files, and a note on each that is unreadable or a duplicate."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    complete: bool = True


def summary(names: Sequence[str | Path], run_unconfined: bool = False) -> Summary:
    """Read the files and check the code in them; whatever a file holds, it is one row, and a note if it is unreadable.

    names: files, folders, and patterns such as "*.json", which not every shell expands
    run_unconfined: whether to run the code even where nothing but limits would hold it
    """
    found = Summary()
    first: dict[tuple[object, ...], Path] = {}
    for path in _expand(names, found):
        try:
            row = _read(path, found)
        except (OSError, ValueError, FolderError, RecursionError, MemoryError) as error:
            why = reason(error) if isinstance(error, OSError) else str(error).removesuffix(".")
            found.notes.append(f"{printable(path)} is skipped: {printable(why)}.")
            found.complete = False
            found.rows.append(Row(_cut(printable(path.stem)), path, unread=True))
            continue
        same = (*sorted(row.cards.items()), *sorted(row.tasks.items()))
        # In class, many do the same on the same day. If there is code, a copy has the same code as well.
        whole = (same, *sorted((key, work.text) for key, work in row.texts.items()))
        if same and (other := first.setdefault(whole, path)) != path:
            found.notes.append(f"{printable(path)} has the same entries and dates as {printable(other)}.")
        found.rows.append(row)
    students = Counter(row.student for row in found.rows)
    found.rows = [
        replace(row, student=row.student if students[row.student] == 1 else f"{row.student} ({printable(row.source)})")
        for row in found.rows
    ]
    if any(row.texts for row in found.rows):
        _check(found, run_unconfined)
    return found


# -- Files, folders and patterns ---------------------------------------------------------------------------------------


def _expand(names: Sequence[str | Path], found: Summary) -> Iterator[Path]:
    """List the files and the learners' folders that the names and patterns stand for, each once."""
    seen: dict[Path, None] = {}
    for name in map(str, names):
        if os.path.lexists(name) or not glob.has_magic(name):
            seen |= dict.fromkeys(_inside(Path(name)))
        elif matches := sorted(glob.glob(name)):
            seen |= dict.fromkeys(path for one in matches for path in _inside(Path(one)))
        else:
            found.notes.append(f"No file matches {printable(name)}.")
            found.complete = False
    return iter(seen)


def _inside(path: Path, folders: bool = True) -> Iterator[Path]:
    """Yield a file or a learner's folder itself; of any other folder, what it holds, also inside its folders."""
    if not os.path.isdir(path) or _is_learners(path):
        yield path
        return
    try:
        inside = sorted(path.iterdir())
    except OSError:
        inside = []
    found = [
        one for one in inside if _is_handed_in(one) or (folders and os.path.isdir(one) and one.name[0] not in "._")
    ]
    for one in found:
        yield from [one] if one.is_symlink() else _inside(one, folders=False)
    if not found:
        yield path  # reading it says what is missing


def _is_handed_in(path: Path) -> bool:
    return path.suffix in (".json", ".py") or _is_learners(path)


def _is_learners(folder: Path) -> bool:
    return any(os.path.isfile(folder / course.file) for course in COURSES.values())


def _read(path: Path, found: Summary) -> Row:
    """Read one learner. Raises OSError, ValueError and FolderError, RecursionError and MemoryError."""
    _refuse_link(path)
    if os.path.isdir(path):
        if not _is_learners(path):
            raise ValueError("the folder holds no progress file and no learner's file")
        return _read_folder(path, found)
    if path.suffix == ".py":
        return _read_python(path)
    return _row(
        path,
        parse(content(path, MAX_BYTES)),
        path.resolve().parent.name if path.name == progress_file.FILE else path.stem,
    )


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise ValueError(f"{path.name} is a symbolic link, and what it leads to may be somebody else's")


def _read_folder(path: Path, found: Summary) -> Row:
    """Read the folder of a learner's own editor, whose code may be newer than its progress file."""
    own = {progress_file.FILE, *(course.file for course in COURSES.values())}
    for name in own:
        _refuse_link(path / name)
    progress = progress_file.read_folder(path)
    if others := sorted(one.name for one in path.iterdir() if one.name not in own and _is_handed_in(one)):
        found.notes.append(
            f"{printable(path)} is read as one learner's folder, so these are not read: {printable(listed(others))}."
        )
    texts = dict(progress.texts)
    for course in COURSES.values():
        if (text := read_file(path / course.file)) is not None:
            before = texts.get(course.key)
            texts[course.key] = Work(text, before.best if before else text, before.passed if before else 0)
    return _row(path, replace(progress, texts=texts), path.resolve().name)


def _read_python(path: Path) -> Row:
    """Read a single Python file. Its course is inferred from its name, or else from the class that it defines."""
    text = read_file(path)
    if text is None:
        raise FileNotFoundError(2, "no such file or directory")
    course = next((key for key in COURSES if key in path.stem.lower()), None)
    if course is None:
        course = "scalars" if "class Value" in text else "functions" if "class Function" in text else "tensors"
    name = path.stem.lower().replace(course, "").strip(" -_.()0123456789") and path.stem
    work = Work(text, text, 0)
    return _row(path, Progress(texts={course: work}), name or path.resolve().parent.name)


def _row(path: Path, progress: Progress, name: str) -> Row:
    tasks, texts = progress.tasks, {key: work for key, work in progress.texts.items() if key in COURSES}
    student = _cut(printable(progress.name or name))
    return Row(student, path, progress.cards, tasks, texts, {}, progress.stumbles)


# -- What the code passes now ------------------------------------------------------------------------------------------


def _check(found: Summary, run_unconfined: bool) -> None:
    """Check the code of every learner: what passes now replaces what the file claims."""
    if why := isolation.unavailable() or ("" if run_unconfined else isolation.unconfined()):
        found.notes.append(f"The code could not be checked, and the numbers are those of the files. {why}")
        if not isolation.unavailable():
            found.notes.append("Add --run-unconfined to run it all the same, if you trust everybody who handed it in.")
        return
    with contextlib.closing(Judges()) as judges, ThreadPoolExecutor(MAX_PLACES) as aside:
        checked = aside.map(lambda row: _check_row(row, judges, found.notes), found.rows)
        found.rows = [
            *tqdm(checked, "Checking code", len(found.rows), unit="learner", leave=False, disable=None)  # on a terminal
        ]


def _check_row(row: Row, judges: Judges, notes: list[str]) -> Row:
    passes: dict[str, int] = {}
    stumbles = dict(row.stumbles)
    stopped = ""
    for key, work in row.texts.items():
        course = COURSES[key]
        report = max((_check_text(course, text, judges) for text in {work.text, work.best}), key=_passes)
        passes[key] = _passes(report)
        if report.stopped:
            stopped = report.stopped
            notes.append(f"{row.student}: the check of {course.title} did not finish. {stopped}")
        elif stumble := progress_file.stumbled(report, datetime.now(UTC).date().isoformat()):
            stumbles[course.progress_key(stumble[0])] = stumble[1]
    return replace(row, passes=passes, stumbles=stumbles, stopped=bool(stopped))


def _check_text(course: Course, text: str, judges: Judges) -> CheckReport:
    try:
        with judges.judge(object()) as judge:
            return judge.check(course, course.tasks[-1].key, text, secrets.randbits(32))
    except StoppedError as stopped:  # the judge itself ended
        return CheckReport({}, stopped=str(stopped))


def _passes(report: CheckReport) -> int:
    return sum(report.passed.values())


def _count_done(tasks: Done, keys: Iterable[str]) -> int:
    return sum(key in tasks for key in keys)


def _claimed(row: Row, course: Course) -> int:
    """Count the tasks of a course that the learner's file says are done."""
    return _count_done(row.tasks, (course.progress_key(task.key) for task in course.tasks))


# -- Tables ------------------------------------------------------------------------------------------------------------


def table(rows: Iterable[Row], items: Mapping[str, str] | None = None) -> list[list[str]]:
    """Return the table of a class as lines of cells: a header, and a line for each row.

    items: key -> title of each item of a teacher's assignment, which gets a column with the day it was done
    """
    items = items or {}
    others = {
        ROOM: [one.progress_key(one.key) for one in PROGRAMS],
        "questions": [f"questions/{one.key}" for one in QUESTIONS],
    }
    sizes = {one.title.lower(): len(one.tasks) for one in COURSES.values()}
    sizes |= {name: len(keys) for name, keys in others.items()}
    header = ["student", "cards", *(f"{name} (of {size})" for name, size in sizes.items()), "last day"]
    header += ["code", *([f"set (of {len(items)})"] if items else []), *items.values()]
    lines = [header]
    for row in rows:
        if row.unread:
            lines.append([row.student, *[""] * len(sizes), "", "", "not read", *[""] * (len(header) - len(sizes) - 4)])
            continue
        done = row.cards | row.tasks
        numbers = [len(row.cards)]
        numbers += [row.passes.get(key, _claimed(row, course)) for key, course in COURSES.items()]
        numbers += [_count_done(row.tasks, keys) for keys in others.values()]
        line = [row.student, *map(str, numbers), max(done.values(), default=""), _checked(row)]
        line += [str(_count_done(done, items))] if items else []
        lines.append([*line, *(done.get(key, "") for key in items)])
    return lines


def _checked(row: Row) -> str:
    """Say whether the numbers of a row come from running code, or from what the file says about itself."""
    claims = {key for key, course in COURSES.items() if _claimed(row, course)}
    if row.stopped:
        return "stopped"
    if claims - row.passes.keys():
        return "partly checked" if row.passes else "unchecked"
    return "checked" if row.passes else ""


def stops(rows: Sequence[Row]) -> list[list[str]]:
    """Return a table of the tasks at which learners stopped, most learners first: how many, at which check, with which
    mistake. A task counts only if a failure in it is known. The table is empty if there is none."""
    learners: Counter[tuple[str, str]] = Counter()
    causes: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    for row in rows:
        for key, course in COURSES.items():
            number = row.passes.get(key, _claimed(row, course))
            if number == len(course.tasks):
                continue
            task = course.tasks[number]
            if stumble := row.stumbles.get(course.progress_key(task.key)):
                where = course.title, f"{number + 1}. {task.title}"
                learners[where] += 1
                causes.setdefault(where, Counter())[stumble.check, stumble.mistake] += 1
    if not learners:
        return []
    lines = [["learners", "course", "task", "check that fails", "mistake"]]
    for where, count in learners.most_common():
        (check_name, mistake), times = causes[where].most_common(1)[0]
        check_name = (check_name or "the file does not run") + (f" ({times} of {count})" if count > 1 else "")
        lines.append([str(count), *where, printable(check_name), printable(mistake or "not known")])
    return lines


def layout(lines: Sequence[Sequence[str]]) -> str:
    """Lay out a table for a terminal, with texts aligned left and numbers right."""
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            " " * (wide - width(cell)) + cell if cell.isdecimal() else cell + " " * (wide - width(cell))
            for cell, wide in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def width(text: str) -> int:
    """Return the number of terminal columns that a text takes."""
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )


def _cut(text: str) -> str:
    if width(text) <= MAX_NAME_WIDTH:
        return text
    while width(text) >= MAX_NAME_WIDTH:
        text = text[:-1]
    return f"{text}…"


def write_csv(lines: Iterable[Sequence[str]], out: Path) -> None:
    """Write a table as CSV, with a quote before cells that a spreadsheet takes for formulas. Raises OSError."""
    with out.open("w", encoding="utf-8-sig", newline="") as opened:
        csv.writer(opened, quoting=csv.QUOTE_ALL).writerows(
            [f"'{cell}" if FORMULA.search(unicodedata.normalize("NFKC", cell)) else cell for cell in line]
            for line in lines
        )
