"""Tasks in one's own editor: `python -m lab.practice start scalars my-engine`, then `check` or `watch my-engine`.

And for a teacher, `summary FILES`: a table of what a class has handed in, its code checked again.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from lab.lessons import assignment_link
from lab.lessons.assignment import ITEMS
from lab.practice import folder, record, sandbox, summary
from lab.practice.checker import CheckReport, check
from lab.practice.folder import printable
from lab.practice.render_report import render_report
from practice import COURSES
from practice.task import Course

WIDEST = 200  # characters of a learner's line
WAIT = 200  # milliseconds in which the saves of an editor count as one


def main(arguments: Sequence[str] | None = None) -> int:
    """0: everything that is there passes, or is read; 1: something does not; 2: it could not be checked."""
    parser = argparse.ArgumentParser(prog="python -m lab.practice", description="Write an engine, step by step.")
    commands = parser.add_subparsers(dest="command", required=True)
    starting = commands.add_parser("start", help="write the file of a course and its tasks into a folder")
    starting.add_argument("course", choices=COURSES)
    starting.add_argument("folder", type=Path)
    for name, text in (("check", "say what passes"), ("watch", "check at each save, until Ctrl+C")):
        command = commands.add_parser(name, help=text)
        command.add_argument("folder", type=Path, help="the folder that `start` has made")
    summing = commands.add_parser("summary", help="a table of what a class has handed in")
    summing.add_argument("files", nargs="+", help="files saved on Start, learners' .py files, folders, or a pattern")
    summing.add_argument("--csv", type=Path, metavar="OUT", help="write the table there, too, for a spreadsheet")
    summing.add_argument("--set", metavar="LINK", help="of the page For teachers: a column for each thing of it")
    words = sys.argv[1:] if arguments is None else arguments
    # A file may be called "-ada.json"; where a shell expands "*.json", nobody can write "./" in front of it.
    given = parser.parse_args([f"./{word}" if word[:1] == "-" and os.path.exists(word) else word for word in words])
    if given.command == "summary":
        return summarize(given.files, given.csv, given.set)
    place = given.folder.expanduser().absolute()
    if given.command != "start" and os.path.isfile(place):
        place = place.parent  # the learner's file instead of its folder: what is meant is plain
    try:
        if given.command == "start":
            return start(COURSES[given.course], place)
        if sentence := sandbox.unavailable():
            raise folder.FolderError(sentence)
        return check_all(place) if given.command == "check" else watch(place)
    except folder.FolderError as error:
        for line in str(error).split("\n"):
            print(printable(line), file=sys.stderr)
        return 2


def start(course: Course, place: Path) -> int:
    """Write the course's file, unless it is there, and its tasks beside it."""
    folder.start(place, course, begun(place, course))
    tasks = place / f"{course.key}.md"
    try:
        tasks.write_text(sheet(course), "utf-8")
    except OSError as error:
        raise folder.FolderError(f"{tasks} cannot be written: {folder.reason(error)}.") from None
    print(f"{place / course.file} is the file to write in, {tasks} says what. After each step:")
    print(f"python -m lab.practice check {place}")
    return 0


def begun(place: Path, course: Course) -> str:
    """The text that a file of progress in the folder carries, as it was saved on the page; or the starter."""
    work = record.of_folder(place).texts.get(course.key)
    return work.text if work else course.starter


def sheet(course: Course) -> str:
    """The tasks of a course in Markdown, for reading beside one's editor. The hints stay in the app."""
    parts = [f"# {course.title}\n\n{course.question}\n"]
    for number, task in enumerate(course.tasks, 1):
        lines = f"\n```python\n{task.starter.rstrip()}\n```\n" if task.starter else ""
        parts.append(f"## {number}. {task.title}\n\n{task.text.strip()}\n{lines}")
    return "\n".join(parts)


