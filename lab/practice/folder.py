"""Reads and writes a learner's own folder: the file of each course, and a dated copy of it for each check.

Only the files that courses name are read and written; the copies go into a subfolder. A file is replaced as a whole,
and only by a caller that has read its present content.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from practice.task import Course

MAX_BYTES = 300_000  # of a learner's file
COPIES = "earlier"  # the subfolder of the copies


class FolderError(Exception):
    """The folder or a file cannot be used; the message is a sentence that says why."""


class FileChangedError(FolderError):
    """The file has changed since the caller read it."""


@dataclass(frozen=True)
class OnDisk:
    """The content of a file when it was read.

    text     with "\\n" at the ends of lines, whatever the file has
    stamp    a hash of its bytes
    saved    the time of its last change
    windows  whether it has "\\r\\n" at the ends of lines
    """

    text: str
    stamp: str
    saved: datetime = field(compare=False)
    windows: bool


def start(folder: Path, course: Course, text: str | None = None) -> OnDisk:
    """Read the course's file; if there is none, create it with a text (by default the course's starter). Raises
    FolderError, also if the folder is not an absolute path."""
    if not folder.is_absolute() or "\0" in str(folder):
        raise FolderError(f"{folder} is not the full path of a folder, such as ~/my-engine.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FolderError(f"The folder {folder} cannot be created: {reason(error)}.") from None
    return read(folder, course) or write(folder, course, course.starter if text is None else text, "")


def require(folder: Path) -> None:
    """Raise FolderError if the folder does not exist or may not be read."""
    if not os.path.isdir(folder):  # unlike Path.is_dir, this does not raise without permission
        raise FolderError(f"There is no folder {folder}.")


def read(folder: Path, course: Course) -> OnDisk | None:
    """Read the course's file; None if there is none. The folder is an absolute path. Raises FolderError."""
    require(folder)
    return read_file(folder / course.file)


def read_file(path: Path) -> OnDisk | None:
    """Read a learner's file; None if there is none. Raises FolderError."""
    try:
        data, saved = content(path, MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FolderError(f"{path} cannot be read: {reason(error)}.") from None
    if len(data) > MAX_BYTES:
        raise FolderError(f"{path} is larger than {MAX_BYTES // 1000} kB; a task needs far less.")
    return _on_disk(data, path, saved)


def content(path: Path, most: int) -> tuple[bytes, datetime]:
    """Read the first `most` + 1 bytes of a regular file, and when it was saved. Raises OSError.

    Anything else is refused: a pipe, for example, may never end.
    """
    flags = getattr(os, "O_NONBLOCK", 0)
    with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is not a file")
        return file.read(most + 1), datetime.fromtimestamp(status.st_mtime)


def write(folder: Path, course: Course, text: str, seen: str) -> OnDisk:
    """Replace the course's file by a text and keep a copy of its last content.

    seen: the stamp of the file to replace, "" for none. Raises FileChangedError if the file has changed since, and
    FolderError if it cannot be written.
    """
    path = folder / course.file
    before = read(folder, course)
    if before and before.text == text:
        return before
    if (before.stamp if before else "") != seen:
        raise FileChangedError(f"{path} has changed since it was read.")
    if before:
        keep(folder, course, before.text, before.saved)
    data = _encoded(text.replace("\n", "\r\n") if before and before.windows else text)
    if len(data) > MAX_BYTES:
        raise FolderError(f"The text is larger than {MAX_BYTES // 1000} kB and was not written to {path}.")
    replace(path, data)
    return _on_disk(data, path, datetime.now())


def keep(folder: Path, course: Course, text: str, when: datetime) -> Path:
    """Keep a dated copy of a text, unless an earlier copy is the same. Raises FolderError."""
    copies = folder / COPIES
    data = _encoded(text)
    number = hashlib.blake2s(data, digest_size=3).hexdigest()
    stem = course.file.removesuffix(".py")
    try:
        copies.mkdir(exist_ok=True)
        path = next(copies.glob(f"{stem} * {number}.py"), copies / f"{stem} {when:%Y-%m-%d %H.%M.%S} {number}.py")
        if not path.exists():
            replace(path, data)
    except OSError as error:
        raise FolderError(f"No copy could be kept in {copies}: {reason(error)}.") from None
    return path


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise FolderError(f"Line {line} holds half a character, which no file can hold: remove it.") from None


def _on_disk(data: bytes, path: Path, saved: datetime) -> OnDisk:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FolderError(f"{path} is not UTF-8 text: save it as UTF-8.") from None
    unix = text.replace("\r\n", "\n").replace("\r", "\n")
    return OnDisk(unix, hashlib.blake2s(data, digest_size=16).hexdigest(), saved, b"\r\n" in data)


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


def reason(error: OSError) -> str:
    """Return the system's reason for an error in lower case, for the end of a sentence."""
    return (error.strerror or str(error)).lower()


def printable(text: object) -> str:
    """Replace by "?" the control characters of a text, which a terminal would obey."""
    return "".join(sign if sign.isprintable() else "?" for sign in str(text))
