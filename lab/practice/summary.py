"""What a class has handed in: each learner is a row of a table, and the code that they handed in is checked again.

A learner is a file of progress, a folder of their own editor, or Python files.
"""

from __future__ import annotations

import csv
import glob
import os
import secrets
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from tqdm import tqdm

from lab.practice import record, sandbox
from lab.practice.checker import CheckReport, check
from lab.practice.folder import FolderError, content, printable, read_file, reason
from lab.practice.progress_file import CHANGED, MAX_BYTES, UNSIGNED, Done, Progress, Stumble, Work, parse
from practice import COURSES
from practice.debug import PROGRAMS, ROOM
from practice.questions import QUESTIONS
from practice.task import Course

WIDEST_NAME = 40  # columns of a terminal
DOUBTS = {
    CHANGED: "holds progress that was changed after it was saved",
    UNSIGNED: "has no checksum: an older version of the lab saved it, or it was changed",
}


@dataclass(frozen=True)
class Row:
    """One learner.

    tasks   what is done and when; a question or a program is one of the tasks
    texts   the course -> its code
    passes  the course -> how many tasks the code passes now, where there is code and it could be checked
    stumbles  a task -> what goes wrong in it: now, where the code was checked, else when it was checked last
    """

    student: str
    source: Path
    cards: Done = field(default_factory=dict)
    tasks: Done = field(default_factory=dict)
    texts: Mapping[str, Work] = field(default_factory=dict)
    passes: Mapping[str, int] = field(default_factory=dict)
    stumbles: Mapping[str, Stumble] = field(default_factory=dict)
    scores: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass
class Summary:
    """rows: of what could be read. notes: a sentence for each file that could not, was changed, or is a double."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    complete: bool = True


def summary(names: Sequence[str | Path]) -> Summary:
    """Read all that can be read, and check the code in it.

    names: files, folders, and patterns such as "*.json", which not every shell expands.
    """
    found = Summary()
    first: dict[tuple[tuple[str, str], ...], Path] = {}
    for path in _expanded(names, found):
        try:
            row = _read(path, found)
        except (OSError, ValueError, FolderError) as error:
            why = reason(error) if isinstance(error, OSError) else str(error).removesuffix(".")
            found.notes.append(f"{printable(path)} is left out: {why}.")
            found.complete = False
            continue
        same = (*sorted(row.cards.items()), *sorted(row.tasks.items()))
        if same in first:
            found.notes.append(f"{printable(path)} says the same as {printable(first[same])}, on the same days.")
        elif same:
            first[same] = path
        found.rows.append(row)
    students = Counter(row.student for row in found.rows)
    found.rows = [
        replace(row, student=row.student if students[row.student] == 1 else f"{row.student} ({printable(row.source)})")
        for row in found.rows
    ]
    if any(row.texts for row in found.rows):
        _check(found)
    return found


# -- Files, folders and patterns ---------------------------------------------------------------------------------------


def _expanded(names: Sequence[str | Path], found: Summary) -> Iterator[Path]:
    """The files and the learners' folders behind names and patterns, each once."""
    seen: dict[Path, None] = {}
    for name in map(str, names):
        if os.path.lexists(name) or not glob.has_magic(name):
            seen |= dict.fromkeys(_inside(Path(name)))
        elif fits := sorted(glob.glob(name)):
            seen |= dict.fromkeys(path for one in fits for path in _inside(Path(one)))
        else:
            found.notes.append(f"No file fits {printable(name)}.")
            found.complete = False
    return iter(seen)


def _inside(path: Path) -> Iterator[Path]:
    """A file, or a learner's folder, is itself; any other folder is the files and the learners' folders in it."""
    if not os.path.isdir(path) or _is_learners(path):
        yield path
        return
    try:
        inside = sorted(path.iterdir())
    except OSError:
        inside = []
    found = [one for one in inside if one.suffix in (".json", ".py") or (os.path.isdir(one) and _is_learners(one))]
    yield from found or [path]


def _is_learners(folder: Path) -> bool:
    return any(os.path.isfile(folder / course.file) for course in COURSES.values())


