"""Store the runs of the page's visitors in files, so that a reload or a restart of the server loses nothing.

Each visitor has a folder, whose name is a hash of a key that only their browser knows. It holds the runs that the pages
show and those on the shelf, each complete: settings, records, losses and saved weights. A finished run on public data
is also stored for everybody: training is deterministic, so whoever opens a link to it gets the same run. Sizes are
limited, per visitor and in total: the oldest files are deleted first.
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
from lab.training.datasets import Dataset, from_upload
from lab.training.live import LiveRun, Own
from lab.training.records import slim
from lab.training.run_folder import RunError, write_atomic
from lab.training.shelf import MAX_RUNS, ShelvedRun
from lab.training.trial import Trial

BROWSER_LIMIT = 20_000_000  # bytes of the files of one visitor
SHARED_LIMIT = 100_000_000  # bytes of the finished runs stored for everybody
TOTAL_LIMIT = 1_000_000_000  # bytes of all files together
MAX_BROWSERS = 1000  # visitors whose runs are stored
PROTECTED_SECONDS = 24 * 3600.0  # a visitor's files younger than this are not deleted to make room for others
CLOCK_SKEW = 60.0  # seconds that a file's time may be ahead of this machine's clock
STATES_LIMIT = 2_000_000  # bytes of the saved weights in a file
SOURCES = (  # the files that decide on a run's numbers
    "model.py",
    "nn.py",
    "train.py",
    *(f"lab/training/{name}.py" for name in ("run_state", "datasets", "samples", "tables", "images", "config")),
)
PRESENT, SHARED, TRIED = "present", "everybody", "tried.json"
Tried = list[tuple[str, Trial]]  # the `digest` of a run, and the result of a remedy that was tried on it
MAX_WINDOWS = 4  # of one visitor, whose runs are stored


def own_dataset(own: Own, config: Config) -> Dataset | None:
    """Make the dataset of a visitor's own data; None for a run on public data. Raises DataError."""
    if "points" in own:
        return points.dataset(points.from_text(own["points"]), config.val_fraction, config.seed)
    if "table" in own:
        return from_upload(own, config.val_fraction, config.seed)
    return None


def pack(run: LiveRun, name: str = "") -> bytes:
    """Serialize a run in its present state into the bytes of one file."""
    about = {
        "name": name,
        "config": run.config.to_json(),
        "history": run.history,
        "batches": run.batches,
        "own": run.own,
    }
    arrays = {"losses": run.losses()}
    for label, state in run.states(STATES_LIMIT).items():
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
    """Load a run from a file, ready to continue. Raises RunError for a damaged file, or one of another version."""
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
    except Exception:  # NumPy raises many kinds of errors for a damaged archive
        raise RunError("This run can no longer be opened: train it again.") from None


@dataclass(frozen=True)
class RunStore:
    """The files of one visitor. key: known only to their browser; files: the folder of all visitors."""

    files: Path
    key: str

    @property
    def folder(self) -> Path:
        return self.files / _digest(self.key)

    def prepare(self) -> None:
        """Make the folder of all visitors, so that a failure to write shows before the first save. Raises RunError."""
        try:
            self.files.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"The run cannot be kept ({error.strerror}).") from None
        if not os.access(self.files, os.W_OK):
            raise RunError("The run cannot be kept: its folder cannot be written to.")

    def save_present(self, run: LiveRun) -> None:
        """Store the run on the page; a finished run on public data also for everybody. Raises RunError."""
        packed = pack(run)
        self._write(self._page_file(run.config), packed)
        for path in self._page_files()[MAX_WINDOWS:]:
            path.unlink(missing_ok=True)
        if run.done and not run.own:
            self._write(finished_path(self.files, run.config), packed)

    def present(self, config: Config | None = None) -> LiveRun | None:
        """Load the stored page run with these settings, or else the one shown last; None if there is none."""
        wanted = [self._page_file(config)] if config else []
        return next((run for path in (*wanted, *self._page_files()) if (run := open_run(path))), None)

    def shelve(self, kept: ShelvedRun, run: LiveRun) -> None:
        """Store a complete run of the shelf, and note its file in `kept`. Raises RunError."""
        kept.file = self.folder / f"{digest(run)}.npz"
        self._write(kept.file, pack(run, kept.name))
        for path in self._shelf_files()[:-MAX_RUNS]:
            path.unlink(missing_ok=True)

    def shelf(self) -> list[ShelvedRun]:
        """Load the visitor's shelf, the oldest run first. Files that can no longer be read are left out."""
        found = []
        for path in self._shelf_files():
            with contextlib.suppress(RunError):
                found.append(_load_shelved(path))
        return found

    def save_tried(self, tried: Tried) -> None:
        """Store the results of the remedies that were tried. Raises RunError."""
        self._write(self.folder / TRIED, json.dumps([(run, trial.to_json()) for run, trial in tried]).encode())

    def tried(self) -> Tried:
        """Load the stored results of remedies; an empty list if they cannot be read."""
        try:
            return [(run, Trial.from_json(known)) for run, known in json.loads((self.folder / TRIED).read_bytes())]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return []

    def _page_file(self, config: Config) -> Path:
        return self.folder / f"{PRESENT}-{_digest(json.dumps(config.to_json()))}.npz"

    def _page_files(self) -> list[Path]:
        """List the files of the page's runs, the newest first."""
        return [path for path, _ in _by_age(self.folder.glob(f"{PRESENT}-*.npz"))][::-1]

    def _shelf_files(self) -> list[Path]:
        """List the files of the shelf's runs, the oldest first."""
        return [path for path, _ in _by_age(self.folder.glob("*.npz")) if not path.name.startswith(PRESENT)]

    def _write(self, path: Path, content: bytes) -> None:
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")  # another thread may write the same file
        if not self.folder.is_dir():
            _make_room_for_browser(self.files)
        _make_room(self.files, path, len(content))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(temporary, content)
            temporary.replace(path)
        except OSError as error:
            raise RunError(f"The run cannot be kept ({error.strerror}).") from None