def check_all(place: Path) -> int:
    """Check each course's file that is in the folder, and keep a copy of it. One that cannot be read is named, and the
    others are checked all the same."""
    folder.need(place)
    found, unread = [], []
    for course in COURSES.values():
        try:
            if held := folder.read(place, course):
                found.append((course, held))
        except folder.FolderError as error:
            unread.append(str(error))
    if not found and not unread:
        names = ", ".join(course.file for course in COURSES.values())
        raise folder.FolderError(f"There is none of {names} in {place}: begin with `python -m lab.practice start`.")
    passed = True
    for course, held in found:
        folder.keep(place, course, held.text, datetime.now())
        record.of_folder(place)  # what cannot be read is told before the check
        with sandbox.runner() as runner:
            report = check(course, course.tasks[-1].key, held.text, runner, secrets.randbits(32))
            printed = runner.output
        print("\n".join(lines(course, place / course.file, report, printed)))
        record.keep(place, course, held.text, report)
        passed = passed and bool(report)
    if found:
        print(f"What passes is in {printable(place / record.FILE)}: load it on Start, or hand it in.")
    if unread:
        raise folder.FolderError("\n".join(unread))
    return 0 if passed else 1


def watch(place: Path) -> int:
    """Check now, and again whenever a course's file is saved. FolderError: there is nothing to check at the first look;
    later, a file may be gone for a moment while an editor saves it."""
    from watchfiles import watch as changes

    folder.need(place)
    files = {course.file for course in COURSES.values()}
    # The first turn comes without a save, once the watch has begun: no save falls between it and the first check.
    turns = changes(
        place,
        watch_filter=lambda _, path: Path(path).name in files,
        debounce=WAIT,
        recursive=False,
        rust_timeout=WAIT,
        yield_on_timeout=True,
    )
    begun = False
    for saved in turns:
        if saved or not begun:
            try:
                check_all(place)
            except folder.FolderError as error:
                if not begun:
                    raise
                print(error)
            print(f"Checked at {datetime.now():%H:%M:%S}. Waiting for the next save; Ctrl+C ends it.", flush=True)
            begun = True
    return 0


def summarize(files: Sequence[str], out: Path | None, link: str | None) -> int:
    """Print the table, and what is to be said of single files. 0, or 1 where a file could not be read or written."""
    try:
        keys = assignment_link.of_link(link) if link is not None else ()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    found = summary.summary(files)
    table = summary.table(found.rows, {key: printable(ITEMS[key].title if key in ITEMS else key) for key in keys})
    print(summary.drawn(table))
    if stops := summary.stops(found.rows):
        print(f"\nWhere they stop:\n{summary.drawn(stops)}")
    for note in found.notes:
        print(note, file=sys.stderr)
    if out:
        try:
            summary.write_csv(table, out)
        except OSError as error:
            print(f"{out} cannot be written: {folder.reason(error)}.", file=sys.stderr)
            return 1
    return 0 if found.complete else 1


def lines(course: Course, path: Path, report: CheckReport, printed: str) -> Iterator[str]:
    """What a check found, for a terminal, which must not obey what a learner's code says or prints."""
    for text in _lines(course, path, report, printed):
        yield from (printable(line.expandtabs(4)) for line in text.split("\n"))


def _lines(course: Course, path: Path, report: CheckReport, printed: str) -> Iterator[str]:
    last = course.tasks[-1].key
    said = render_report(
        course, next((key for key, passed in report.passed.items() if not passed), last), report, printed
    )
    yield f"{path}"
    for task in course.tasks:
        mark = {True: "✓", False: "✗", None: "·"}[report.passed.get(task.key)]
        yield f"  {mark} {task.title}"
    yield said["headline"]
    if said["sentence"]:
        yield said["sentence"]
    if said["line"]:
        text = path.read_text("utf-8", "replace").splitlines()
        yield f"{path}:{said['line']}: {text[said['line'] - 1].strip()[:WIDEST] if said['line'] <= len(text) else ''}"
    if said["program"]:
        yield ""
        yield from (f"    {value['name']} = {_written(value)}" for value in said["inputs"])
        yield from (f"    {line}" for line in said["program"].splitlines())
        yield ""
        yield from (f"  {value['name']} {value['words']}: {_written(value)}" for value in said["values"])
    if said["printed"]:
        yield f"Printed {said['printedWhen']}:"
        yield from (f"  {line}" for line in said["printed"].split("\n"))
    yield ""


def _written(value: dict[str, Any]) -> str:
    """A value on one line, each wrong element between >< ."""
    if "cells" not in value:
        return str(value["text"])
    rows = [
        "[" + ", ".join(f">{cell['text']}<" if cell["wrong"] else cell["text"] for cell in row) + "]"
        for row in value["cells"]
    ]
    flat = len(rows) == 1 and not value["shape"].startswith("shape (1, ")
    return rows[0] if flat else "[" + ", ".join(rows) + "]"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
