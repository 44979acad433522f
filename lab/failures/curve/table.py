"""Read a training curve from text: CSV in its many forms, or lines of JSON.

A column's name says what it is. Columns with unknown names are left out, with a note.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from lab.text import counted

MAX_BYTES = 1_500_000
MAX_COLUMNS = 400
MAX_ROWS = 100_000
MAX_CELLS = 500_000  # of the rows and columns together
MAX_NAME = 200  # characters of a column's name
MAX_NUMBER = 100  # characters of a number
OVERFLOW_LIMIT = 1e100  # larger numbers count as inf: no training survives them
MIN_ROWS = 3
MAX_UNREADABLE = 0.2  # share of cells without a number, from which a column is not used
LESS = "export fewer rows or columns, such as one row for each epoch."
EXPORT = "Export the run as CSV, with a column of losses."

VALIDATION = {"val", "valid", "validation", "eval", "evaluation", "test", "dev"}
LOSS = {
    *("loss", "losses", "cost", "nll", "mse", "bce", "objective", "perplexity", "entropy", "crossentropy"),
    *("verlust", "fehler", "perte", "pérdida", "perdida", "perdita", "perda", "потери", "损失", "損失"),
}
SCORE = {"acc", "accuracy", "accuracies", "top1", "genauigkeit", "exactitude", "exactitud", "accuratezza", "точность"}
EPOCH, STEP = (
    {"epoch", "epochs", "epoche", "époque", "época", "epoca", "эпоха"},
    {
        *("step", "steps", "iteration", "iterations", "iter", "iters", "batch", "global", "trainer"),
    },
)
GRADIENT = {"grad", "grads", "gradient", "gradients", "gradnorm"}
GAPS = {"", "-", "–", "none", "null", "n/a", "na", "#n/a", "?"}
ENDS = {"nan": math.nan, "inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf}
ENDS |= {"+inf": math.inf, "∞": math.inf, "-nan": math.nan, "1.#inf": math.inf, "1.#qnan": math.nan}
PLAIN = re.compile(r"-?\d{1,20}(\.\d{1,20})?(e[-+]?\d{1,3})?", re.ASCII)
IGNORED = re.compile(r"__(min|max)$|wall.?time|timestamp|^time$|relative|runtime|seconds|^date$", re.IGNORECASE)


class CurveError(ValueError):
    """A text that is not a curve. The message says in one or two sentences what is wrong and what to do."""


@dataclass(frozen=True)
class Table:
    """The columns that were understood, each (rows,), with nan for a gap.

    A role is "epoch", "step", "train_loss", "val_loss", "train_accuracy", "val_accuracy", "lr", "grad_norm",
    "dead_units" or "update_ratio". Each of the last three may be followed by "/" and the name of a layer.

    names  role -> the column's name in the text
    bad    role -> which values are inf or nan (rows,); these are nan in the column, too
    notes  what was assumed, in sentences
    """

    columns: dict[str, np.ndarray]
    bad: dict[str, np.ndarray]
    names: dict[str, str]
    notes: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))

    def layers(self, kind: str) -> list[str]:
        """Return the layers that have a column of a kind, such as "grad_norm", in the order of the text."""
        return [role.removeprefix(f"{kind}/") for role in self.columns if role.startswith(f"{kind}/")]


def read(source: str | bytes) -> Table:
    """Read a curve from CSV or JSON. Raises CurveError."""
    text = _text(source)
    stripped = text.strip()
    if not stripped:
        raise CurveError(f"There is nothing to read yet. {EXPORT}")
    header, rows = _from_json(stripped) if stripped[0] in "{[" else _from_csv(stripped)
    header = [name[:MAX_NAME] for name in header]
    if len(rows) < MIN_ROWS:
        raise CurveError(
            f"That is {counted(len(rows), 'row')} of numbers, too few for a curve: give at least {MIN_ROWS}."
        )
    return _table(header, rows)


def _text(source: str | bytes) -> str:
    size = len(source) if isinstance(source, bytes) else len(source.encode("utf-8", "replace"))
    if size > MAX_BYTES:
        raise CurveError(f"That is {size / 1e6:.1f} MB, and the limit is {MAX_BYTES / 1e6:g} MB: {LESS}")
    text = source if isinstance(source, str) else _decoded(source)
    if re.search(r"[\x00-\x08\x0e-\x1f]", text):
        raise CurveError(f"That is a binary file, not text. {EXPORT}")
    _check_size(1, len(text.splitlines()))
    return text.removeprefix("\ufeff")


def _decoded(source: bytes) -> str:
    if source[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return source.decode("utf-16", "replace")
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError:
        return source.decode("latin-1")


# ---------------------------------------------------------------- rows


def _from_json(text: str) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of JSON: lines such as a metrics.jsonl, or one list of objects."""
    try:
        found = json.loads(text) if text[0] == "[" else [json.loads(line) for line in text.splitlines() if line.strip()]
        flat = [dict(_flatten(row)) for row in found]
    except (ValueError, RecursionError, AttributeError, TypeError):
        raise CurveError(f"That looks like JSON, but not like a list of rows. {EXPORT}") from None
    header = list(dict.fromkeys(name for row in flat for name in row))[:MAX_COLUMNS]
    _check_size(len(header), len(flat))
    return header, [[row.get(name, "") for name in header] for row in flat]


