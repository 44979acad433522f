"""Choose which of a log's numbers are its losses, scores and counters, and line them up as the columns of one run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from lab.failures.curve.log import COUNTER, COUNTER_NAMES, UNNAMED, VALUES, LogError, LogRecords
from lab.failures.curve.roles import COUNTERS, is_phase, kinds, kinds_of, phase, role, split

MAX_CELLS = 600_000  # of the columns that are understood, gaps included
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
        return self.of_ints and self.falls == 0

    @property
    def of_ints(self) -> bool:
        return all(value.is_integer() for value in self.values if math.isfinite(value))

    @property
    def falls(self) -> int:
        return sum(b < a for a, b in pairwise(self.values))

    @property
    def varies(self) -> bool:
        return len(set(self.values)) > 1


@dataclass(frozen=True)
class Table:
    """The columns of a run that were understood, each (rows,), with nan for a gap.

    A role is one of ROLES; "grad_norm" may be followed by "/" and the name of a layer.

    names  role -> the column's name in the text
    bad    role -> which values are inf or nan (rows,); these are nan in the column, too
    notes  what was assumed, in sentences
    others names that have no role
    runs   how many runs the text holds; run: which one this is, from 0
    part   whether the loss is only one of several, a guess, or measured otherwise than that of validation
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
        return len(next(iter(self.columns.values()), ()))

    @property
    def losses(self) -> int:
        """How many losses there are, of training or else of validation."""
        kind = "train_loss" if "train_loss" in self.columns else "val_loss"
        return int((np.isfinite(self.columns[kind]) | self.bad[kind]).sum()) if kind in self.columns else 0


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
    if len(names) * len(log.rows) > MAX_CELLS:
        raise LogError(f"It has {len(names):,} columns of {len(log.rows):,} rows, which is too many.")
    arrays, printed = {}, {}
    for kind, name in names.items():
        arrays[kind], printed[kind] = np.full(len(log.rows), math.nan), np.zeros(len(log.rows), bool)
        arrays[kind][columns[name].rows], printed[kind][columns[name].rows] = columns[name].values, True
    used = {*names.values()}
    for name, column in columns.items():
        if name not in used and (kind := role(name) or "") in names and _completes(column, kind, arrays[kind], log):
            arrays[kind][column.rows], printed[kind][column.rows] = column.values, True
            used.add(name)
    few = len(log.rows) < MIN_COUNTED
    others = tuple(name for name, column in columns.items() if name not in used and (few or len(column.rows) > 1))
    notes = _notes(names, others, log)
    trained = names.get("train_loss", "")
    part = not _is_total(trained) and sum(role(name) == "train_loss" for name in columns) > 1
    part |= not _measures(names.get("val_loss", trained)) <= _measures(trained)
    starts = _run_starts(arrays, log)
    found = []
    for run, (a, b) in enumerate(zip(starts, [*starts[1:], len(log.rows)], strict=True)):
        kept = {kind: array[a:b] for kind, array in arrays.items() if kind != "run" and printed[kind][a:b].any()}
        bad = {kind: _bad(array, printed[kind][a:b], names[kind] in log.loose) for kind, array in kept.items()}
        if "val_loss" in bad and np.isfinite(kept["val_loss"]).any():  # a bar shows one before it was measured
            bad["val_loss"][: int(np.argmax(np.isfinite(kept["val_loss"])))] = False
        kept = {kind: _cleaned(kind, array) for kind, array in kept.items()}
        found.append(Table(kept, bad, names, notes, others, len(starts), run, part))
    return found


def _completes(column: LogColumn, kind: str, values: np.ndarray, log: LogRecords) -> bool:
    """Return whether a column has only what another one of its role lacks: inf or nan, as in "Loss is nan", or the
    numbers of the same counter, which do not fall between those of the other one."""
    if np.isfinite(values[column.rows]).any() or column.name in log.loose:
        return False
    if kind not in COUNTERS:
        return not np.isfinite(column.values).any()
    filled = values.copy()
    filled[column.rows] = column.values
    return _falls(filled) <= _falls(values)


def _falls(values: np.ndarray) -> int:
    return int((np.diff(values[np.isfinite(values)]) < 0).sum())


def _cleaned(kind: str, values: np.ndarray) -> np.ndarray:
    """Return values with nan for inf, and a score in per cent as a share."""
    finite: np.ndarray = np.where(np.isfinite(values), values, math.nan)
    in_percent = kind.endswith("accuracy") and np.nanmax(finite, initial=0.0) > 1.5
    return finite / 100 if in_percent else finite


# ---------------------------------------------------------------- roles


