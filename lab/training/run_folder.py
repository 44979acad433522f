"""A training run on disk: a folder that stays usable whenever the process is killed.

    config.json       the settings, written once
    metrics.jsonl     one JSON object per epoch, appended and flushed as the epoch ends
    best_weights.npy  all weights and biases of the best epoch, as one flat array
    checkpoint.npz    the state to resume from, bit for bit
    summary.png       the picture of the run, drawn when it ends

Every file but metrics.jsonl is written under a temporary name and renamed, so it is either the old one or the new
one, never half of it. The checkpoint comes last: `rewind` cuts off what the other files hold beyond its epoch.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import shlex
import signal
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np

from lab.training.config import Config
from lab.training.records import Record, is_record, slim

State = dict[str, np.ndarray]


class RunError(ValueError):
    """A run folder cannot be used. The message is one sentence for the learner: what is wrong, and what to do."""


def write_atomic(path: Path, content: bytes) -> None:
    """Write `content` to `path`, completely or not at all. Raises RunError when it cannot be written."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # else a power cut may leave the new name with nothing behind it
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise cannot_write(path, error) from None


@contextlib.contextmanager
def lock_run(folder: Path, wait: bool = False) -> Iterator[None]:
    """Lock a run's folder against changes by other processes. With `wait`, wait for the lock.

    Raises RunError if another process holds the lock and `wait` is False. The system releases a dead process's lock.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise RunError(
                f"Another process is training the run in {str(folder)!r}: wait for it, or stop it."
            ) from None
        except OSError:
            pass  # a network drive without locks
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def uninterrupted(ignore: bool = False) -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, while files are written; `ignore`: discard it.

    A process that ignores Ctrl-C, such as one that a shell script starts in the background, goes on ignoring it. In a
    thread other than the main one nothing is done: Python delivers Ctrl-C to the main thread.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    pressed = []
    previous = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if pressed and not ignore:
        raise KeyboardInterrupt


def histogram_command(run: RunFolder) -> str:
    """Return the line for a terminal that draws the histogram of a run's best weights."""
    weights = json.dumps(str(run.path / "best_weights.npy"))
    code = f'import numpy, matplotlib.pyplot as p; p.hist(numpy.load({weights}), 50); p.savefig("weights.png")'
    return f"python -c {shlex.quote(code)}"


def cannot_write(path: Path, error: OSError) -> RunError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    remedy = "free some space" if full else "choose a folder that you may write to"
    return RunError(f"{str(path)!r} could not be written ({error.strerror}): {remedy}, or give another --out.")


def new_folder(data: str) -> Path:
    """Make the first of runs/NAME-1, runs/NAME-2, ... that does not exist. Raises RunError.

    data: the dataset's name, such as "moons" or "csv:a/b.csv".
    """
    kind, _, path = data.partition(":")
    name = re.sub(r"[^\w-]+", "-", f"{kind}-{Path(path).stem}" if path else kind)
    for number in count(1):
        folder = Path("runs", f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise cannot_write(folder, error) from None
        return folder
    raise AssertionError  # there is always another number


def is_run(path: Path) -> bool:
    """Return True if the folder holds a run."""
    return os.path.isfile(path / "config.json")  # unlike Path.is_file, false where we may not look


class RunFolder:
    """A run on disk. `RunFolder.create` makes one, `RunFolder(path)` opens one that exists."""

    def __init__(self, path: Path) -> None:
        """Open the run in a folder. Raises RunError when there is none."""
        self.path = path
        if not is_run(path):
            raise RunError(f"There is no run in {str(path)!r} (no config.json): name the folder of a run.")

    @classmethod
    def create(cls, path: Path, config: Config) -> RunFolder:
        """Make the folder with its config.json. Raises RunError when it already holds files or cannot be made."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(not file.name.endswith(".tmp") for file in path.iterdir()):
                raise RunError(
                    f"{str(path)!r} already holds files: give another --out, or continue its run with --resume."
                )
        except OSError as error:
            raise cannot_write(path, error) from None
        write_atomic(path / "config.json", _indented_json(config))
        return cls(path)

    def config(self) -> Config:
        """Read the settings. Raises RunError for a damaged file, ConfigError for settings that cannot be used."""
        try:
            settings = json.loads((self.path / "config.json").read_text())
        except (OSError, ValueError, RecursionError):
            raise self.damaged("config.json") from None
        if not isinstance(settings, dict):
            raise self.damaged("config.json")
        return Config.from_json(settings)

    def write_config(self, config: Config) -> None:
        write_atomic(self.path / "config.json", _indented_json(config))

    def records(self) -> list[Record]:
        """Read the records in metrics.jsonl. A last line that was cut off in the middle is left out.

        Only the first and the last keep their histograms, which the doctor and the picture need: those of all epochs
        may not fit into memory. Raises RunError when a line is not the record of its epoch, ConfigError (see `config`).
        """
        layers, records = self.config().layer_names, list[Record]()
        for epoch, line in enumerate(self._lines(), start=1):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                raise self.damaged("metrics.jsonl") from None
            if not is_record(record, epoch, layers):
                raise self.damaged("metrics.jsonl")
            if epoch > 2:
                records[-1:] = slim(records[-1:])
            records.append(record)
        return records

    def _lines(self) -> list[bytes]:
        """Read the complete lines of metrics.jsonl."""
        try:
            lines = (self.path / "metrics.jsonl").read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise RunError(f"metrics.jsonl in {str(self.path)!r} cannot be read ({error.strerror}).") from None
        return lines[:-1] if lines and not lines[-1].endswith(b"\n") else lines

    def save(self, record: Record, state: State) -> None:
        """Write an epoch's record, its weights if they are the best so far, and the checkpoint."""
        self._append(record)
        if record["best"]:
            self._write_best_weights(state["best_weights"])
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **state)
        write_atomic(self.path / "checkpoint.npz", buffer.getvalue())

    def checkpoint(self) -> State | None:
        """Load the state after the last saved epoch; None before the first. Raises RunError for a damaged file."""
        path = self.path / "checkpoint.npz"
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        except Exception:  # NumPy raises many kinds of errors for a damaged archive
            raise self.damaged("checkpoint.npz") from None

    def rewind(self, epoch: int, best_weights: np.ndarray) -> None:
        """Cut the files back to the checkpoint's epoch: a killed process may have written more than its checkpoint."""
        if len(self.records()) < epoch:
            raise self.damaged("metrics.jsonl")
        write_atomic(self.path / "metrics.jsonl", b"".join(self._lines()[:epoch]))
        if epoch > 0:
            self._write_best_weights(best_weights)

    def _append(self, record: Record) -> None:
        path = self.path / "metrics.jsonl"
        size = path.stat().st_size if path.exists() else 0
        try:
            with path.open("ab") as file:
                file.write((json.dumps(record, allow_nan=False) + "\n").encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                os.truncate(path, size)  # half a line may have been written before the disk was full
            raise cannot_write(path, error) from None

    def _write_best_weights(self, weights: np.ndarray) -> None:
        buffer = io.BytesIO()
        np.save(buffer, weights)
        write_atomic(self.path / "best_weights.npy", buffer.getvalue())

    def damaged(self, name: str) -> RunError:
        """Return the error about a file in the folder that cannot be right."""
        return RunError(f"{name} in {str(self.path)!r} is damaged: move this folder away, and train its run again.")


def _indented_json(config: Config) -> bytes:
    return (json.dumps(config.to_json(), indent=2) + "\n").encode()