def _flatten(row: dict[str, Any], before: str = "") -> Iterable[tuple[str, str]]:
    """Yield the numbers of a row of JSON, those of nested objects with names such as "train/loss"."""
    ended = not before and row.get("diverged") is True  # in this lab's records null is then inf or nan
    for name, value in row.items():
        if isinstance(value, dict) and "counts" not in value and not before.count("/"):
            yield from _flatten(value, f"{before}{name}/")
        elif value is None:
            yield f"{before}{name}", "nan" if ended else ""
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield f"{before}{name}", repr(value)


def _from_csv(text: str) -> tuple[list[str], list[list[str]]]:
    """Return the header, made up if there is none, and the rows, each as long as the header."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise CurveError(f"The text holds only comments. {EXPORT}")
    delimiter = _delimiter(lines[:50])
    try:
        rows = (
            [line.split() for line in lines]
            if delimiter is None
            else [
                [cell.strip() for cell in row] for row in csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter)
            ]
        )
    except csv.Error:
        raise CurveError(f"Its rows cannot be told apart. {EXPORT}") from None
    if delimiter == "," and _are_decimals(rows):
        rows = [[",".join(row)] for row in rows]
    named = not all(_number(cell) is not None or cell.lower() in GAPS for cell in rows[0][: MAX_COLUMNS + 1])
    width = len(rows[0]) if named else max(map(len, rows))
    _check_size(width, len(rows))
    if not named:
        return _unnamed(rows), rows
    return rows[0], [(row + [""] * width)[:width] for row in rows[1:]]


def _check_size(columns: int, rows: int) -> None:
    """Raise CurveError for more than is read."""
    if columns > MAX_COLUMNS:
        raise CurveError(f"It has {columns:,} columns, and the limit is {MAX_COLUMNS}: export fewer.")
    if rows > MAX_ROWS:
        raise CurveError(f"It has {rows:,} rows, and the limit is {MAX_ROWS:,}: {LESS}")
    if columns * rows > MAX_CELLS:
        raise CurveError(
            f"It has {rows:,} rows of {counted(columns, 'column')}, and the limit is {MAX_CELLS:,} cells: {LESS}"
        )


def _delimiter(lines: Sequence[str]) -> str | None:
    """Return the character that splits most lines into the same number of cells, at least two.
    None: white space, or a single column."""
    for delimiter in "\t;,":
        counts = [line.count(delimiter) for line in lines]
        common = max(set(counts), key=counts.count)
        if common and counts.count(common) >= 0.7 * len(counts):
            return delimiter
    spaced = [len(line.split()) for line in lines]
    numbers = sum(all(_number(cell) is not None for cell in line.split()) for line in lines)
    return None if spaced[-1] > 1 and len(set(spaced)) <= 2 and numbers >= len(lines) - 1 else ","


def _are_decimals(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether "0,693" is one number: all rows are two integers, and the first one does not count up."""
    body = [row for row in rows if all(re.fullmatch(r"-?\d{1,100}", cell) for cell in row)]
    if len(body) < len(rows) - 1 or not body or any(len(row) != 2 for row in body):
        return False
    return not all(int(a[0]) < int(b[0]) for a, b in pairwise(body))


