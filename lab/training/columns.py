"""Read one column of a table: as numbers, as dates in days, or as texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.training.numbers_in_text import CLOCK, clock, marks_comma, marks_point, with_unit
from lab.training.samples import MAX_CELL, Cell

if TYPE_CHECKING:
    import pandas as pd

NEARLY_ALL = 0.9  # share of numbers, or of dates, in a column of them: the other cells are mistakes
COMMON = 0.1  # share of the rows in which a word for a missing cell is a class
MAX_QUOTED = 3  # cells that a sentence quotes
MISSING = frozenset(
    (
        "",
        "na",
        "n/a",
        "#n/a",
        "nan",
        "null",
        "none",
        "nil",
        "?",
        "-",
        "--",
        "—",
        ".",
        "missing",
        "n.a.",
        "k.a.",
        "#div/0!",
    )
)
DATES = (  # of two that read all dates of a column, the first
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y"),
    *("%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y"),
)
_LIKE_A_DATE = re.compile(r"\d{1,4}[-/. ](\d{1,2}|[A-Za-z]{3,9})[-/. ]\d{2,4}(?!\d)|[A-Z][a-z]{2,8} \d{1,2}, \d{4}")
_TIME = re.compile(r"[T ,]+(\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AaPp][Mm])?)(?: ?(?:Z|UTC|[-+]\d{2}:?\d{2}))?$")


@dataclass
class TableColumn:
    """A column as it was read: numbers, or texts by their codes.

    values: float64 (rows,), nan where a cell is missing; for texts, their index in `texts`. date: the format of dates.
    unusable: why it cannot be an input; "" if it can. doubt: why it should not be one. about: more to say of it then.
    remarks: pairs of a kind of decision and what to say of this column.
    """

    name: str
    values: np.ndarray
    texts: tuple[str, ...] = ()
    date: str | None = None
    unusable: str = ""
    doubt: str = ""
    about: str = ""
    remarks: list[tuple[str, str]] = field(default_factory=list)

    @property
    def usable(self) -> bool:
        return not (self.unusable or self.doubt)

    def cells(self) -> list[Cell]:
        """Return the network's inputs that are read from this column."""
        return [Cell(self.name, text) for text in self.texts] or [Cell(self.name, None, self.date)]

    def write_inputs(self, block: np.ndarray) -> None:
        """Write the values of these inputs into a block (inputs, rows); nan where a cell is missing."""
        if not self.texts:
            block[0] = self.values
            return
        gaps = np.isnan(self.values)
        for code, values in enumerate(block):
            np.equal(self.values, code, out=values)
            if gaps.any():
                values[gaps] = np.nan


@dataclass
class _Texts:
    """The different texts of a column: codes (rows,), -1 where a cell is empty; counts and missing (texts,)."""

    name: str
    codes: np.ndarray
    texts: list[str]
    counts: np.ndarray
    missing: np.ndarray

    @property
    def filled(self) -> list[str]:
        return [text for text, gone in zip(self.texts, self.missing.tolist(), strict=True) if not gone]

    def are(self, values: np.ndarray) -> bool:
        """Tell whether nearly all cells have a value; values: (texts,)."""
        filled = self.counts[~self.missing].sum()
        return bool(filled and self.counts[np.isfinite(values)].sum() >= NEARLY_ALL * filled)

    def column(self, values: np.ndarray, kind: str, **more: Any) -> TableColumn:
        """Make a column of the values of the texts, (texts,); kind: what texts without a value should have been."""
        column = TableColumn(self.name, np.append(values, np.nan)[self.codes], **more)
        wrong = [self.texts[at] for at in np.flatnonzero(np.isnan(values) & ~self.missing)]
        if wrong:
            column.remarks.append((f"no {kind}, read as missing", f"{quoted(wrong)} in {self.name!r}"))
        words = sorted({self.texts[at] for at in np.flatnonzero(self.missing)} - {""})
        if words:
            column.remarks.append(("read as missing", f"{quoted(words)} in {self.name!r}"))
        return column


def read(cells: pd.Series, name: str, comma: bool, as_target: bool = False) -> TableColumn:
    """Read a column; comma: whether numbers have decimal commas where the column cannot tell."""
    if cells.dtype.kind in "iuf":
        return _checked(TableColumn(name, cells.to_numpy(float)))
    import pandas as pd

    codes, different = pd.factorize(cells.astype(str) if cells.dtype.kind == "b" else cells)
    texts = [" ".join(text.split()) for text in different]
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    missing = np.array([text.lower() in MISSING for text in texts], bool)
    found = _Texts(name, codes, texts, counts, missing)
    column = _as_numbers(found, comma) or _as_dates(found)
    if column is None:
        if as_target:  # a class may be called NA
            found.missing = missing & (counts <= COMMON * counts.sum())
        column = _as_texts(found)
    return column


def _as_numbers(cells: _Texts, comma: bool) -> TableColumn | None:
    """Read texts as numbers of one unit; None if not nearly all are."""
    usual, comma = comma, has_comma(cells.texts, comma)
    found = [None if gone else with_unit(text, comma) for text, gone in zip(cells.texts, cells.missing, strict=True)]
    units = Counter[str]()
    for one, count in zip(found, cells.counts.tolist(), strict=True):
        if one and one[1]:
            units[one[1]] += count
    unit = units.most_common(1)[0][0] if units else ""
    values = np.array([one[0] if one and one[1] in ("", unit) else np.nan for one in found], float)
    if not cells.are(values):
        return None
    column = _checked(cells.column(values, "number"))
    if unit:
        kind, about = ("clock times read as hours", "") if unit == CLOCK else ("units left out", f"{unit!r} in ")
        column.remarks.append((kind, f"{about}{column.name!r}"))
    marked = next((text for text in cells.filled if "," in text), None)
    if marked and not (comma and usual):
        kind = "decimal commas" if comma else "thousands separators"
        column.remarks.append((kind, f"{marked!r} in {column.name!r}"))
    return column


