"""A sweep: one run for each combination of settings, each in its own folder, on several processes or a cluster.

All state is in the folders. Progress is read from them, an interrupted run continues from its checkpoint, and a
finished one is not trained again: starting the same sweep a second time continues it.
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
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lab.config import ONE_THREAD
from lab.text import with_minus
from lab.training.config import Config, ConfigError, sizes_text
from lab.training.datasets import DATA_SETTINGS, load_dataset
from lab.training.doctor import diagnose
from lab.training.memory import keep_freed_memory
from lab.training.records import Record, ending, is_regression, score
from lab.training.run_folder import RunError, RunFolder, is_run, lock_run, write_atomic
from train import Trainer, train

if TYPE_CHECKING:
    from distributed import Client  # an optional extra

POLL_SECONDS = 0.2
CONNECT_SECONDS = 10
STOP = ".stop"  # while this file is in a sweep's folder, its runs stop after their present epoch


@dataclass(frozen=True)
class Member:
    """One run of a sweep; chosen: its values of the settings that the sweep varies."""

    chosen: dict[str, Any]
    config: Config
    path: Path

    def finished(self) -> bool:
        """Return True if nothing is left to do. The summary is written last."""
        records = RunFolder(self.path).records()
        return bool(records) and ending(self.config, records) != "" and (self.path / "summary.png").exists()


def plan(axes: Mapping[str, Sequence[Any]], given: Mapping[str, Any], out: Path) -> list[Member]:
    """Make a run for every combination of the values in `axes`, the last changing fastest; all share `given`.

    Raises ConfigError, and DataError for unusable data, before anything is trained or written.
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
        key = tuple(getattr(config, name) for name in ("data", *DATA_SETTINGS))
        if key not in datasets:
            datasets[key] = load_dataset(config)
        Trainer(config, datasets[key])  # refuses a network that is too large
    return members


def folder_name(chosen: Mapping[str, Any]) -> str:
    """Name the folder of a run with these settings: {"lr": 0.1, "hidden": (64, 32)} -> "lr=0.1,hidden=64-32"."""
    return ",".join(f"{name}={_cell(value)}" for name, value in chosen.items()).replace(os.sep, "-").replace(":", "-")


def _cell(value: Any) -> str:
    """Write a value as --sweep takes it, with all its digits, so that no two runs get the same folder."""
    return sizes_text(value) or "none" if isinstance(value, tuple) else str(value)


def make_folders(members: Sequence[Member]) -> None:
    """Make each run's folder unless it exists. Raises RunError when it holds a run with other settings."""
    for member in members:
        if not is_run(member.path):
            RunFolder.create(member.path, member.config)
        elif RunFolder(member.path).config() != member.config:
            raise RunError(f"{str(member.path)!r} holds a run with other settings: give the sweep another --out.")
        (member.path.parent / STOP).unlink(missing_ok=True)


def stop(members: Sequence[Member]) -> None:
    """Stop the runs that a cluster is training after their present epoch: Dask can cancel only runs not yet begun.

    `make_folders` lets them continue. Raises RunError.
    """
    for folder in {member.path.parent for member in members}:
        write_atomic(folder / STOP, b"")


def train_folder(path: str) -> None:
    """Train the run in a folder from its checkpoint to its end. Worker processes call this."""
    from lab.training.summary_picture import save_summary  # matplotlib takes half a second

    run = RunFolder(Path(path))
    with lock_run(run.path, wait=True):  # a cluster may still be busy with an earlier sweep
        config = run.config()
        trainer = Trainer.resume(run, config)
        for record in train(config, trainer):
            run.save(record, trainer.state() | trainer.dataset.preparation)
            if (run.path.parent / STOP).exists():
                return
        save_summary(run, trainer)