def _unnamed(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return names for columns without a header: an epoch if the first one counts up, then losses."""
    width = max(map(len, rows))
    first = [_number(row[0]) for row in rows]
    counts = width > 1 and all(a is not None and b is not None and b > a and a == int(a) for a, b in pairwise(first))
    names = (["epoch"] if counts else []) + ["train_loss", "val_loss"]
    return (names + [f"column {number}" for number in range(len(names) + 1, width + 1)])[:width]


def _number(cell: str) -> float | None:
    """Return the number in a cell, in any common notation, nan and inf included; None for anything else."""
    if PLAIN.fullmatch(cell):  # most cells
        return float(cell)
    if len(cell) > MAX_NUMBER:
        return None
    text = cell.strip().strip("\"'").lower().replace("−", "-").replace("\u00a0", "").replace("\u202f", "")
    text = text.removeprefix("tensor(").split(", ")[0].rstrip(")") if text.startswith("tensor(") else text
    if text in ENDS:
        return ENDS[text]
    if re.fullmatch(r"[-+]?\d+(,\d+)(e[-+]?\d+)?", text):
        text = text.replace(",", ".")
    share, text = (0.01, text[:-1].rstrip()) if text.endswith("%") else (1.0, text)
    if not re.fullmatch(r"[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?", text):
        return None
    return share * float(text)


# ---------------------------------------------------------------- columns


def role(name: str) -> str | None:
    """Return what a column is, by its name (see `Table`); None for an unknown name."""
    if IGNORED.search(name):
        return None
    short_name = re.sub(r"^.* - ", "", name.strip())  # wandb: "name of the run - train/loss"
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", short_name)
    words = [word for word in re.split(r"[\s/_\-:()\[\]|]+", spaced.lower()) if word]
    bag = set(words)
    joined = " ".join(words)
    for kind in ("dead units", "update ratio"):
        if joined.startswith(kind):
            layer = joined.removeprefix(kind).strip()
            return kind.replace(" ", "_") + (f"/{layer}" if layer else "")
    if bag & GRADIENT and not bag & LOSS:
        cleaned = re.sub(
            r"(?i)grad(ient)?s?|norms?|total|global|l2|2\.0|\b(param(eter)?s?|train(ing)?)\b", " ", short_name
        )
        layer = cleaned.strip(string.whitespace + "/_-.:|")
        return f"grad_norm/{layer}" if layer else "grad_norm"
    held_out = bool(bag & VALIDATION)
    if bag & SCORE or {"top", "1"} <= bag:
        return "val_accuracy" if held_out else "train_accuracy"
    if bag & LOSS or any(word.endswith(("loss", "verlust")) for word in words):
        return "val_loss" if held_out or any(word.startswith("val") for word in words) else "train_loss"
    if "lr" in bag or "learning rate" in joined or any(word.startswith("lr") for word in words):
        return "lr"
    if bag & EPOCH:
        return "epoch"
    if bag & STEP:
        return "step"
    return None


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    columns: dict[str, np.ndarray] = {}
    bad: dict[str, np.ndarray] = {}
    names: dict[str, str] = {}
    notes: list[str] = []
    left_out: list[str] = []
    unreadable: list[str] = []
    for at, name in enumerate(header):
        kind = role(name)
        if kind is None and not IGNORED.search(name):
            left_out.append(name)
        if kind is None:
            continue
        cells = [row[at] if at < len(row) else "" for row in rows]
        values = _values(cells)
        if values.wrong > MAX_UNREADABLE * len(cells):
            unreadable.append(name)
            continue
        if not np.isfinite(values.numbers).any() and not values.bad.any():
            continue
        if values.wrong:
            notes.append(f"{values.wrong} of the values of “{name}” are not numbers and count as gaps.")
        if kind in columns and not _better(name, names[kind]):
            left_out.append(name)
            continue
        columns[kind], bad[kind] = values.numbers, values.bad
        names[kind] = name
    _one_for_all(columns, bad, names, header, rows, notes, left_out)
    if not {"train_loss", "val_loss"} & columns.keys():
        seen = ", ".join(f"“{name}”" for name in header[:6])
        problem = (
            f"the column “{unreadable[0]}” holds no numbers" if unreadable else f"no column is called a loss ({seen})"
        )
        raise CurveError(f"This is not a curve that can be read: {problem}. {EXPORT}")
    if "train_loss" not in columns:
        notes.append("There is no training loss: the validation loss is used for both.")
        columns["train_loss"], bad["train_loss"] = columns["val_loss"], bad["val_loss"]
        names["train_loss"] = names["val_loss"]
        del columns["val_loss"], bad["val_loss"], names["val_loss"]
    for name in ("train_accuracy", "val_accuracy"):
        if name in columns and np.nanmax(columns[name], initial=0.0) > 1.5:  # in per cent
            columns[name] = columns[name] / 100
    if left_out:
        shown = ", ".join(f"“{name}”" for name in left_out[:4])
        notes.append(f"Not used: {shown}{' and others' if len(left_out) > 4 else ''}.")
    return Table(columns, bad, names, notes)


def _one_for_all(
    columns: dict[str, np.ndarray],
    bad: dict[str, np.ndarray],
    names: dict[str, str],
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: list[str],
    left_out: list[str],
) -> None:
    """Take a single column without a telling name, such as TensorBoard's "Value", for the training loss."""
    if {"train_loss", "val_loss"} & columns.keys():
        return
    known = {"value", "y", "values"}
    others = [at for at, name in enumerate(header) if role(name) is None and not IGNORED.search(name)]
    chosen = [at for at in others if header[at].strip().lower() in known] or (others if len(others) == 1 else [])
    if len(chosen) != 1:
        return
    name = header[chosen[0]]
    values = _values([row[chosen[0]] if chosen[0] < len(row) else "" for row in rows])
    if values.wrong > MAX_UNREADABLE * len(rows) or not np.isfinite(values.numbers).any():
        return
    columns["train_loss"], bad["train_loss"] = values.numbers, values.bad
    names["train_loss"] = name
    left_out.remove(name)
    notes.append(f"“{name}” is used as the training loss.")


@dataclass(frozen=True)
class _Values:
    """A column's numbers (rows,), nan where there is none; bad (rows,): inf or nan; wrong: cells of any other text."""

    numbers: np.ndarray
    bad: np.ndarray
    wrong: int


def _values(cells: Sequence[str]) -> _Values:
    """Parse the cells of a column. An inf always counts; a nan counts only if no number follows it.
    A nan between numbers is a gap: some programs write blanks that way. So nans at the end count only if there are more
    of them than in any such gap."""
    gap = [cell.strip().lower() in GAPS for cell in cells]
    values = [None if blank else _number(cell) for blank, cell in zip(gap, cells, strict=True)]
    wrong = sum(value is None and not blank for value, blank in zip(values, gap, strict=True))
    numbers = np.array([math.nan if value is None else value for value in values])
    numbers = np.where(np.abs(numbers) > OVERFLOW_LIMIT, math.inf, numbers)
    said_nan = np.array([value is not None and math.isnan(value) for value in values])
    finite = np.flatnonzero(np.isfinite(numbers))
    last = int(finite[-1]) if finite.size else -1
    longest = run = 0  # runs of nan between numbers
    for at in range(last):
        run = run + 1 if said_nan[at] else 0
        longest = max(longest, run)
    after = np.arange(len(numbers)) > last
    bad = np.isinf(numbers) | (said_nan & after & ((said_nan & after).sum() > longest))
    return _Values(np.where(np.isfinite(numbers), numbers, math.nan), bad, wrong)


def _better(name: str, than: str) -> bool:
    """Tell whether the first of two columns for the same role is the better one: that of whole epochs."""
    return "epoch" in name.lower() and "epoch" not in than.lower()