def _read(path: Path, found: Summary) -> Row:
    """One learner. Raises OSError, ValueError and FolderError."""
    if os.path.isdir(path):
        if not _is_learners(path):
            raise ValueError("the folder holds no file of progress and no learner's file")
        return _of_folder(path, found)
    if path.suffix == ".py":
        return _of_python(path)
    progress, edited = parse(content(path, MAX_BYTES)[0])
    _doubt(path, progress, edited, found)
    return _row(path, progress, path.stem)


def _of_folder(path: Path, found: Summary) -> Row:
    """The folder of a learner's own editor, whose files are newer than its progress."""
    progress = record.of_folder(path)
    _doubt(path / record.FILE, progress, False, found)
    texts = dict(progress.texts)
    for course in COURSES.values():
        if held := read_file(path / course.file):
            before = texts.get(course.key)
            texts[course.key] = Work(held.text, before.best if before else held.text, before.passed if before else 0)
    return _row(path, replace(progress, texts=texts), path.resolve().name)


def _of_python(path: Path) -> Row:
    """One file of one course. Which one its name says, or what it defines."""
    held = read_file(path)
    if held is None:
        raise FileNotFoundError(2, "no such file or directory")
    course = next((key for key in COURSES if key in path.stem.lower()), None)
    if course is None:
        text = held.text
        course = "scalars" if "class Value" in text else "functions" if "class Function" in text else "tensors"
    name = path.stem.lower().replace(course, "").strip(" -_.") and path.stem
    work = Work(held.text, held.text, 0)
    return _row(path, Progress(texts={course: work}), name or path.resolve().parent.name)


def _row(path: Path, progress: Progress, name: str) -> Row:
    tasks, texts = progress.tasks, {key: work for key, work in progress.texts.items() if key in COURSES}
    student = _cut(printable(progress.name or name))
    return Row(student, path, progress.cards, tasks, texts, {}, progress.stumbles, progress.scores)


def _doubt(path: Path, progress: Progress, edited: bool, found: Summary) -> None:
    if edited:
        found.notes.append(f"{printable(path)} does not fit its checksum: it was changed after it was saved.")
    elif progress.doubt:
        found.notes.append(f"{printable(path)} {DOUBTS[progress.doubt]}.")


# -- What the code passes now ------------------------------------------------------------------------------------------


def _check(found: Summary) -> None:
    """Check the code of every learner: what passes now takes the place of what a file says."""
    if why := sandbox.unavailable():
        found.notes.append(f"The code could not be checked, and the numbers are those of the files. {why}")
        return
    with ThreadPoolExecutor(os.cpu_count() or 1) as aside:
        checked = aside.map(_checked, found.rows)
        found.rows = [
            *tqdm(checked, "Checking code", len(found.rows), unit="learner", leave=False, disable=None)  # on a terminal
        ]
    for row in found.rows:
        for key, passes in row.passes.items():
            course = COURSES[key]
            said = _done(row.tasks, _deeds(course))
            if said > passes:
                found.notes.append(
                    f"{row.student}: {said} of {len(course.tasks)} tasks of {course.title} are said to be passed; "
                    f"the code passes {passes}."
                )
        for course in COURSES.values():
            if row.texts and course.key not in row.texts and (said := _done(row.tasks, _deeds(course))):
                found.notes.append(
                    f"{row.student}: {said} tasks of {course.title} are said to be passed, without code."
                )


def _checked(row: Row) -> Row:
    passes: dict[str, int] = {}
    stumbles = dict(row.stumbles)
    for key, work in row.texts.items():
        course = COURSES[key]
        report = max((_report(course, text) for text in {work.text, work.best}), key=_passes)
        passes[key] = _passes(report)
        if stumble := record.stumbled(report, datetime.now(UTC).date().isoformat()):
            stumbles[course.deed(stumble[0])] = stumble[1]
    return replace(row, passes=passes, stumbles=stumbles)


