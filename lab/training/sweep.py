"""A sweep: one run for each combination of settings, each in a folder of its own, over several processes or a
cluster.

The folders hold all there is to know. Progress is read from them, a run that was interrupted goes on from its
checkpoint, and one that is finished is not trained again: doing the same sweep a second time continues it.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.training.config import Config, ConfigError, sizes_text
from lab.training.datasets import load_dataset
from lab.training.doctor import diagnose
from lab.training.records import Record, ending
from lab.training.run_folder import RunError, RunFolder, alone_in, cannot_write, is_run, write_atomic
from lab.training.trainer import Trainer, resumed, save_summary, train

if TYPE_CHECKING:
    from distributed import Client  # an optional extra

POLL_SECONDS = 0.2
CONNECT_SECONDS = 10
OF_THE_DATA = ("data", "data_dir", "target", "task", "val_fraction", "noise", "samples")  # of all seeds, one is tried
STOP = ".stop"  # while it is in the folder of a sweep, nobody trains its runs any further


@dataclass(frozen=True)
class Member:
    """One run of a sweep. chosen: the settings in which it differs from the others."""

    chosen: dict[str, Any]
    config: Config
    path: Path

    def records(self) -> list[Record]:
        return RunFolder(self.path).records()

    def finished(self) -> bool:
        """Is there nothing left to do? The summary is written last."""
        records = self.records()
        return bool(records) and ending(self.config, records) != "" and (self.path / "summary.png").exists()


def plan(axes: Mapping[str, Sequence[Any]], given: Mapping[str, Any], out: Path) -> list[Member]:
    """Every combination of the values in `axes`, the last changing fastest, with the settings `given` for all runs.

    Raises ConfigError, and DataError for data that cannot be used: before anything is trained or written.
    """
    members = []
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        members.append(Member(chosen, Config(**{**given, **chosen}), out / folder_name(chosen)))
    path, number = Counter(member.path for member in members).most_common(1)[0]
    if number > 1:
        raise ConfigError(f"--sweep has {number} runs for the folder {str(path)!r}: give every value once.")
    datasets = {}
    for config in (member.config for member in members):
        sort = tuple(getattr(config, name) for name in OF_THE_DATA)
        if sort not in datasets:
            datasets[sort] = load_dataset(config)
        Trainer(config, datasets[sort])  # refuses a network that is too large
    return members


def folder_name(chosen: Mapping[str, Any]) -> str:
    """A folder for the settings {"lr": 0.1, "hidden": (64, 32)}: "lr=0.1,hidden=64-32", never a path."""
    return ",".join(f"{name}={_word(value)}" for name, value in chosen.items()).replace(os.sep, "-").replace(":", "-")


def _word(value: Any) -> str:
    """A value as --sweep takes it, and with all its digits: two runs must not have one folder."""
    return sizes_text(value) or "none" if isinstance(value, tuple) else str(value)


def in_folder(members: Sequence[Member], folder: Path) -> list[Member]:
    """The members, with their folders in a new one. Raises RunError when there is one already."""
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    return [replace(member, path=folder / member.path.name) for member in members]


def make_folders(members: Sequence[Member]) -> None:
    """A folder for each run, unless it is there already. Raises RunError when it is that of another run."""
    for member in members:
        if not is_run(member.path):
            RunFolder.create(member.path, member.config)
        elif RunFolder(member.path).config() != member.config:
            raise RunError(f"{str(member.path)!r} holds a run with other settings: give the sweep another --out.")
        (member.path.parent / STOP).unlink(missing_ok=True)


def stop(members: Sequence[Member]) -> None:
    """End the runs that a cluster has begun, each after its present epoch: Dask can take back only what has not begun.

    `make_folders` allows it again. Raises RunError.
    """
    for folder in {member.path.parent for member in members}:
        write_atomic(folder / STOP, b"")


def train_folder(path: str) -> None:
    """Train the run in a folder to its end, from wherever it stands. This is what a worker process does."""
    run = RunFolder(Path(path))
    with alone_in(run.path, wait=True):  # a cluster may still be at work on an earlier sweep
        config = run.config()
        trainer = resumed(run, config)
        for record in train(config, trainer):
            run.save(record, trainer.state() | trainer.dataset.preparation)
            if (run.path.parent / STOP).exists():
                return
        save_summary(run, trainer)


def train_all(members: Sequence[Member], executor: Executor, on_progress: Callable[[int], Any]) -> None:
    """Train all runs that are not finished. `on_progress` is told the number of epochs that all runs have together.

    An epoch that a run did not need, because it stopped before the last one, counts as done.
    """
    futures: dict[Future[None], Member] = {}
    with _ctrl_c_blocked():
        for member in members:
            if not member.finished():
                futures[executor.submit(train_folder, str(member.path.resolve()))] = member
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=POLL_SECONDS)
        for future in done:
            future.result()
        working = {futures[future].path for future in pending}
        on_progress(sum(_epochs(m.path) if m.path in working else m.config.epochs for m in members))


def _epochs(path: Path) -> int:
    try:
        return (path / "metrics.jsonl").read_bytes().count(b"\n")
    except OSError:  # not begun
        return 0


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Ctrl-C waits until the end of the block. A process that is started in it never sees any: we are to stop it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def local_workers(runs: int) -> Iterator[Executor]:
    """Worker processes, one for each processor. When the block is left early, they are killed, which harms no run."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # the processes share the processors: each of them computes in one thread
    executor = ProcessPoolExecutor(max(1, min(os.cpu_count() or 1, runs)), get_context("spawn"))
    try:
        yield executor
    except BaseException:
        for process in active_children():
            process.kill()
        executor.shutdown(cancel_futures=True)  # which waits for its thread: left alone, it may speak at Python's end
        raise
    executor.shutdown()


