"""What the command line says of a run: a line per epoch, a progress bar, the doctor's verdict at the end."""

from __future__ import annotations

import json
import shlex
import sys
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

from lab.text import percent_text
from lab.text.encoding import ENCODINGS
from lab.text.numbers import is_number
from lab.training import data_card
from lab.training.base_trainer import BaseTrainer
from lab.training.config import Config, describe, epochs_text
from lab.training.datasets import Dataset
from lab.training.doctor import diagnose
from lab.training.records import Record, is_regression, r_squared, score
from lab.training.run_folder import RunFolder

if TYPE_CHECKING:
    from lab.training.tensorboard import EventWriter  # an optional extra


class TerminalLog:
    """Prints to stdout; with as_json, records to stdout and sentences to stderr. quiet: print the result only."""

    def __init__(
        self,
        run: RunFolder,
        trainer: BaseTrainer,
        quiet: bool = False,
        as_json: bool = False,
        verbose: bool = False,
        events: EventWriter | None = None,
    ) -> None:
        self._config, self._quiet, self._as_json, self._verbose = trainer.config, quiet, as_json, verbose
        self._sentences: IO[str] = sys.stderr if as_json else sys.stdout
        if not quiet:
            print("\n".join(introduction(trainer, run)), file=self._sentences, flush=True)
        self._run, self._events = run, events
        total, begun = (epochs * trainer.steps_per_epoch for epochs in (trainer.config.epochs, trainer.epoch))
        self._bar = progress_bar(total, begun, "batch", show=not (quiet or as_json))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.close()
        if self._events:
            self._events.close()
        if not self._quiet and not isinstance(error, Exception) and (records := self._run.records()):
            verdict = diagnose(records, self._config)[0]
            if not verdict.well:
                print(f"warning: {verdict}", file=sys.stderr, flush=True)

    def batch(self) -> None:
        """Note that a batch was trained on."""
        self._bar.update()

    def epoch(self, record: Record) -> None:
        """Print the record of an epoch."""
        if self._events:
            self._events.write(record)
        with self._bar.external_write_mode():
            if self._as_json:
                print(json.dumps(record), flush=True)
            elif not self._quiet:
                print(line(record, self._config, self._verbose), flush=True)

    def end(self, result: str, *more: str) -> None:
        """Print the result of the run, and more about it unless it is to be quiet."""
        self._bar.close()
        if not (self._as_json and self._quiet):
            print("\n".join([result] if self._quiet else [result, *more]), file=self._sentences, flush=True)


def progress_bar(total: int, initial: int, unit: str, show: bool) -> Any:
    """Make a progress bar on stderr, which shows on a terminal only."""
    from tqdm import tqdm

    disable = None if show else True  # None: disabled unless stderr is a terminal
    return tqdm(total=total, initial=initial, unit=unit, leave=False, file=sys.stderr, disable=disable)


def _to_change(data: Dataset) -> list[str]:
    """Return a line with the options that change what was decided about a table's columns, ready to be copied."""
    options = ["--task regression"] if data.classes and all(map(is_number, data.classes)) else []
    options += ["--encoding NAME"] if data.encoding in ENCODINGS else []
    for option, used in (("--drop", True), ("--keep", False)):
        options += [f"{option} {shlex.quote(name)}" for name, is_used in data.choices if is_used == used][:1]
    return [f"to change what was decided: {' '.join(['--target COLUMN', *options])}"] if data.choices else []


def introduction(trainer: BaseTrainer, run: RunFolder) -> list[str]:
    """Return lines about the data, the network and the folder of a run."""
    config = trainer.config
    continued = f", continued after epoch {trainer.epoch}" if trainer.epoch else ""
    return [
        *trainer.dataset.notes,
        *_to_change(trainer.dataset),
        *data_card.remarks(trainer.dataset),
        f"network: {describe(trainer.sizes, trainer.config)}, {config.init} init, batches of {config.batch_size}, "
        f"{trainer.weights().size:,} weights in float32, seed {config.seed}",
        f"run: {run.path}{continued}",
    ]


def line(record: Record, config: Config, verbose: bool = False) -> str:
    """Return the line of an epoch; verbose: with the gradient norm of each layer."""
    regression = is_regression(record)
    parts = ("train", "val") if config.val_fraction else ("train",)
    losses: dict[str, float | None] = {"train": record["train_loss"], "val": record["val_loss"]}
    shown = [f"{part}_loss {_rounded(losses[part], '{:#.4g}')}" for part in parts]
    for part in parts:
        value = score(record, part)  # type: ignore[arg-type]
        shown.append(f"{part}_r2 {value:.3f}" if regression else f"{part}_accuracy {percent_text(value, 1)}")
    if verbose:
        shown.append("grad_norm " + " ".join(_rounded(norm, "{:.2g}") for norm in record["grad_norm"].values()))
    count = f"{record['epoch']:>{len(str(config.epochs))}}/{config.epochs}"
    return "  ".join([f"epoch {count}", *shown, f"{record['seconds']:.2f} s"])


def _rounded(value: float | None, form: str) -> str:
    return "nan" if value is None else form.format(value)


def conclusion(trainer: BaseTrainer) -> str:
    """Return how the run ended: its best score, or that it diverged."""
    if trainer.dataset.classes:
        scored = f"accuracy {percent_text(trainer.best_accuracy, 2)}"
    else:
        scored = f"R² {r_squared(trainer.best_loss, trainer.origin['baseline_val_loss']):.4f}"
    part = "validation " if trainer.config.val_fraction else ""
    best = f"best {part}{scored} in epoch {trainer.best_epoch} of {trainer.epoch}"
    if trainer.stopped_early:
        return f"Stopped early, after {epochs_text(trainer.epoch - trainer.best_epoch)} without a better one; {best}"
    if not trainer.diverged:
        return best
    remedy = "a smaller --lr" if trainer.config.clip else "a smaller --lr, or --clip 1"
    return (
        f"The training diverged in epoch {trainer.epoch}: the loss is no longer a number. "
        f"Start again with {remedy} (--lr was {trainer.config.lr:g}). {best[0].upper()}{best[1:]}"
    )
