"""What a check on the command line passes counts: it goes into a file of progress in the learner's folder, which the
page Start can load, and which a teacher's table reads."""

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
    """Return the progress in a file. Raises FolderError where it cannot be read, or is no file of progress."""
    try:
        return parse(folder.content(path, MAX_BYTES)[0])[0]
    except OSError as error:
        raise FolderError(f"{path} cannot be read: {folder.reason(error)}.") from None
    except ValueError as error:
        raise FolderError(f"{path} cannot be read: {error}.") from None


def of_folder(place: Path) -> Progress:
    """Return the progress that is kept in a folder, empty where there is none. Raises FolderError as `read` does."""
    path = place / FILE
    return read(path) if path.exists() else Progress()


def keep(place: Path, course: Course, text: str, report: CheckReport) -> None:
    """Add what a check of a text found to the progress in the folder. Raises FolderError."""
    found = checked(of_folder(place), course, text, report)
    folder.replace(place / FILE, packed(found).encode())


def checked(before: Progress, course: Course, text: str, report: CheckReport) -> Progress:
    """Return the progress after a check of a text: what was passed earlier keeps its day."""
    today = datetime.now(UTC).date().isoformat()  # as a browser counts days
    passed = [key for key, well in report.passed.items() if well]
    tasks = {course.deed(key): today for key in passed} | before.tasks
    earlier = before.texts.get(course.key)
    work = Work(text, text, len(passed))
    if earlier and earlier.passed > work.passed:
        work = replace(earlier, text=text)
    stumbles = dict(before.stumbles)
    if stumble := stumbled(report, today):
        stumbles[course.deed(stumble[0])] = stumble[1]
    return replace(before, tasks=tasks, texts=before.texts | {course.key: work}, stumbles=stumbles)


def stumbled(report: CheckReport, day: str) -> tuple[str, Stumble] | None:
    """Return the key of the task that a text does not pass, and what went wrong; None where all pass."""
    task = next((key for key, well in report.passed.items() if not well), None)
    if task is None:
        return None
    check = next((name for name, well in report.checks.items() if not well), "")
    mistake = report.failure.mistake.key if report.failure and report.failure.mistake else ""
    return task, Stumble(check, mistake, day)