def _roles(columns: Mapping[str, LogColumn], log: LogRecords) -> dict[str, str]:
    """Return role -> name of the column that has it."""
    candidates: dict[str, list[LogColumn]] = {}
    few = max((len(column.values) for column in columns.values()), default=0) < MIN_COUNTED
    often = {name: column for name, column in columns.items() if few or len(column.values) > 1}
    for name, column in columns.items():
        if (kind := role(name)) and (kind == "lr" or name in often):
            candidates.setdefault(kind, []).append(column)
    candidates["step"] = [one for one in candidates.get("step", ()) if one.of_ints]  # others are shares of an epoch
    names = {kind: _best(kind, found).name for kind, found in candidates.items() if found}
    for name in (name for name, column in often.items() if is_phase(name) and not column.whole):
        names.setdefault("val_loss" if "val" in kinds(split(name)) else "train_loss", name)
    if not names.keys() & {"train_loss", "val_loss"}:
        names |= _unnamed_losses(columns, names, log)
    if "val_accuracy" not in names and "train_accuracy" in names and _follows_validation(names["train_accuracy"], log):
        names["val_accuracy"] = names.pop("train_accuracy")
    most = max((len(columns[name].values) for kind, name in names.items() if kind.endswith("loss")), default=0)
    seen = [columns[name] for name in COUNTER_NAMES if name in columns]
    counters = [one.name for one in seen if one.varies and 4 * len(one.values) >= most]
    if "epoch" not in names:
        free = [column for name, column in columns.items() if name not in names.values() and is_phase(name)]
        words = [column.name for column in free if column.whole and column.varies]
        if counted := [counters.pop(0)] if len(counters) > 1 else words[:1]:
            names["epoch"] = counted[0]
    if "step" not in names and counters:
        names["step"] = counters[0]
    return names


def _follows_validation(name: str, log: LogRecords) -> bool:
    """Return whether a name says neither training nor validation, and the last loss that stands before it in a record
    is of validation."""
    record = max((row for row in log.rows if name in row), key=len)
    before = [role(other) for other in [*record][: [*record].index(name)]]
    losses = [kind for kind in before if kind in ("train_loss", "val_loss")]
    return not phase(name) and losses[-1:] == ["val_loss"]


def _is_total(name: str) -> bool:
    """Return whether a name is that of a loss as a whole, and not of a part of it."""
    return all(map(kinds_of, split(name)))


def _best(kind: str, found: Sequence[LogColumn]) -> LogColumn:
    """Return the best of several columns for one role."""

    def rank(column: LogColumn) -> tuple[float, ...]:
        words = split(column.name)
        if kind in COUNTERS:
            return (column.varies, -column.falls, len(column.values))
        return (
            _is_total(column.name),
            column.varies,
            any("loss" in word or not word.isascii() for word in words) or not kind.endswith("loss"),
            len(column.values),
            "test" not in words,
        )

    return max(found, key=rank)  # of equals the first


def _measures(name: str) -> set[str]:
    return {word for word in split(name) if kinds_of(word) & {"measure", "distance"}}


def _unnamed_losses(columns: Mapping[str, LogColumn], names: Mapping[str, str], log: LogRecords) -> dict[str, str]:
    """Find losses that have no name, or that are the only numbers."""
    free = {name: column for name, column in columns.items() if not (role(name) or name.startswith(COUNTER[:-2]))}
    unnamed = [name for name in free if name.startswith(UNNAMED[:-2])]
    if unnamed:
        first = columns[unnamed[0]]
        counting = len(unnamed) > 1 and first.whole and all(a < b for a, b in pairwise(first.values))
        return dict(zip(["epoch"] * counting + ["train_loss", "val_loss"], unnamed, strict=False))
    only = [name for name, column in free.items() if len(column.values) >= MIN_UNNAMED and not log.texts]
    usual = [name for name in free if name.lower() in VALUES] or (only if len(free) == 1 and not names else [])
    return {"train_loss": usual[0]} if usual else {}


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
    starts = [a for a, b in zip(starts, ends, strict=True) if np.isfinite(loss[a:b]).sum() >= MIN_RUN]
    return starts or [0]


def _restarts(counter: np.ndarray) -> list[int]:
    """Return 0 and each row at which a counter falls back to where it began."""
    known = np.flatnonzero(np.isfinite(counter))
    falls = (int(at) for before, at in pairwise(known) if counter[at] < counter[before])
    return [0, *(at for at in falls if counter[at] <= counter[known[0]])]


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
    """Return which values (rows,) are inf or nan. Where a nan may be a blank, as in a table, only those at the end are,
    if there are more than in any gap before."""
    bad = np.isinf(values) | (printed & np.isnan(values))
    finite = np.flatnonzero(np.isfinite(values))
    if loose and finite.size:
        bad[: finite[-1]] &= np.isinf(values[: finite[-1]])
        bad &= np.isinf(values) | (len(values) - finite[-1] > np.diff(finite).max(initial=1))
    return bad


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
