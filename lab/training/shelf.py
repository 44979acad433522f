"""The shelf of a visitor's earlier runs, to compare. It is kept as a text in their browser: `to_text`, `from_text`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from lab.training.config import Config, setting_text, sizes_text
from lab.training.live import Own, checked_own
from lab.training.records import Record, is_record, is_regression, score, slim

MAX_RUNS = 12  # a new one replaces the oldest
MAX_NAME_LENGTH = 60
MAX_TEXT = 4_000_000  # characters of a shelf that a browser keeps


@dataclass
class ShelvedRun:
    """A run on the shelf, whose records have no histograms. own: the visitor's own data that it was trained on."""

    name: str
    config: Config
    records: list[Record]
    own: Own = field(default_factory=dict)

    def to_jsonl(self) -> str:
        """Write the records as the command line does: one JSON object per line."""
        return "".join(json.dumps(record) + "\n" for record in self.records)


def put(shelf: list[ShelvedRun], config: Config, records: Sequence[Record], own: Own | None = None) -> list[ShelvedRun]:
    """Return the shelf with one more run; a run with the same settings and data is replaced if not longer."""
    own = own or {}
    earlier = next((kept for kept in shelf if (kept.config, kept.own) == (config, own)), None)
    if not records or (earlier and len(earlier.records) >= len(records)):
        return shelf
    if earlier:
        return [ShelvedRun(kept.name, config, slim(records), own=own) if kept is earlier else kept for kept in shelf]
    return [*shelf, ShelvedRun(unused(default_name(config, own), shelf), config, slim(records), own=own)][-MAX_RUNS:]


def default_name(config: Config, own: Own) -> str:
    layers = sizes_text(config.hidden) or "no hidden layer"
    return f"{own.get('name', config.data)[:MAX_NAME_LENGTH]} {layers} {config.optimizer} {config.lr:g}"


def unused(name: str, shelf: Sequence[ShelvedRun]) -> str:
    """Return the name, with a number appended if a run on the shelf already has it."""
    taken = {kept.name for kept in shelf}
    candidates = (name if number == 1 else f"{name} ({number})" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in candidates if candidate not in taken)


def differences(config: Config, other: Config, same_data: bool = True) -> str:
    """List how the first run's settings differ from the other's: "lr 0.1 instead of 0.01, seed 3 instead of 0".

    same_data: False if the visitor's own data differ, which settings do not show.
    """
    parts = [] if same_data else ["other data or target"]
    for setting in fields(Config):
        mine, others = (setting_text(getattr(c, setting.name)) for c in (config, other))
        if mine != others:
            parts.append(f"{setting.name.replace('_', ' ')} {mine} instead of {others}")
    return ", ".join(parts) or "the same settings"


def table(runs: Sequence[ShelvedRun]) -> dict[str, list[Any]]:
    """Make the columns of a table of runs: their names, their results, and each setting in which they differ."""
    regressions = bool(runs) and all(run.records and is_regression(run.records[0]) for run in runs)
    columns: dict[str, list[Any]] = {
        "run": [run.name for run in runs],
        "epochs": [len(run.records) for run in runs],
        f"best validation {'R²' if regressions else 'accuracy'}": [_best_score(run, regressions) for run in runs],
        "last validation loss": [
            run.records[-1]["val_loss"] if run.records and run.config.val_fraction else None for run in runs
        ],
    }
    for setting in fields(Config):
        values = [getattr(run.config, setting.name) for run in runs]
        if len(set(values)) > 1 and setting.name != "epochs":
            sortable = all(isinstance(value, (int, float)) for value in values)  # which sort as numbers
            columns[setting.name.replace("_", " ")] = values if sortable else [setting_text(value) for value in values]
    return columns


def _best_score(run: ShelvedRun, regression: bool) -> float | None:
    """Return the best validation score; None without epochs or a validation set, and for runs of the other kind."""
    if not run.config.val_fraction or not run.records or is_regression(run.records[0]) != regression:
        return None
    return max(filter(math.isfinite, (score(record, "val") for record in run.records)), default=None)


# ---------------------------------------------------------------- as a text, in the visitor's browser


def to_text(shelf: Sequence[ShelvedRun]) -> str:
    """Write the runs of the page as a text of at most MAX_TEXT characters: the oldest are left out if it is longer."""
    tables = list(dict.fromkeys(kept.own["table"] for kept in shelf if "table" in kept.own))  # each of them once
    runs = [
        {
            "name": kept.name,
            "config": kept.config.to_json(),
            "own": kept.own | ({"table": tables.index(kept.own["table"])} if "table" in kept.own else {}),
            "records": kept.records,
        }
        for kept in shelf
    ]
    text = json.dumps({"tables": tables, "runs": runs})
    return text if len(text) <= MAX_TEXT or not shelf else to_text(shelf[1:])


def from_text(text: str) -> list[ShelvedRun]:
    """Read the text that `to_text` writes. It comes from a browser, so it may be anything: raises ValueError."""
    if len(text) > MAX_TEXT:
        raise ValueError("The list of runs is too long.")
    try:
        known = json.loads(text)
        found: list[ShelvedRun] = []
        for one in known["runs"][-MAX_RUNS:]:
            config, own, records = Config.from_json(one["config"]), one["own"], one["records"]
            own = checked_own(own | {"table": known["tables"][own["table"]]} if "table" in own else own)
            layers = config.layer_names
            if not all(is_record(record, at, layers, histograms=False) for at, record in enumerate(records, start=1)):
                raise ValueError("A record of the list is damaged.")
            name = unused(one["name"].strip()[:MAX_NAME_LENGTH] or default_name(config, own), found)
            found.append(ShelvedRun(name, config, slim(records), own=own))
    except (KeyError, TypeError, IndexError, AttributeError, RecursionError):
        raise ValueError("The list of runs is damaged.") from None
    return found
