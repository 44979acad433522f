"""The command line for tasks in your own editor: `python -m lab.practice start scalars my-engine`, then `check`.

For teachers, `summary FILES` checks the code that a class handed in and prints a table of it.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from lab.lessons import assignment_link
from lab.lessons.assignment import ITEMS
from lab.practice import class_summary, folder, isolation, process_pool, progress_file
from lab.practice.checker import CheckReport
from lab.practice.folder import printable
from lab.practice.judge_processes import judge
from lab.practice.render_report import render_report
from practice import COURSES
from practice.task import Course

MAX_LINE = 200  # characters shown of a learner's line
DEBOUNCE = 200  # milliseconds within which several saves of an editor count as one


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit code: 0 if everything passes or was read, 1 if not, 2 if it could not run."""
    parser = argparse.ArgumentParser(prog="python -m lab.practice", description="Write an engine, step by step.")
    commands = parser.add_subparsers(dest="command", required=True)
    starting = commands.add_parser("start", help="write a course's starter file and its tasks into a folder")
    starting.add_argument("course", choices=COURSES)
    starting.add_argument("folder", type=Path)
    for name, text in (("check", "say which tasks pass"), ("watch", "check after each save, until Ctrl+C")):
        command = commands.add_parser(name, help=text)
        command.add_argument("folder", type=Path, help="the folder that `start` made")
    summing = commands.add_parser("summary", help="print a table of what a class handed in")
    summing.add_argument("files", nargs="+", help="files saved on Start, learners' .py files, folders, or a pattern")
    summing.add_argument("--csv", type=Path, metavar="OUT", help="also write the table to OUT, for a spreadsheet")
    summing.add_argument("--set", metavar="LINK", help="a link from For teachers: adds a column for each of its items")
    summing.add_argument(
        "--run-unconfined",
        action="store_true",
        help="run the code also where nothing keeps it from your files and the network; only if you trust everybody",
    )
    words = sys.argv[1:] if arguments is None else arguments
    # A file may be called "-ada.json"; when the shell expands "*.json", the user cannot put "./" in front of it.
    given = parser.parse_args([f"./{word}" if word[:1] == "-" and os.path.exists(word) else word for word in words])
    if given.command == "summary":
        return summarize(given.files, given.csv, given.set, given.run_unconfined)
    place = given.folder.expanduser().absolute()
    if given.command != "start" and os.path.isfile(place):
        place = place.parent  # the learner named the file instead of its folder
    try:
        if given.command == "start":
            return start(COURSES[given.course], place)
        if sentence := isolation.unavailable():
            raise folder.FolderError(sentence)
        return check_all(place) if given.command == "check" else watch(place)
    except folder.FolderError as error:
        for line in str(error).split("\n"):
            print(printable(line), file=sys.stderr)
        return 2


def start(course: Course, place: Path) -> int:
    """Write the course's file, unless it exists, and its tasks next to it; return the exit code."""
    folder.start(place, course, first_text(place, course))
    tasks = place / f"{course.key}.md"
    try:
        tasks.write_text(task_sheet(course), "utf-8")
    except OSError as error:
        raise folder.FolderError(f"{tasks} cannot be written: {folder.reason(error)}.") from None
    print(f"Write your code in {place / course.file}; the tasks are in {tasks}. After each step, run:")
    print(shlex.join([sys.orig_argv[0], "-m", __package__, "check", str(place)]))  # Python as it was just called
    return 0


def first_text(place: Path, course: Course) -> str:
    """Return the learner's code from a progress file in the folder, or the course's starter if there is none."""
    work = progress_file.read_folder(place).texts.get(course.key)
    return work.text if work else course.starter


def task_sheet(course: Course) -> str:
    """Return the tasks of a course in Markdown, to read next to the editor. The hints stay in the app."""
    parts = [f"# {course.title}\n\n{course.question}\n"]
    for number, task in enumerate(course.tasks, 1):
        lines = f"\n```python\n{task.starter.rstrip()}\n```\n" if task.starter else ""
        parts.append(f"## {number}. {task.title}\n\n{task.text.strip()}\n{lines}")
    return "\n".join(parts)