def connect(address: str) -> Client:
    """A Dask cluster. Its workers must see the same folders as we do, and find the modules of this project.

    Raises ConfigError when Dask is not installed or no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError("--scheduler needs Dask, which is not installed: pip install 'dask[distributed]'.") from None
    try:
        asyncio.run(_knock(address))
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError):  # a TimeoutError is an OSError; TypeError: tls:// without certificates
        raise ConfigError(
            f"There is no Dask scheduler at {address!r}: start one with 'dask scheduler', and give the address it says."
        ) from None


async def _knock(address: str) -> None:
    """Raises OSError, ValueError or TypeError. A Client that finds nobody raises another error long after."""
    from distributed.comm import connect
    from distributed.security import Security

    comm = await connect(address, timeout=CONNECT_SECONDS, **Security().get_connection_args("client"))
    await comm.close()


@contextmanager
def cluster_workers(client: Client) -> Iterator[Executor]:
    """The workers of a cluster. A run whose worker dies is given to another, which goes on from the checkpoint."""
    with client:
        yield client.get_executor(pure=False)  # not pure: it is the folder, not Dask, that knows what was done


# ---------------------------------------------------------------- the table at the end


def rows(members: Sequence[Member]) -> list[dict[str, Any]]:
    """What each finished run came to, the best validation accuracy first."""
    table = []
    for member in members:
        if not member.finished():
            continue
        records = member.records()
        best = max((record for record in records if record["best"]), key=lambda record: record["epoch"])
        table.append(
            {
                "settings": member.chosen,
                "val_accuracy": best["val_accuracy"],
                "val_loss": best["val_loss"],
                "train_accuracy": best["train_accuracy"],
                "best_epoch": best["epoch"],
                "epochs": len(records),
                "seconds": sum(record["seconds"] for record in records),
                "outcome": ending(member.config, records),
                "doctor": [finding.name for finding in diagnose(records, member.config)],
                "folder": str(member.path),
            }
        )
    return sorted(table, key=rank)


def rank(measured: Mapping[str, Any]) -> tuple[float, float]:
    """Sorts by validation accuracy, the best first, then by loss; regressions, which have none, behind."""
    loss = measured["val_loss"]
    return -(measured["val_accuracy"] or 0.0), math.inf if loss is None else loss


def _share(value: float | None) -> str:
    """An accuracy; a regression has none."""
    return "-" if value is None else f"{value:.2%}"


def as_text(table: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows, at least one, as lines of a table for the terminal, its head first.

    The last column has how a run ended, unless it was trained as planned, and the first thing that the doctor says.
    """
    head = [*table[0]["settings"], "best val", "val loss", "train", "epoch", "time", " doctor"]
    lines = [
        [
            *map(_word, row["settings"].values()),
            _share(row["val_accuracy"]),
            "nan" if row["val_loss"] is None else f"{row['val_loss']:.4f}",
            _share(row["train_accuracy"]),
            f"{row['best_epoch']}/{row['epochs']}",
            f"{row['seconds']:.1f} s",
            " " + ": ".join(([] if row["outcome"] == "trained" else [row["outcome"]]) + row["doctor"][:1]),
        ]
        for row in table
    ]
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return [
        "  ".join([*(cell.rjust(n) for cell, n in zip(line[:-1], widths[:-1], strict=True)), line[-1]])
        for line in [head, *lines]
    ]