def train_all(members: Sequence[Member], executor: Executor, on_progress: Callable[[int], Any]) -> None:
    """Train all runs that are not finished; call `on_progress` with the number of epochs done in all runs together.

    Epochs that a run skipped by stopping early count as done.
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
    """Delay Ctrl-C until the end of the block. Processes started inside never receive it: the parent stops them."""
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
    """Start worker processes, one for each processor. An exception in the block kills them, which harms no run."""
    for name, count in ONE_THREAD.items():
        os.environ.setdefault(name, count)
    processes = max(1, min(os.cpu_count() or 1, runs))
    executor = ProcessPoolExecutor(processes, get_context("spawn"), initializer=keep_freed_memory)
    try:
        yield executor
    except BaseException:
        for process in active_children():
            process.kill()
        executor.shutdown(cancel_futures=True)  # waits for its thread, which could print an error as Python exits
        raise
    executor.shutdown()


def connect(address: str) -> Client:
    """Connect to a Dask cluster, whose workers must see the same folders and be able to import this project.

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
    """Raise OSError, ValueError or TypeError if no scheduler answers; a Client would fail only much later."""
    from distributed.comm import connect
    from distributed.security import Security

    comm = await connect(address, timeout=CONNECT_SECONDS, **Security().get_connection_args("client"))
    await comm.close()


@contextmanager
def cluster_workers(client: Client) -> Iterator[Executor]:
    """Yield a cluster's workers. If a worker dies, another one continues its run from the checkpoint."""
    with client:
        yield client.get_executor(pure=False)  # Dask must not reuse results: the folder says what was done


# ---------------------------------------------------------------- the table at the end


def rows(members: Sequence[Member]) -> list[dict[str, Any]]:
    """Return the results of each finished run, the best validation accuracy first."""
    table = []
    for member in members:
        if not member.finished():
            continue
        records = RunFolder(member.path).records()
        best = max((record for record in records if record["best"]), key=lambda record: record["epoch"])
        table.append(
            {
                "settings": member.chosen,
                "val_accuracy": best["val_accuracy"],
                "val_loss": best["val_loss"],
                "train_accuracy": best["train_accuracy"],
                "val_r_squared": _r_squared(best, "val"),
                "train_r_squared": _r_squared(best, "train"),
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
    """Return a sort key: validation accuracy, best first, then loss; regressions, which have no accuracy, come last."""
    loss = measured["val_loss"]
    return -(measured["val_accuracy"] or 0.0), math.inf if loss is None else loss


def _r_squared(record: Record, part: Literal["train", "val"]) -> float | None:
    """Return R²; None for classes, and for a loss that is not finite."""
    return value if is_regression(record) and math.isfinite(value := score(record, part)) else None


def _scored(row: Mapping[str, Any], part: str) -> str:
    """Format an accuracy as a percentage, or a regression's R²; "-" if there is neither."""
    if (accuracy := row[f"{part}_accuracy"]) is not None:
        return f"{accuracy:.2%}"
    return "-" if (value := row[f"{part}_r_squared"]) is None else with_minus(f"R² {value:.4f}")


def as_text(table: Sequence[Mapping[str, Any]]) -> list[str]:
    """Format the rows, at least one, as lines of a table for the terminal, its head first.

    The last column says how a run ended, unless it was trained as planned, and gives the doctor's first finding.
    """
    head = [*table[0]["settings"], "best val", "val loss", "train", "epoch", "time", " doctor"]
    lines = [
        [
            *map(_cell, row["settings"].values()),
            _scored(row, "val"),
            "nan" if row["val_loss"] is None else f"{row['val_loss']:.4f}",
            _scored(row, "train"),
            f"{row['best_epoch']}/{row['epochs']}",
            f"{row['seconds']:.1f} s",
            " " + ": ".join(([] if row["outcome"] == "trained" else [row["outcome"]]) + row["doctor"][:1]),
        ]
        for row in table
    ]
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    widths[-1] = 0
    return ["  ".join(cell.rjust(n) for cell, n in zip(line, widths, strict=True)) for line in [head, *lines]]