def check_all(place: Path) -> int:
    """Check every course's file in the folder and return the exit code. Raises FolderError at the end if a file could
    not be read; the others are still checked."""
    folder.require(place)
    found, unread = [], []
    for course in COURSES.values():
        try:
            if (text := folder.read(place, course)) is not None:
                found.append((course, text))
        except folder.FolderError as error:
            unread.append(str(error))
    if not found and not unread:
        names = ", ".join(course.file for course in COURSES.values())
        raise folder.FolderError(f"{place} holds none of {names}: begin with `python -m lab.practice start`.")
    passed = True
    for course, text in found:
        progress_file.read_folder(place)  # raises before the check if the progress cannot be read
        report, printed = judge(course, course.tasks[-1].key, text, secrets.randbits(32), process_pool.runner)
        print("\n".join(lines(course, place / course.file, report, printed)))
        progress_file.keep(place, course, text, report)
        passed = passed and bool(report)
    if found:
        print(f"Your progress is in {printable(place / progress_file.FILE)}: load it on Start, or hand it in.")
    if unread:
        raise folder.FolderError("\n".join(unread))
    return 0 if passed else 1


def watch(place: Path) -> int:
    """Check now, and again after each save of a course's file, until Ctrl+C. A FolderError is raised at the first check
    and printed at later ones, as a file may be gone for a moment while an editor saves it."""
    from watchfiles import watch as changes

    folder.require(place)
    files = {course.file for course in COURSES.values()}
    # The first turn is a timeout, after the watch has begun: so no save is lost between it and the first check.
    turns = changes(
        place,
        watch_filter=lambda _, path: Path(path).name in files,
        debounce=DEBOUNCE,
        recursive=False,
        rust_timeout=DEBOUNCE,
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
            print(f"Checked at {datetime.now():%H:%M:%S}. Waiting for the next save; Ctrl+C stops.", flush=True)
            begun = True
    return 0


def summarize(files: Sequence[str], out: Path | None, link: str | None, run_unconfined: bool) -> int:
    """Print the class table and the notes on files. Return the exit code: 1 if a file failed, 2 if the link is bad."""
    try:
        keys = assignment_link.keys_of_link(link) if link is not None else ()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    found = class_summary.summary(files, run_unconfined)
    table = class_summary.table(found.rows, {key: printable(ITEMS[key].title if key in ITEMS else key) for key in keys})
    print(class_summary.layout(table))
    if stops := class_summary.stops(found.rows):
        print(f"\nWhere they stop:\n{class_summary.layout(stops)}")
    for note in found.notes:
        print(note, file=sys.stderr)
    if out:
        try:
            class_summary.write_csv(table, out)
        except OSError as error:
            print(f"{out} cannot be written: {folder.reason(error)}.", file=sys.stderr)
            return 1
    return 0 if found.complete else 1


def lines(course: Course, path: Path, report: CheckReport, printed: str) -> Iterator[str]:
    """Yield the lines of a report for a terminal, with the control characters of the learner's code replaced."""
    for text in _lines(course, path, report, printed):
        yield from (printable(line.expandtabs(4)) for line in text.split("\n"))


def _lines(course: Course, path: Path, report: CheckReport, printed: str) -> Iterator[str]:
    last = course.tasks[-1].key
    shown = render_report(
        course, next((key for key, passed in report.passed.items() if not passed), last), report, printed
    )
    yield f"{path}"
    for task in course.tasks:
        failed = "·" if report.stopped else "✗"  # what was stopped may be right
        mark = {True: "✓", False: failed, None: "·"}[report.passed.get(task.key)]
        yield f"  {mark} {task.title}"
    yield shown["headline"]
    if shown["sentence"]:
        yield shown["sentence"]
    if number := shown["line"]:
        text = path.read_text("utf-8", "replace").splitlines()
        yield f"{path}:{number}: {text[number - 1].strip()[:MAX_LINE] if number <= len(text) else ''}"
    if shown["program"]:
        yield ""
        yield from (f"    {value['name']} = {_format_value(value)}" for value in shown["inputs"])
        yield from (f"    {line}" for line in shown["program"].splitlines())
        yield ""
        yield from (f"  {value['name']} {value['words']}: {_format_value(value)}" for value in shown["values"])
    if shown["printed"]:
        yield f"Printed {shown['printedWhen']}:"
        yield from (f"  {line}" for line in shown["printed"].split("\n"))
    yield ""


def _format_value(value: dict[str, Any]) -> str:
    """Return a value on one line, with each wrong element between > and <."""
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