def finished_path(files: Path, config: Config) -> Path:
    """Return the path where the finished run of these settings and this version is stored for everybody, if it is."""
    text = json.dumps(config.to_json()) + _version()
    return files / SHARED / f"{_digest(text)}.npz"


def open_run(path: Path) -> LiveRun | None:
    """Load the run in a file; None if the file is missing or cannot be read."""
    if not path.is_file():
        return None
    try:
        return unpack(path)
    except RunError:
        return None


def rename(kept: ShelvedRun) -> None:
    """Write the new name of a run on the shelf into its file. Raises RunError."""
    if kept.file is None:
        return
    try:
        with np.load(kept.file, allow_pickle=False) as archive:
            about, arrays = _about(archive), {name: archive[name] for name in archive.files if name != "about"}
        before = kept.file.stat()
    except Exception:
        raise RunError("This run can no longer be read, so its new name is forgotten when you leave.") from None
    write_atomic(kept.file, _archive(about | {"name": kept.name}, arrays))
    os.utime(kept.file, (before.st_atime, before.st_mtime))  # files are ordered by age: keep its place


def delete(kept: ShelvedRun) -> None:
    """Delete the file of a run. Raises RunError."""
    try:
        if kept.file:
            kept.file.unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"The run could not be deleted ({error.strerror}).") from None


def digest(run: LiveRun) -> str:
    """Compute a key that is equal for runs with the same settings and data."""
    return _digest(f"{json.dumps(run.config.to_json())} {run.trainer.dataset.fingerprint}")


def _digest(text: str) -> str:
    return hashlib.blake2s(text.encode(), digest_size=16).hexdigest()


def _load_shelved(path: Path) -> ShelvedRun:
    """Load a run of the shelf without its weights. Raises RunError."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            about = _about(archive)
        return ShelvedRun(
            about["name"], Config.from_json(about["config"]), slim(about["history"][1:]), file=path, own=about["own"]
        )
    except Exception:
        raise RunError("This run can no longer be read.") from None


@cache
def _version() -> str:
    """Hash the source files that decide on a run's numbers: runs of another version are not reused."""
    root = Path(__file__).resolve().parents[2]
    return hashlib.blake2s(b"".join((root / name).read_bytes() for name in SOURCES)).hexdigest()


def _make_room(files: Path, path: Path, size: int) -> None:
    """Delete the oldest files of a file's folder, then old files of others, until this size fits. Raises RunError.

    Other visitors' files of the last day stay, so that nobody can push out runs in use.
    """
    limit = SHARED_LIMIT if path.parent.name == SHARED else BROWSER_LIMIT
    if size > limit:
        raise RunError("The run cannot be kept: it is too large.")
    own = [(file, bytes_) for file, bytes_ in _by_age(path.parent.glob("*")) if file != path]
    _delete_oldest(own, size, limit)
    others = [(file, bytes_) for file, bytes_ in _by_age(files.glob("*/*")) if file != path]
    old = [(file, bytes_) for file, bytes_ in others if file.parent.name == SHARED or _is_old(file)]
    needed = size + sum(bytes_ for _, bytes_ in others) - sum(bytes_ for _, bytes_ in old)
    _delete_oldest(old, needed, TOTAL_LIMIT)
    if needed > TOTAL_LIMIT:
        raise RunError("The run cannot be kept: the server has no room for more.")


def _make_room_for_browser(files: Path) -> None:
    """Delete empty folders, then those unused for longest, if there are too many. Raises RunError if all are in use."""
    folders = [path for path, _ in _by_age(path for path in files.glob("*/") if path.name != SHARED)]
    surplus = max(len(folders) - MAX_BROWSERS + 1, 0)
    for path in sorted(folders, key=_is_filled)[:surplus]:
        if _is_filled(path) and not _is_old(path):
            raise RunError("The run cannot be kept: the server has no room for more visitors.")
        shutil.rmtree(path, ignore_errors=True)


def _is_filled(folder: Path) -> bool:
    return next(folder.glob("*"), None) is not None


def _is_old(path: Path) -> bool:
    """Return True if nothing was written there in the last day, or the clock has been set back since."""
    try:
        return not -CLOCK_SKEW < time.time() - path.stat().st_mtime < PROTECTED_SECONDS
    except OSError:  # another page has just deleted it
        return True


def _delete_oldest(known: list[tuple[Path, int]], size: int, limit: int) -> None:
    """Delete files from the start of the list until the rest and another `size` bytes are within the limit."""
    total = size + sum(bytes_ for _, bytes_ in known)
    for path, bytes_ in known:
        if total <= limit:
            return
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        total -= bytes_


def _by_age(paths: Iterable[Path]) -> list[tuple[Path, int]]:
    """List files with their sizes, the oldest first. One that another page has just deleted is left out.

    Times in the future come first: the clock has been set back, so they are older than whatever is written now.
    """
    now, found = time.time() + CLOCK_SKEW, []
    for path in paths:
        with contextlib.suppress(OSError):
            stat = path.stat()
            found.append((stat.st_mtime <= now, stat.st_mtime, path, stat.st_size))
    return [(path, size) for _, _, path, size in sorted(found)]
