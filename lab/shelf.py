"""Runs to come back to and to compare: those of the page, and those that the command line left in the runs folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from lab.runs import Record, Run, RunError, slim
from train import Config, ConfigError

MOST = 12  # of the page's runs: the oldest makes room
NEEDED = frozenset({"epoch", "train_loss", "val_loss", "train_accuracy", "val_accuracy"})  # to be drawn


@dataclass
class Kept:
    """A run on the shelf. Its records lack the histograms; `shared` runs belong to everybody and stay as they are."""

    name: str
    config: Config
    records: list[Record]
    shared: bool = False

    def to_jsonl(self) -> str:
        """The records as the command line writes them: one JSON object per line."""
        return "".join(json.dumps(record) + "\n" for record in self.records)


def put(shelf: list[Kept], config: Config, records: Sequence[Record]) -> list[Kept]:
    """The shelf with one run more. A run with the same settings is replaced, unless it went further than this one."""
    twin = next((kept for kept in shelf if kept.config == config), None)
    if not records or (twin and len(twin.records) >= len(records)):
        return shelf
    if twin:
        return [Kept(kept.name, config, slim(records)) if kept is twin else kept for kept in shelf]
    return [*shelf, Kept(unused(default_name(config), shelf), config, slim(records))][-MOST:]


def default_name(config: Config) -> str:
    layers = "-".join(map(str, config.hidden)) or "no hidden layer"
    return f"{config.data} {layers} {config.optimizer} {config.lr:g}"


def unused(name: str, shelf: Sequence[Kept]) -> str:
    """The name, with a number behind it when a run has it already."""
    taken = {kept.name for kept in shelf}
    candidates = (name if number == 1 else f"{name} ({number})" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in candidates if candidate not in taken)


def differences(config: Config, other: Config) -> str:
    """What the first run sets differently: "lr 0.1 instead of 0.01, seed 3 instead of 0"."""
    parts = []
    for field in fields(Config):
        mine, others = (_said(getattr(c, field.name)) for c in (config, other))
        if mine != others:
            parts.append(f"{field.name.replace('_', ' ')} {mine} instead of {others}")
    return ", ".join(parts) or "the same settings"


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return "-".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def from_folder(folder: Path) -> tuple[list[Kept], list[str]]:
    """The runs in the sub-folders of `folder`, by name, and one sentence for each that cannot be read."""
    found, complaints = [], []
    if not folder.is_dir():
        return found, complaints
    for path in sorted(folder.iterdir()):
        if not (path / "config.json").is_file() or path.name.startswith("."):
            continue
        try:
            run = Run(path)
            config, records = Config.from_json(run.config()), run.records()
            if not all(isinstance(record, dict) and record.keys() >= NEEDED for record in records):
                raise RunError("its metrics.jsonl lacks what a chart needs.")
            found.append(Kept(f"{folder.name}/{path.name}", config, slim(records), shared=True))
        except (RunError, ConfigError, TypeError, AttributeError) as error:
            complaints.append(f"The run {path.name!r} is left out: {error}")
    return found, complaints
