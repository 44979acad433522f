"""Reads the file of each course in a learner's own folder, and begins it."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path

from practice.task import Course

MAX_BYTES = 300_000  # of a learner's file


class FolderError(Exception):
    """The folder or a file cannot be used; the message is a sentence that says why."""


def start(folder: Path, course: Course, text: str) -> None:
    """Create the course's file with a text, unless it exists. Raises FolderError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        raise FolderError(f"The folder {folder} cannot be created: {reason(error)}.") from None
    if read(folder, course) is None:
        replace(folder / course.file, text.encode(errors="replace"))


def require(folder: Path) -> None:
    """Raise FolderError if the folder does not exist or may not be read."""
    if not os.path.isdir(folder):  # unlike Path.is_dir, this does not raise without permission
        raise FolderError(f"There is no folder {folder}.")


def read(folder: Path, course: Course) -> str | None:
    """Read the course's file; None if there is none. Raises FolderError."""
    require(folder)
    return read_file(folder / course.file)


def read_file(path: Path) -> str | None:
    """Read a learner's file, with "\\n" at the ends of lines; None if there is none. Raises FolderError."""
    try:
        data = content(path, MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FolderError(f"{path} cannot be read: {reason(error)}.") from None
    if len(data) > MAX_BYTES:
        raise FolderError(f"{path} is larger than {MAX_BYTES // 1000} kB; a task needs far less.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FolderError(f"{path} is not UTF-8 text: save it as UTF-8.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def content(path: Path, most: int) -> bytes:
    """Read the first `most` + 1 bytes of a regular file. Raises OSError.

    Anything else is refused: a pipe, for example, may never end.
    """
    flags = getattr(os, "O_NONBLOCK", 0)
    with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is not a file")
        return file.read(most + 1)


def replace(path: Path, data: bytes) -> None:
    """Write a file atomically: at each moment it is the old one or the new one. Raises FolderError."""
    target = path.resolve()
    name = ""
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{path.name}.", delete=False) as file:
            name = file.name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, name)
        else:
            os.chmod(name, 0o644)
        os.replace(name, target)
    except OSError as error:
        if name:
            Path(name).unlink(missing_ok=True)
        raise FolderError(f"{path} cannot be written: {reason(error)}.") from None


def reason(error: Exception) -> str:
    """Return the reason for an error in lower case, for the end of a sentence; the system's own if it has one."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def printable(text: object) -> str:
    """Replace by "?" the control characters of a text, which a terminal would obey."""
    return "".join(sign if sign.isprintable() else "?" for sign in str(text))
