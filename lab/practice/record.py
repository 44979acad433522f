"""Keeps the results of checks on the command line in a progress file in the learner's folder. The page Start can load
that file, and the teacher's summary reads it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lab.practice import folder
from lab.practice.checker import CheckReport
from lab.practice.folder import FolderError
from lab.practice.progress_file import MAX_BYTES, Progress, Stumble, Work, packed, parse
from practice.task import Course

FILE = "progress.json"


def read(path: Path) -> Progress:
    """Return the progress in a file. Raises FolderError if it cannot be read or is not a progress file."""
    try:
        return parse(folder.content(path, MAX_BYTES)[0])
    except OSError as error:
        raise FolderError(f"{path} cannot be read: {folder.reason(error)}.") from None
    except ValueError as error:
        raise FolderError(f"{path} cannot be read: {error}. Rename it: the next check makes a new one.") from None


def of_folder(place: Path) -> Progress:
    """Return the progress kept in a folder, empty if there is none. Raises FolderError as `read` does."""
    path = place / FILE
    return read(path) if path.exists() else Progress()


def keep(place: Path, course: Course, text: str, report: CheckReport) -> None:
    """Add the result of a check to the progress in the folder. Raises FolderError."""
    found = checked(of_folder(place), course, text, report)
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
