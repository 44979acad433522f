"""The runs of the page's visitors, in files: so that a reload, another page or a restart of the server loses nothing.

Each visitor has a folder of their own, whose name is made from a key that only their browser knows. In it lie the run
that the page shows and those of the shelf, each whole: settings, records, losses and weights to go back to. A finished
run on data that everybody has is also kept for whom a link leads to it: training is deterministic, so that it is
theirs as well. All is bounded, for each visitor and in all: the oldest files make room.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import secrets
import shutil
import time
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lab.training import points
from lab.training.config import Config
from lab.training.datasets import Dataset, from_table
from lab.training.live import LiveRun, Own
from lab.training.records import slim
from lab.training.run_folder import RunError, write_atomic
from lab.training.shelf import MOST, Kept
from lab.training.trial import Trial

VISIT_LIMIT = 20_000_000  # bytes of the files of one visitor
SHARED_LIMIT = 100_000_000  # bytes of the finished runs that are there for everybody
TOTAL_LIMIT = 1_000_000_000  # bytes of all files together
MAX_VISITS = 1000  # visitors whose runs are kept
FRESH = 24 * 3600.0  # seconds in which nobody else can take the place of a run
STATES = 2_000_000  # bytes of the weights that a file holds
SOURCES = (
    "model.py",
    *(f"lab/training/{name}.py" for name in ("trainer", "datasets", "samples", "tables", "images", "config")),
)
PRESENT, EVERYBODY, TRIED = "present", "everybody", "tried.json"
Tried = list[tuple[str, Trial]]  # the `digest` of a run, and the result of a remedy that was tried on it
WINDOWS = 4  # runs that pages show, of one visitor with several windows


def own_dataset(own: Own, config: Config) -> Dataset | None:
    """The visitor's data that belong to a run, None for a run on data that everybody has. Raises DataError."""
    if "points" in own:
        return points.dataset(points.from_text(own["points"]), config.val_fraction, config.seed)
    if "table" in own:
        return from_table(own["table"], own["name"], own["target"], config.val_fraction, config.seed, own.get("task"))
    return None


def pack(run: LiveRun, name: str = "") -> bytes:
    """A run as it stands, in one file."""
    about = {
        "name": name,
        "config": run.config.to_json(),
        "history": run.history,
        "batches": run.batches,
        "own": run.own,
    }
    arrays = {"losses": run.losses()}
    for label, state in run.states(STATES).items():
        arrays |= {f"{label} {key}": array for key, array in state.items()}
    return _archive(about, arrays)


def _archive(about: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    packed = np.frombuffer(zlib.compress(json.dumps(about).encode(), 1), np.uint8)
    np.savez(buffer, allow_pickle=False, about=packed, **arrays)
    return buffer.getvalue()


def _about(archive: Mapping[str, np.ndarray]) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(zlib.decompress(archive["about"].tobytes()))
    return about


def unpack(path: Path) -> LiveRun:
    """The run in a file, ready to go on. Raises RunError for a file that is damaged or was made by another version."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            about = _about(archive)
            config, own = Config.from_json(about["config"]), about["own"]
            states: dict[str, dict[str, np.ndarray]] = {}
            for key in archive.files:
                label, _, name = key.partition(" ")
                if name:
                    states.setdefault(label, {})[name] = archive[key]
            run = LiveRun(config, own_dataset(own, config), own=own)
            run.restore(about["history"], archive["losses"], states)
            return run
    except Exception:  # a damaged archive fails in a dozen ways, according to the byte that is wrong
        raise RunError("This run can no longer be opened: train it again.") from None


@dataclass(frozen=True)
class Visit:
    """The files of one visitor. key: known to their browser alone; files: the folder of all visitors."""

    files: Path
    key: str

    @property
    def folder(self) -> Path:
        return self.files / _digest(self.key)

    def prepare(self) -> None:
        """Make the folder, so that it is known at once where nothing can be written. Raises RunError."""
        try:
            if not self.folder.is_dir():
                _make_room_for_visit(self.files)
                self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"The run cannot be kept ({error.strerror}).") from None

    def keep_present(self, run: LiveRun) -> None:
        """The run on the page is this one; finished, it is there for everybody who has its data. Raises RunError."""
        packed = pack(run)
        self._write(self._present(run.config), packed)
        for path in self._presents()[WINDOWS:]:
            path.unlink(missing_ok=True)
        if run.done and not run.own:
            self._write(finished(self.files, run.config), packed)

    def present(self, config: Config | None = None) -> LiveRun | None:
        """The run of these settings that a page has shown, or else the one that was shown last, if there is one."""
        wanted = [self._present(config)] if config else []
        return next((run for path in (*wanted, *self._presents()) if (run := opened(path))), None)

    def shelve(self, kept: Kept, run: LiveRun) -> None:
        """Keep a run of the shelf whole. Raises RunError."""
        kept.file = self.folder / f"{digest(run)}.npz"
        self._write(kept.file, pack(run, kept.name))
        for path in self._shelved()[:-MOST]:
            path.unlink(missing_ok=True)

    def shelf(self) -> list[Kept]:
        """The visitor's shelf, the oldest run first. What cannot be read any more is left out."""
        found = []
        for path in self._shelved():
            with contextlib.suppress(RunError):
                found.append(_described(path))
        return found

    def keep_tried(self, tried: Tried) -> None:
        """Keep the results of remedies that were tried. Raises RunError."""
        self._write(self.folder / TRIED, json.dumps([(run, trial.to_json()) for run, trial in tried]).encode())

    def tried(self) -> Tried:
        """The results that were kept; none where they cannot be read."""
        try:
            return [(run, Trial.from_json(known)) for run, known in json.loads((self.folder / TRIED).read_bytes())]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return []

    def _present(self, config: Config) -> Path:
        return self.folder / f"{PRESENT}-{_digest(json.dumps(config.to_json()))}.npz"

    def _presents(self) -> list[Path]:
        """The newest first."""
        return [path for path, _ in _by_age(self.folder.glob(f"{PRESENT}-*.npz"))][::-1]

    def _shelved(self) -> list[Path]:
        """The oldest first."""
        return [path for path, _ in _by_age(self.folder.glob("*.npz")) if not path.name.startswith(PRESENT)]

    def _write(self, path: Path, content: bytes) -> None:
        mine = path.with_name(f"{path.name}.{secrets.token_hex(8)}")  # others may be about to write the same file
        self.prepare()
        _make_room(self.files, path, len(content))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(mine, content)
            mine.replace(path)
        except OSError as error:
            raise RunError(f"The run cannot be kept ({error.strerror}).") from None


def finished(files: Path, config: Config) -> Path:
    """Where the finished run of these settings lies, if somebody has trained it with this version of the engine."""
    text = json.dumps(config.to_json()) + _version()
    return files / EVERYBODY / f"{_digest(text)}.npz"


def opened(path: Path) -> LiveRun | None:
    """The run in a file; None where there is no file, or none that can be read."""
    if not path.is_file():
        return None
    try:
        return unpack(path)
    except RunError:
        return None


def rename(kept: Kept) -> None:
    """The file of a run that was renamed on the shelf says its new name, too. Raises RunError."""
    if kept.file is None:
        return
    try:
        with np.load(kept.file, allow_pickle=False) as archive:
            about, arrays = _about(archive), {name: archive[name] for name in archive.files if name != "about"}
        before = kept.file.stat()
    except Exception:
        raise RunError("This run can no longer be read, so its new name is forgotten when you leave.") from None
    write_atomic(kept.file, _archive(about | {"name": kept.name}, arrays))
    os.utime(kept.file, (before.st_atime, before.st_mtime))  # it keeps its place among the others


def delete(kept: Kept) -> None:
    """Delete the file of a run. Raises RunError."""
    try:
        if kept.file:
            kept.file.unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"The run could not be deleted ({error.strerror}).") from None


