"""The folder of a learner's own editor: the file of each course, and a dated copy of it for each check.

Exactly the files that courses name are read and written, and copies go into a folder beside them. A file is replaced as
a whole, and only by who has seen what it held.
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

LARGEST = 300_000  # bytes of a file
COPIES = "earlier"  # the folder of the copies


class FolderError(Exception):
    """The folder or a file cannot be used: why, in one sentence."""


class Changed(FolderError):
    """The file is another one than the one that was seen."""


@dataclass(frozen=True)
class OnDisk:
    """What a file held as it was read.

    text     with "\\n" at the ends of lines, whatever the file has
    stamp    the same for the same bytes
    saved    when
    windows  does it have "\\r\\n" at the ends of lines?
    """

    text: str
    stamp: str
    saved: datetime = field(compare=False)
    windows: bool


def start(folder: Path, course: Course, text: str | None = None) -> OnDisk:
    """The course's file, which is made, with a text or the lines to begin with, where there is none. The folder is an
    absolute path. Raises FolderError."""
    if not folder.is_absolute() or "\0" in str(folder):
        raise FolderError(f"{folder} is not the whole path of a folder, such as ~/my-engine.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FolderError(f"The folder {folder} cannot be made: {reason(error)}.") from None
    return read(folder, course) or write(folder, course, course.starter if text is None else text, "")


def need(folder: Path) -> None:
    """Raises FolderError where there is no folder, or none that we may look into."""
    if not os.path.isdir(folder):  # unlike Path.is_dir, false where we may not look
        raise FolderError(f"There is no folder {folder}.")


def read(folder: Path, course: Course) -> OnDisk | None:
    """The course's file; None where there is none. The folder is an absolute path. Raises FolderError."""
    need(folder)
    return read_file(folder / course.file)


def read_file(path: Path) -> OnDisk | None:
    """A learner's file; None where there is none. Raises FolderError."""
    try:
        held, saved = content(path, LARGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FolderError(f"{path} cannot be read: {reason(error)}.") from None
    if len(held) > LARGEST:
        raise FolderError(f"{path} is larger than {LARGEST // 1000} kB; a task needs far less.")
    return _seen(held, path, saved)


def content(path: Path, most: int) -> tuple[bytes, datetime]:
    """The first `most` + 1 bytes of a file, and when it was saved. Nothing else is read: a pipe, say, may never end.

    Raises OSError.
    """
    flags = getattr(os, "O_NONBLOCK", 0)
    with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError("it is not a file")
        return file.read(most + 1), datetime.fromtimestamp(about.st_mtime)


def write(folder: Path, course: Course, text: str, seen: str) -> OnDisk:
    """Put a text in the place of the course's file; what stood there last is among the copies.

    seen: the stamp of the file that it replaces, "" for none. Raises Changed where the file is another one by now, and
    FolderError where it cannot be written.
    """
    path = folder / course.file
    before = read(folder, course)
    if before and before.text == text:
        return before
    if (before.stamp if before else "") != seen:
        raise Changed(f"{path} has changed since it was read.")
    if before:
        keep(folder, course, before.text, before.saved)
    held = _bytes(text.replace("\n", "\r\n") if before and before.windows else text)
    if len(held) > LARGEST:
        raise FolderError(f"The text is larger than {LARGEST // 1000} kB and was not written to {path}.")
    replace(path, held)
    return _seen(held, path, datetime.now())


def keep(folder: Path, course: Course, text: str, when: datetime) -> Path:
    """Keep a dated copy of a text; one like an earlier copy is not kept twice. Raises FolderError."""
    copies = folder / COPIES
    held = _bytes(text)
    number = hashlib.blake2s(held, digest_size=3).hexdigest()
    stem = course.file.removesuffix(".py")
    try:
        copies.mkdir(exist_ok=True)
        path = next(copies.glob(f"{stem} * {number}.py"), copies / f"{stem} {when:%Y-%m-%d %H.%M.%S} {number}.py")
        if not path.exists():
            replace(path, held)
    except OSError as error:
        raise FolderError(f"No copy could be kept in {copies}: {reason(error)}.") from None
    return path


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise FolderError(f"Line {line} holds half a character, which no file can hold: take it out.") from None


def _seen(held: bytes, path: Path, saved: datetime) -> OnDisk:
    try:
        text = held.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FolderError(f"{path} is not a text in UTF-8: save it as such.") from None
    unix = text.replace("\r\n", "\n").replace("\r", "\n")
    return OnDisk(unix, hashlib.blake2s(held, digest_size=16).hexdigest(), saved, b"\r\n" in held)


def replace(path: Path, held: bytes) -> None:
    """Write a file so that at each moment it is the old one or the new one. Raises FolderError."""
    target = path.resolve()
    name = ""
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{path.name}.", delete=False) as file:
            name = file.name
            file.write(held)
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
    """What the system says, for the end of a sentence."""
    return (error.strerror or str(error)).lower()


def printable(text: object) -> str:
    """What of a text a terminal can show on one line, without what it would obey."""
    return "".join(sign if sign.isprintable() else "?" for sign in str(text))
