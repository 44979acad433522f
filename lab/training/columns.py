"""Read one column of a table: as numbers, as dates in days, or as texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.text import read_rows
from lab.text.numbers import CLOCK, number
from lab.training.samples import MAX_CELL, Cell

if TYPE_CHECKING:
    import pandas as pd

NEARLY_ALL = 0.9  # share of numbers, or of dates, in a column of them: the other cells are mistakes
COMMON = 0.1  # share of the rows in which a word for a missing cell is a class
MAX_QUOTED = 3  # cells that a sentence quotes
SAMPLE = 200  # different texts that tell what a column holds
MANY = 1_000  # different texts: more are no categories, however they are spelled
_FILE = read_rows(Path(__file__).with_name("cells.toml"))
MISSING, DATES, TIMES = frozenset(_FILE["missing"]), _FILE["dates"], _FILE["times"]
_DATE = re.compile("|".join(_FILE["like_dates"]))
_ZONE = re.compile(r" (?:[A-Z]{3,4})?(?:[-+]\d\d?(?::?\d\d)?)?$")  # at the end of a time, as in GMT+2
CALENDAR = 1900_01_01, 2100_12_31  # from which number to which one it may be a date
_BETWEEN_WORDS = re.compile(r"(?<=[^\W\d_])[\s_-]+(?=[^\W\d_])")
NINES = re.compile(r"(-9+|9{3,})(\.9+)?")  # as in -999: what stands for a missing number


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

    def fill_marks(self) -> None:
        """Make empty cells a text of their own, if the others all hold the same mark."""
        if len(self.texts) == 1:
            self.values, self.texts = np.where(np.isnan(self.values), 0.0, 1.0), ("", *self.texts)
            self.remarks.append(("an empty cell counts as no", repr(self.name)))

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
    about: str = ""

    def are(self, values: np.ndarray) -> bool:
        """Return whether nearly all cells have a value; values: (texts,)."""
        filled = self.counts[~self.missing].sum()
        return bool(filled and self.counts[np.isfinite(values)].sum() >= NEARLY_ALL * filled)

    def column(self, values: np.ndarray, kind: str, **more: Any) -> TableColumn:
        """Make a column of the values of the texts, (texts,); kind: what texts without a value should have been."""
        column = TableColumn(self.name, np.append(values, np.nan)[self.codes], about=self.about, **more)
        wrong = np.isnan(values) & ~self.missing
        for gone, remark in ((wrong, f"no {kind}, read as missing"), (self.missing, "read as missing")):
            if words := sorted({self.texts[at] for at in np.flatnonzero(gone)} - {""}):
                column.remarks.append((remark, f"{quoted(words)} in {self.name!r}"))
        return column


def read(cells: pd.Series, name: str, comma: bool, as_target: bool = False, task: str | None = None) -> TableColumn:
    """Read a column; comma: whether numbers have decimal commas where the column cannot tell.

    The target of a regression may have several units.
    """
    if cells.dtype.kind in "iuf":
        return _as_calendar(name, cells) or _checked(TableColumn(name, cells.to_numpy(float)))
    import pandas as pd

    codes, different = pd.factorize(cells.map(str, na_action="ignore") if cells.dtype in (bool, object) else cells)
    texts = pd.Series(different, dtype=str).str.strip()
    counts = np.bincount(codes + 1, minlength=len(texts) + 1)[1:]
    missing = texts.str.lower().isin(MISSING).to_numpy(bool)
    found = _Texts(name, codes, texts.tolist(), counts, missing)
    return (
        _as_numbers(found, comma, as_target and task == "regression") or _as_dates(found) or _as_texts(found, as_target)
    )


def _as_numbers(cells: _Texts, comma: bool, any_unit: bool) -> TableColumn | None:
    """Read texts as numbers of one unit, or of any; None if not nearly all are."""
    import pandas as pd

    values, units, has_comma = numbers(cells.texts, comma)
    codes, names = pd.factorize(units)
    order = np.argsort(-np.bincount(codes, cells.counts, len(names)), kind="stable")
    found = [unit for unit in names[order].tolist() if unit]
    of_unit = np.where(np.isin(units, ["", *found[:1]]) | any_unit, values, np.nan)
    if not cells.are(of_unit):
        cells.about = f"numbers of several units: {quoted(found)}" if cells.are(values) else ""
        return None
    column = _checked(cells.column(of_unit, "number"))
    if found[:1] == [CLOCK]:
        column.remarks.append(("clock times read as hours", repr(column.name)))
    elif found:
        column.remarks.append(("units left out", f"{quoted(found if any_unit else found[:1])} in {column.name!r}"))
    plain = [text for text, value in zip(cells.texts[:MANY], of_unit[:MANY], strict=True) if value == value]
    marks = {".": "thousands separators"} if has_comma else {",": "thousands separators"}
    if has_comma and not comma:  # else the whole table has them
        marks[","] = "decimal commas"
    for mark, meaning in marks.items():
        if example := next((text for text in plain if mark in text), ""):
            column.remarks.append((meaning, f"{example!r} in {column.name!r}"))
    return column


def numbers(texts: Sequence[str], comma: bool) -> tuple[np.ndarray, np.ndarray, bool]:
    """Read texts as numbers: return the values, nan where there is none, and the units, each (texts,).

    Also return whether commas are decimal; comma: the answer if no text can tell.
    """
    import pandas as pd

    sample = [text for text in texts[:: len(texts) // SAMPLE + 1] if text.lower() not in MISSING]
    found = [one for text in sample if (one := number(text))]
    sure = sum(math.isnan(one.point) - math.isnan(one.comma) for one in found)
    comma = sure > 0 if sure else comma
    values, units = np.full(len(texts), np.nan), np.full(len(texts), "", object)
    if len(texts) > MANY and len(found) < len(sample) / 2:
        return values, units, comma
    written = pd.Series(texts, dtype=str)
    # 1.234 is no plain number where commas are decimal
    plain = written.mask(written.str.contains(".", regex=False)).str.replace(",", ".") if comma else written
    values = pd.to_numeric(plain, errors="coerce").to_numpy(float, copy=True)
    for at in np.flatnonzero(np.isnan(values)).tolist():
        if one := number(texts[at]):
            values[at], units[at] = one.value(comma), one.unit
    return values, units, comma


def _as_calendar(name: str, cells: pd.Series) -> TableColumn | None:
    """Read whole numbers such as 20240131 as dates, in days; None unless all are."""
    known, values = cells.dropna(), np.full(len(cells), np.nan)
    if not len(known) or known.min() < CALENDAR[0] or known.max() > CALENDAR[1] or (known % 1).any():
        return None
    values[cells.notna()] = days(known.map("{:.0f}".format).tolist(), form := "%Y%m%d")
    remarks = [("dates read as days", f"{name!r}, {known.iloc[0]:.0f} by {form}")]
    every = np.isnan(values).sum() == len(cells) - len(known)
    return TableColumn(name, values, date=form, remarks=remarks) if every else None


def _checked(column: TableColumn) -> TableColumn:
    """Turn numbers that are too large to be used, or stand for a missing one, into missing ones."""
    wild = np.abs(column.values) > MAX_CELL
    if wild.any():
        column.remarks.append(("too large, read as missing", f"{wild.sum():,} in {column.name!r}"))
        column.values = np.where(wild, np.nan, column.values)
    ends = [end.reduce(column.values) for end in (np.fmin, np.fmax) if column.values.size]  # which pass over nan
    for code in (one for one in ends if NINES.fullmatch(f"{one:.12g}")):
        its = column.values == code
        others = column.values[~(its | np.isnan(column.values))]
        if its.sum() > 1 and len(others) and 0 < np.ptp(others) < np.abs(others - code).min():
            column.remarks.append(("far from all others, read as missing", f"{code:.12g} in {column.name!r}"))
            column.values = np.where(its, np.nan, column.values)
    return column


def _as_dates(cells: _Texts) -> TableColumn | None:
    """Read texts as dates, in days; None if not nearly all are."""
    sample = [text for text in cells.texts[:: len(cells.texts) // SAMPLE + 1] if text.lower() not in MISSING]
    dates = [date[0] for text in sample if (date := _DATE.match(text))]
    if not dates or len(dates) < NEARLY_ALL * len(sample):
        return None

    def fits(texts: Sequence[str], form: str) -> bool:
        return bool(np.isfinite(days(texts, form)).mean() >= NEARLY_ALL)

    forms = [date + time for date in DATES if fits(dates, date) for time in (TIMES if "%" in date else ("",))]
    read = {form: days(cells.texts, form) for form in forms if fits(sample, form)}
    form = max(read, key=lambda one: cells.counts[np.isfinite(read[one])].sum(), default="")
    if not form or not cells.are(read[form]):
        return None
    column = cells.column(read[form], "date", date=form)
    column.remarks.append(("dates read as days", f"{cells.name!r}, {sample[0]!r} by {form}"))
    return column


def days(texts: Sequence[str], form: str) -> np.ndarray:
    """Return dates as days since 1970, with the time of day as a fraction; nan for texts of another form."""
    import pandas as pd

    written = pd.Series(texts, dtype=str)
    without_zone = written.str.replace(_ZONE, "", regex=True) if "%" in form else written
    read = pd.to_datetime(without_zone, format=form, errors="coerce", utc=True)
    return np.asarray((read - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1))


def _as_texts(cells: _Texts, as_target: bool) -> TableColumn:
    """Join the spellings of each text, and number the texts in order."""
    if as_target:  # a class may be called NA
        cells.missing = cells.missing & (cells.counts <= COMMON * cells.counts.sum())
    elif len(cells.texts) > MANY:
        return cells.column(np.arange(len(cells.texts)), "text", texts=tuple(cells.texts))
    spellings: dict[str, Counter[str]] = {}
    keys = [" ".join(text.split()) for text in cells.texts]
    for text, count, gone in zip(keys, cells.counts.tolist(), cells.missing.tolist(), strict=True):
        if not gone:
            spellings.setdefault(_as_spelled(text), Counter())[text] += count
    usual = {key: found.most_common(1)[0][0] for key, found in spellings.items()}
    order = sorted(usual, key=lambda key: _as_class(usual[key]))
    place = {key: float(code) for code, key in enumerate(order)}
    values = np.array([place.get(_as_spelled(key), np.nan) for key in keys])
    column = cells.column(values, "text", texts=tuple(usual[key] for key in order))
    joined = [usual[key] for key, found in spellings.items() if len(found) > 1]
    if joined:
        column.remarks.append(("spellings joined", f"of {quoted(joined)} in {cells.name!r}"))
    return column


def _as_spelled(text: str) -> str:
    """Return what is the same in all spellings of a text: without capitals, and with one sign between words."""
    return _BETWEEN_WORDS.sub(" ", text).casefold()


def _as_class(label: str) -> tuple[float, str]:
    """Return a sort key for class names: numbers by value, then all other texts, with "nan" and "inf" among them."""
    found = number(label)
    return (found.value(False) if found and math.isfinite(found.value(False)) else math.inf), label


def quoted(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - MAX_QUOTED} more" if len(texts) > MAX_QUOTED else ""
    return ", ".join(repr(text[:40]) for text in texts[:MAX_QUOTED]) + more


def read_known(cells: pd.Series, inputs: Sequence[Cell], comma: bool) -> tuple[np.ndarray, np.ndarray, str]:
    """Read a column as it was read in training: return its inputs (inputs, rows), nan where a cell is missing.

    Also return which cells the network does not know, (rows,), and what it was trained on and answers for them.
    """
    texts = [" ".join(text.split()) for text in cells]
    missing = np.array([text.lower() in MISSING for text in texts], bool)
    known = {_as_spelled(cell.text): float(at) for at, cell in enumerate(inputs) if cell.text is not None}
    how = "it answers as if the cell were empty"
    if known:
        codes = np.array([known.get(_as_spelled(text), -1.0) for text in texts])
        codes[missing & (codes < 0)] = np.nan
        column = TableColumn("", codes, tuple(known))
        trained, how = ", ".join(repr(cell.text) for cell in inputs), "it answers as if none of these applied"
    elif form := inputs[0].date:
        column, trained = TableColumn("", days(texts, form)), f"dates by {form}"
    else:
        column, trained = _checked(TableColumn("", numbers(texts, comma)[0])), "numbers"
    unknown = (column.values == -1 if known else np.isnan(column.values)) & ~missing
    block = np.empty((len(inputs), len(texts)))
    column.write_inputs(block)
    return block, unknown, f"on {trained}; {how}"