def _report(course: Course, text: str) -> CheckReport:
    with sandbox.runner() as runner:
        return check(course, course.tasks[-1].key, text, runner, secrets.randbits(32))


def _passes(report: CheckReport) -> int:
    return sum(report.passed.values())


def _done(tasks: Done, keys: Iterable[str]) -> int:
    return sum(key in tasks for key in keys)


def _deeds(course: Course) -> list[str]:
    return [course.deed(task.key) for task in course.tasks]


# -- Tables ------------------------------------------------------------------------------------------------------------


def table(rows: Iterable[Row], items: Mapping[str, str] | None = None) -> list[list[str]]:
    """The header, and a line for each row.

    items: key -> title of the things in a teacher's set, of which each gets a column with its day
    """
    items = items or {}
    others = {ROOM: [one.deed(one.key) for one in PROGRAMS], "questions": [f"questions/{one.key}" for one in QUESTIONS]}
    claims = [f"claimed/{one.key}" for one in QUESTIONS]  # answers in words that count on the learner's own judgement
    sizes = {one.title.lower(): len(one.tasks) for one in COURSES.values()}
    sizes |= {name: len(keys) for name, keys in others.items()}
    header = ["student", "cards", *(f"{name} (of {size})" for name, size in sizes.items()), "last day"]
    header += ["code", "predict", "claimed", *([f"set (of {len(items)})"] if items else []), *items.values()]
    lines = [header]
    for row in rows:
        done = row.cards | row.tasks
        numbers = [len(row.cards)]
        numbers += [row.passes.get(key, _done(row.tasks, _deeds(course))) for key, course in COURSES.items()]
        numbers += [_done(row.tasks, keys) for keys in others.values()]
        got, most = (sum(column) for column in zip(*row.scores.values(), strict=True)) if row.scores else (0, 0)
        line = [row.student, *map(str, numbers), max(done.values(), default="")]
        line += ["checked" if row.passes else "", f"{got} of {most}" if row.scores else ""]
        line.append(str(_done(row.tasks, claims) or ""))
        line += [str(_done(done, items))] if items else []
        lines.append([*line, *(done.get(key, "") for key in items)])
    return lines


def stops(rows: Sequence[Row]) -> list[list[str]]:
    """A table of the tasks at which learners stopped, most learners first: how many, at which check, with which
    mistake. A task counts where its course was begun and something is known of what went wrong. Empty for none."""
    learners: Counter[tuple[str, str]] = Counter()
    causes: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    for row in rows:
        for key, course in COURSES.items():
            done = _done(row.tasks, _deeds(course))
            number = row.passes.get(key, done)
            if number == len(course.tasks):
                continue
            task = course.tasks[number]
            if stumble := row.stumbles.get(course.deed(task.key)):
                where = course.title, f"{number + 1}. {task.title}"
                learners[where] += 1
                causes.setdefault(where, Counter())[stumble.check, stumble.mistake] += 1
    if not learners:
        return []
    lines = [["learners", "course", "task", "check that fails", "mistake"]]
    for where, count in learners.most_common():
        (said, mistake), times = causes[where].most_common(1)[0]
        often = f" ({times} of {count})" if count > 1 else ""
        lines.append(
            [str(count), *where, printable(said or "the file does not run") + often, printable(mistake or "not known")]
        )
    return lines


def drawn(lines: Sequence[Sequence[str]]) -> str:
    """A table for a terminal: texts to the left, numbers to the right."""
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            " " * (wide - width(cell)) + cell if cell.isdecimal() else cell + " " * (wide - width(cell))
            for cell, wide in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )


def _cut(text: str) -> str:
    if width(text) <= WIDEST_NAME:
        return text
    while width(text) >= WIDEST_NAME:
        text = text[:-1]
    return f"{text}…"


def write_csv(lines: Iterable[Sequence[str]], out: Path) -> None:
    """For a spreadsheet, which would take a name that begins with such a sign for a formula. Raises OSError."""
    with out.open("w", encoding="utf-8-sig", newline="") as opened:
        csv.writer(opened).writerows(
            [f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell for cell in line] for line in lines
        )
