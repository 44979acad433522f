"""Choose which of a log's numbers are its losses, scores and counters, and line them up as the columns of one run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from types import MappingProxyType

import numpy as np

from lab.failures.curve.log import COUNTER, COUNTERS, MAX_CELLS, MAX_COLUMNS, UNNAMED, VALUES, LogError, LogRecords
from lab.failures.curve.roles import is_phase, kinds, phase, role, split
from lab.text import counted

ROLES = {
    "epoch": "epoch",
    "step": "step",
    "train_loss": "training loss",
    "val_loss": "validation loss",
    "train_accuracy": "training accuracy",
    "val_accuracy": "validation accuracy",
    "lr": "learning rate",
    "grad_norm": "gradient norm",
    "run": "run",
}
PLAIN_WORDS = {"total", "avg", "average", "mean", "running", "sum", "all", "set", "overall"}  # of a loss as a whole
MAX_LISTED = 8  # names in a sentence
MIN_RUN = 2  # rows
MIN_UNNAMED = 3  # rows of numbers without any name
MIN_COUNTED = 4  # rows, from which a counter that stands in a single one counts none of them


@dataclass
class LogColumn:
    """A name's numbers, and the rows in which they stand."""

    name: str
    rows: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether it counts: integers that never fall."""
        return all(value.is_integer() for value in self.values) and self.falls == 0

    @property
    def falls(self) -> int:
        return sum(b < a for a, b in pairwise(self.values))


@dataclass(frozen=True)
class Table:
    """The columns of a run that were understood, each (rows,), with nan for a gap.

    A role is one of ROLES, "dead_units" or "update_ratio"; the last two and "grad_norm" may be followed by "/" and the
    name of a layer.

    names  role -> the column's name in the text
    bad    role -> which values are inf or nan (rows,); these are nan in the column, too
    notes  what was assumed, in sentences
    others names that have no role
    runs   how many runs the text holds; run: which one this is, from 0
    part   whether the loss is only one of several
    """

    columns: dict[str, np.ndarray]
    bad: dict[str, np.ndarray]
    names: dict[str, str]
    notes: list[str] = field(default_factory=list)
    others: tuple[str, ...] = ()
    runs: int = 1
    run: int = 0
    part: bool = False

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def losses(self) -> int:
        """How many losses there are, of training or else of validation."""
        kind = "train_loss" if "train_loss" in self.columns else "val_loss"
        return int((np.isfinite(self.columns[kind]) | self.bad[kind]).sum()) if kind in self.columns else 0

    def layers(self, kind: str) -> list[str]:
        """Return the layers that have a column of a kind, such as "grad_norm", in the order of the text."""
        return [role.removeprefix(f"{kind}/") for role in self.columns if role.startswith(f"{kind}/")]


def tables(log: LogRecords, chosen: Mapping[str, str | None] = MappingProxyType({})) -> list[Table]:
    """Return the table of each run in a log. chosen: role -> name of its column, or None, where the names do not
    decide. Raises LogError if there are no numbers with names."""
    columns: dict[str, LogColumn] = {}
    for at, row in enumerate(log.rows):
        for name, value in row.items():
            column = columns.setdefault(name, LogColumn(name))
            column.rows.append(at)
            column.values.append(value)
    wanted = {kind: name for kind, name in chosen.items() if name is None or name in columns}
    known = {kind: name for kind, name in _roles(columns, log).items() if name not in wanted.values()}
    names = {kind: name for kind, name in (known | wanted).items() if name is not None}
    named = [name for name in columns if not name.startswith((COUNTER[:-2], UNNAMED[:-2]))]
    if not named and (not names or len(log.rows) < MIN_UNNAMED):
        raise LogError("No number here has a name beside it: paste lines such as “epoch 1, loss 0.5”, or a table.")
    if len(names) > MAX_COLUMNS or len(names) * len(log.rows) > 4 * MAX_CELLS:
        raise LogError(f"It has {len(names):,} columns of {len(log.rows):,} rows, which is too many.")
    arrays, printed = {}, {}
    for kind, name in names.items():
        arrays[kind], printed[kind] = np.full(len(log.rows), math.nan), np.zeros(len(log.rows), bool)
        arrays[kind][columns[name].rows], printed[kind][columns[name].rows] = columns[name].values, True
    few = len(log.rows) < MIN_COUNTED
    others = tuple(name for name in columns if name not in names.values() and (few or len(columns[name].rows) > 1))
    notes = _notes(names, others, log)
    part = (
        "train_loss" in names and not _is_total(split(names["train_loss"])) and _has_parts(columns, names["train_loss"])
    )
    starts = _run_starts(arrays, log)
    found = []
    for run, (a, b) in enumerate(zip(starts, [*starts[1:], len(log.rows)], strict=True)):
        kept = {kind: array[a:b] for kind, array in arrays.items() if kind != "run" and printed[kind][a:b].any()}
        bad = {kind: _bad(array, printed[kind][a:b], names[kind] in log.loose) for kind, array in kept.items()}
        kept = {kind: _cleaned(kind, array) for kind, array in kept.items()}
        said = [*notes, *_bad_notes(kept, bad, names)]
        found.append(Table(kept, bad, names, said, others, len(starts), run, part))
    return found


def _cleaned(kind: str, values: np.ndarray) -> np.ndarray:
    """Return values with nan for inf, and a score in per cent as a share."""
    finite: np.ndarray = np.where(np.isfinite(values), values, math.nan)
    in_percent = kind.endswith("accuracy") and np.nanmax(finite, initial=0.0) > 1.5
    return finite / 100 if in_percent else finite


# ---------------------------------------------------------------- roles


def _roles(columns: Mapping[str, LogColumn], log: LogRecords) -> dict[str, str]:
    """Return role -> name of the column that has it."""
    candidates: dict[str, list[LogColumn]] = {}
    for name, column in columns.items():
        if (kind := role(name)) and (kind not in COUNTERS or len(column.values) > 1 or len(log.rows) < MIN_COUNTED):
            candidates.setdefault(kind, []).append(column)
    names = {kind: _best(kind, found, columns).name for kind, found in candidates.items()}
    phased = {
        f"{_phase_kind(name)}_loss": name
        for name, column in reversed(list(columns.items()))
        if is_phase(name) and not column.whole
    }
    names = phased | names
    if not names.keys() & {"train_loss", "val_loss"}:
        names |= _losses_without_a_name(columns, names, log)
    _let_parts_agree(names, candidates)
    if "val_accuracy" not in names and "train_accuracy" in names and _follows_validation(names["train_accuracy"], log):
        names["val_accuracy"] = names.pop("train_accuracy")
    counters = [
        name
        for name in (COUNTER.format(1), COUNTER.format(2))
        if name in columns and len(set(columns[name].values)) > 1
    ]
    if "epoch" not in names:
        words = [
            name
            for name, column in columns.items()
            if name not in names.values() and is_phase(name) and column.whole and len(set(column.values)) > 1
        ]
        counted = [counters.pop(0)] if len(counters) > 1 else words[:1]
        names |= dict.fromkeys(("epoch",), counted[0]) if counted else {}
    if "step" not in names and counters:
        names["step"] = counters[0]
    return names


def _follows_validation(name: str, log: LogRecords) -> bool:
    """Return whether a name says neither training nor validation, and the last loss that stands before it in a record
    is of validation."""
    record = max((row for row in log.rows if name in row), key=len)
    before = [role(other) for other in [*record][: [*record].index(name)]]
    losses = [kind for kind in before if kind in ("train_loss", "val_loss")]
    return not phase(split(name)) and losses[-1:] == ["val_loss"]


def _is_total(words: Iterable[str]) -> bool:
    """Return whether these words name a loss as a whole, and not a part of it."""
    return all(word in PLAIN_WORDS or kinds([word]) for word in words)


def _has_parts(columns: Mapping[str, LogColumn], name: str) -> bool:
    return sum(role(other) == role(name) for other in columns) > 1


def _best(kind: str, found: Sequence[LogColumn], columns: Mapping[str, LogColumn]) -> LogColumn:
    """Return the best of several columns for one role."""

    def rank(column: LogColumn) -> tuple[float, ...]:
        words = split(column.name)
        if kind in COUNTERS:
            return (len(set(column.values)) > 1, -column.falls, len(column.values))
        return (
            _is_total(words),
            len(set(column.values)) > 1,
            any("loss" in word or not word.isascii() for word in words) or not kind.endswith("loss"),
            "epoch" in words and len(column.values) > MIN_RUN,
            not any(word.endswith("5") for word in words),
            len(column.values),
            "test" not in words,
            "train" in words,
        )

    return max(found, key=rank)  # of equals the first


def _let_parts_agree(names: dict[str, str], candidates: Mapping[str, Sequence[LogColumn]]) -> None:
    """Take for validation the same part of the loss as for training."""
    if "train_loss" not in names or "val_loss" not in names:
        return
    part = _part(names["train_loss"])
    same = [column.name for column in candidates.get("val_loss", ()) if _part(column.name) == part]
    if same and _part(names["val_loss"]) != part:
        names["val_loss"] = same[0]


def _part(name: str) -> list[str]:
    return [word for word in split(name) if not kinds([word]) & {"train", "val", "epoch", "step"}]


def _losses_without_a_name(
    columns: Mapping[str, LogColumn], names: Mapping[str, str], log: LogRecords
) -> dict[str, str]:
    """Find losses that have no name, or that are the only numbers."""
    free = {
        name: column for name, column in columns.items() if role(name) is None and not name.startswith(COUNTER[:-2])
    }
    unnamed = [name for name in free if name.startswith(UNNAMED[:-2])]
    if unnamed:
        first = columns[unnamed[0]]
        counting = len(unnamed) > 1 and first.whole and all(a < b for a, b in pairwise(first.values))
        roles = ["epoch"] * counting + ["train_loss", "val_loss"]
        return dict(zip(roles, unnamed, strict=False))
    only = [name for name, column in free.items() if len(column.values) >= MIN_UNNAMED and not log.texts]
    usual = [name for name in free if name.lower() in VALUES] or (only if len(free) == 1 and not names else [])
    return {"train_loss": usual[0]} if usual else {}


def _phase_kind(name: str) -> str:
    return "val" if "val" in kinds(split(name)) else "train"


# ---------------------------------------------------------------- runs


def _run_starts(arrays: Mapping[str, np.ndarray], log: LogRecords) -> list[int]:
    """Return the rows at which runs begin: where the number of the run changes, the epochs or steps start again, or,
    without these, a new table or list begins."""
    rows = len(log.rows)
    loss = arrays.get("train_loss", arrays.get("val_loss", np.full(rows, math.nan)))
    if "run" in arrays:
        filled = forward_filled(arrays["run"])
        starts = [0, *(np.flatnonzero(np.diff(filled) != 0) + 1).tolist()]
    elif "epoch" in arrays:
        starts = _restarts(arrays["epoch"])
    elif "step" in arrays:
        starts = [at for at in _restarts(arrays["step"]) if at == 0 or _begins_anew(loss, at)]
    else:
        starts = [at for at in log.starts if at < rows]
    ends = [*starts[1:], rows]
    return [0, *(a for a, b in zip(starts[1:], ends[1:], strict=True) if np.isfinite(loss[a:b]).sum() >= MIN_RUN)]


def _restarts(counter: np.ndarray) -> list[int]:
    """Return 0 and each row at which a counter falls back to where it began."""
    starts, known = [0], np.flatnonzero(np.isfinite(counter))
    for before, at in pairwise(known):
        if counter[at] < counter[before] and counter[at] <= counter[known[0]]:
            starts.append(int(at))
    return starts


def _begins_anew(loss: np.ndarray, at: int) -> bool:
    """Return whether a loss goes back to where it began, rather than on from where it was."""
    before, after = loss[:at][np.isfinite(loss[:at])], loss[at:][np.isfinite(loss[at:])]
    return bool(len(before) and len(after) and abs(after[0] - before[0]) < abs(after[0] - before[-1]))


def forward_filled(values: np.ndarray) -> np.ndarray:
    """Fill each gap with the last value before it; those at the beginning with the first value. Count the rows if there
    is no value."""
    known = np.isfinite(values)
    if not known.any():
        return np.arange(1.0, len(values) + 1)
    filled = values[np.maximum.accumulate(np.where(known, np.arange(len(values)), 0))]
    return np.where(np.isfinite(filled), filled, values[known][0])


# ---------------------------------------------------------------- numbers that are none


def _bad(values: np.ndarray, printed: np.ndarray, loose: bool) -> np.ndarray:
    """Return which values (rows,) are inf or nan. Where a nan may be a blank, as in a table, those between numbers are,
    if there is more than one run of them; and those at the end, unless there are more than in any such run."""
    said_nan = printed & np.isnan(values)
    bad = np.isinf(values) | said_nan
    finite = np.flatnonzero(np.isfinite(values))
    if not loose or not finite.size:
        return bad
    gaps = [len([*run]) for is_nan, run in groupby(said_nan[: finite[-1]]) if is_nan]  # between numbers
    if len(gaps) < 2:
        return bad
    after = said_nan & (np.arange(len(values)) > finite[-1])
    return np.isinf(values) | (after & (after.sum() > max(gaps)))


def _notes(names: Mapping[str, str], others: Sequence[str], log: LogRecords) -> list[str]:
    notes = [
        f"{wrong} of the values of “{name}” are not numbers and count as gaps."
        for name, wrong in log.texts.items()
        if name in names.values() or role(name)
    ]
    if others:
        shown = ", ".join(f"“{name}”" for name in others[:MAX_LISTED])
        rest = len(others) - MAX_LISTED
        notes.append(f"Not used: {shown}{f' and {rest} more' if rest > 0 else ''}.")
    return notes


def _bad_notes(columns: Mapping[str, np.ndarray], bad: Mapping[str, np.ndarray], names: Mapping[str, str]) -> list[str]:
    """Say where numbers are inf or nan."""
    notes = []
    unit = next((kind for kind in ("step", "epoch") if kind in columns), "")
    place = forward_filled(columns[unit]) if unit else np.arange(1, len(next(iter(columns.values()), ())) + 1)
    for kind, where in bad.items():
        rows = np.flatnonzero(where)
        if rows.size:
            known = rows.size + int(np.isfinite(columns[kind]).sum())
            notes.append(
                f"“{names[kind]}” is NaN or infinite in {rows.size} of {counted(known, 'record')}, first in "
                f"{unit or 'record'} {place[rows[0]]:g}."
            )
    return notes