def has_comma(texts: Sequence[str], usual: bool) -> bool:
    """Tell whether a column's numbers have decimal commas; usual: the answer if none of them tells."""
    sure = sum(map(marks_comma, texts)) - sum(map(marks_point, texts))
    return usual if sure == 0 else sure > 0


def _checked(column: TableColumn) -> TableColumn:
    """Turn numbers that are too large to be used into missing ones."""
    wild = np.abs(column.values) > MAX_CELL
    if wild.any():
        column.remarks.append(("too large, read as missing", f"{wild.sum():,} in {column.name!r}"))
        column.values = np.where(wild, np.nan, column.values)
    return column


def _as_dates(cells: _Texts) -> TableColumn | None:
    """Read texts as dates, in days; None if not nearly all are."""
    sample = cells.filled[:: max(1, len(cells.filled) // 50)]
    if not sample or sum(bool(_LIKE_A_DATE.match(text)) for text in sample) < NEARLY_ALL * len(sample):
        return None
    read = {form: days(cells.texts, form) for form in DATES if np.isfinite(days(sample, form)).mean() >= NEARLY_ALL}
    form = max(read, key=lambda one: cells.counts[np.isfinite(read[one])].sum(), default="")
    if not form or not cells.are(read[form]):
        return None
    column = cells.column(read[form], "date", date=form)
    column.remarks.append(("dates read as days", f"{cells.name!r}, {sample[0]!r} by {form}"))
    return column


def days(texts: Sequence[str], form: str) -> np.ndarray:
    """Return dates as days since 1970, with the time of day as a fraction; nan for texts of another form."""
    import pandas as pd

    times = [_TIME.search(text) for text in texts]
    dates = [text[: time.start()] if time else text for text, time in zip(texts, times, strict=True)]
    read = pd.to_datetime(pd.Series(dates, dtype=object), format=form, errors="coerce")
    whole: np.ndarray = ((read - pd.Timestamp(0)) / pd.Timedelta(days=1)).to_numpy(float, copy=True)
    whole += [(clock(time[1]) or 0) / 24 if time else 0 for time in times]
    return whole


def _as_texts(cells: _Texts) -> TableColumn:
    """Join the spellings of each text, and number the texts in order."""
    spellings: dict[str, Counter[str]] = {}
    for text, count, gone in zip(cells.texts, cells.counts.tolist(), cells.missing.tolist(), strict=True):
        if not gone:
            spellings.setdefault(text.casefold(), Counter())[text] += count
    usual = {key: found.most_common(1)[0][0] for key, found in spellings.items()}
    order = sorted(usual, key=lambda key: _as_class(usual[key]))
    place = {key: float(code) for code, key in enumerate(order)}
    values = np.array([place.get(text.casefold(), np.nan) for text in cells.texts])
    values[cells.missing] = np.nan
    column = cells.column(values, "text", texts=tuple(usual[key] for key in order))
    joined = [usual[key] for key, found in spellings.items() if len(found) > 1]
    if joined:
        column.remarks.append(("spellings joined", f"of {quoted(joined)} in {cells.name!r}"))
    return column


def _as_class(label: str) -> tuple[float, str]:
    """Return a sort key for class names: numbers by value, then all other texts, with "nan" and "inf" among them."""
    found = with_unit(label)
    return (found[0] if found and math.isfinite(found[0]) else math.inf), label


def quoted(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - MAX_QUOTED} more" if len(texts) > MAX_QUOTED else ""
    return ", ".join(repr(text[:40]) for text in texts[:MAX_QUOTED]) + more


def read_known(cells: pd.Series, inputs: Sequence[Cell], comma: bool) -> tuple[np.ndarray, np.ndarray, str]:
    """Read a column as it was read in training: return its inputs (inputs, rows), nan where a cell is missing.

    Also return which cells the network does not know, (rows,), and what it was trained on and answers for them.
    """
    texts = [" ".join(text.split()) for text in cells]
    missing = np.array([text.lower() in MISSING for text in texts], bool)
    known = {cell.text.casefold(): float(at) for at, cell in enumerate(inputs) if cell.text is not None}
    block = np.empty((len(inputs), len(texts)))
    if known:
        codes = np.array([known.get(text.casefold(), -1.0) for text in texts])
        column = TableColumn("", np.where(missing & (codes < 0), np.nan, codes), tuple(known))
        unknown, how = (
            codes < 0,
            f"on {', '.join(repr(cell.text) for cell in inputs)}; it answers as if none of these applied",
        )
    elif form := inputs[0].date:
        column = TableColumn("", days(texts, form))
        unknown, how = np.isnan(column.values), f"on dates by {form}; it answers as if the cell were empty"
    else:
        comma = has_comma(texts, comma)
        found = [None if gone else with_unit(text, comma) for text, gone in zip(texts, missing, strict=True)]
        column = _checked(TableColumn("", np.array([one[0] if one else np.nan for one in found], float)))
        unknown, how = np.isnan(column.values), "on numbers; it answers as if the cell were empty"
    column.write_inputs(block)
    return block, unknown & ~missing, how