def digest(run: LiveRun) -> str:
    """The same for runs with the same settings and data."""
    return _digest(f"{json.dumps(run.config.to_json())} {run.trainer.dataset.fingerprint}")


def _digest(text: str) -> str:
    return hashlib.blake2s(text.encode(), digest_size=16).hexdigest()


def _described(path: Path) -> Kept:
    """A run of the shelf without its weights. Raises RunError."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            about = _about(archive)
        return Kept(
            about["name"], Config.from_json(about["config"]), slim(about["history"][1:]), file=path, own=about["own"]
        )
    except Exception:
        raise RunError("This run can no longer be read.") from None


@cache
def _version() -> str:
    """Another one whenever a file has changed that decides about the numbers of a run."""
    root = Path(__file__).resolve().parents[2]
    return hashlib.blake2s(b"".join((root / name).read_bytes() for name in SOURCES)).hexdigest()


def _make_room(files: Path, path: Path, size: int) -> None:
    """Make room for a file of this size. The oldest files of its own folder go first, then others' that are old; those
    of the last day stay, so that nobody can push out what others are at work on. Raises RunError where that is not
    enough."""
    limit = SHARED_LIMIT if path.parent.name == EVERYBODY else VISIT_LIMIT
    if size > limit:
        raise RunError("The run cannot be kept: it is too large.")
    mine = [(file, bytes_) for file, bytes_ in _by_age(path.parent.glob("*")) if file != path]
    _delete_oldest(mine, size, limit)
    others = [(file, bytes_) for file, bytes_ in _by_age(files.glob("*/*")) if file != path]
    old = [(file, bytes_) for file, bytes_ in others if file.parent.name == EVERYBODY or _is_old(file)]
    needed = size + sum(bytes_ for _, bytes_ in others) - sum(bytes_ for _, bytes_ in old)
    _delete_oldest(old, needed, TOTAL_LIMIT)
    if needed > TOTAL_LIMIT:
        raise RunError("The run cannot be kept: the server has no room for more.")


def _make_room_for_visit(files: Path) -> None:
    """Delete the visits that nobody has used for longest, if there are too many. Raises RunError if all are in use."""
    visits = [path for path, _ in _by_age(path for path in files.glob("*") if path.name != EVERYBODY)]
    for path in visits[: max(len(visits) - MAX_VISITS + 1, 0)]:
        if not _is_old(path):
            raise RunError("The run cannot be kept: the server has no room for more visitors.")
        shutil.rmtree(path, ignore_errors=True)


def _is_old(path: Path) -> bool:
    """True if nothing was written there in the last day."""
    try:
        return path.stat().st_mtime < time.time() - FRESH
    except OSError:  # another page has just deleted it
        return True


def _delete_oldest(known: list[tuple[Path, int]], size: int, limit: int) -> None:
    """Delete files, the first ones first, until they and another `size` bytes are within the limit."""
    total = size + sum(bytes_ for _, bytes_ in known)
    for path, bytes_ in known:
        if total <= limit:
            return
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        total -= bytes_


def _by_age(paths: Iterable[Path]) -> list[tuple[Path, int]]:
    """Files with their sizes, the oldest first. One that another page has just deleted is left out."""
    found = []
    for path in paths:
        with contextlib.suppress(OSError):
            stat = path.stat()
            found.append((stat.st_mtime, path, stat.st_size))
    return [(path, size) for _, path, size in sorted(found)]
