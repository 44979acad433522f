"""Read a CSV of the user's own: input columns of numbers or of a few different texts, and one target column."""

from __future__ import annotations

import contextlib
import csv
import difflib
import errno
import io
import math
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, cast

import numpy as np

from lab.text import counted
from lab.training.samples import MAX_CELL, Cell, DataError, Raw, TargetError, numbered

MAX_TEXTS = 20  # different ones in a column of texts, each of which becomes an input
NEARLY_ALL = 0.9  # share of numbers in a column of measurements: the other cells are mistakes
DECIMAL_COMMA = re.compile(r"[+-]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?", re.ASCII)
MISSING = frozenset({"na", "n/a", "nan", "null", "?"})  # R, pandas and others write these for a missing number
PERCENT = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)\s*%", re.ASCII)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", re.ASCII)
DATE = re.compile(r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{4})([T ]\d{1,2}:\d{2}.*)?", re.ASCII)

MAX_ROWS, MAX_INPUTS = 20_000, 100  # of a visitor's table, because the server is shared; a text column has many inputs
MAX_CELLS = 300_000  # in it
MAX_LETTERS = 1_000  # of one of its cells
ON_YOUR_MACHINE = "train it on the command line with --data csv:{name}."

Row = tuple[int, list[str]]  # its number, counted from 1 as in a spreadsheet, and its cells


def of_file(path: str, target: str | None, task: str | None) -> Raw:
    """Read the samples in a CSV file (arguments as in `load` in datasets.py). Raises DataError."""
    if not path:
        raise DataError("csv: needs the path of a file: write for example --data csv:flowers.csv.")
    return _parse_table(*_opened(path), path, target, task, math.inf)


def _opened(path: str) -> tuple[list[Row], str]:
    """Read the rows of a file, and the separator of their cells. Raises DataError."""
    try:
        with open(os.path.expanduser(path), newline="", encoding="utf-8-sig", opener=_open_file) as file:
            rows, mark = _csv_rows(file, path)
            return list(rows), mark
    except OSError as error:
        where = "" if os.path.isabs(os.path.expanduser(path)) else f" from {os.getcwd()!r}"
        raise DataError(f"{path!r} cannot be read{where} ({error.strerror}): check the path.") from None


def of_text(text: str, name: str, target: str | None, task: str | None) -> Raw:
    """Read the samples in the text of a visitor's CSV; name: what to call it in notes and errors. Raises DataError."""
    rows, mark = _csv_rows(io.StringIO(text.removeprefix("\ufeff"), newline=""), name)
    return _parse_table(list(_few(rows, name)), mark, name, target, task, MAX_INPUTS)


def _few(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """Yield the rows of a visitor's table. Raises DataError as soon as it is larger than a shared server reads."""
    cells = 0
    for count, row in enumerate(rows):
        number, texts = row
        cells += len(texts)
        if count > MAX_ROWS or cells > MAX_CELLS or len(texts) > MAX_INPUTS + 1:
            raise DataError(
                f"{name!r} is too large: up to row {number}, of {len(texts) - 1:,} inputs, it has {cells:,} cells; "
                f"this page takes up to {MAX_ROWS:,} rows, {MAX_INPUTS} inputs and {MAX_CELLS:,} cells: "
                f"{ON_YOUR_MACHINE.format(name=name)}"
            )
        if longest := next((text for text in texts if len(text) > MAX_LETTERS), ""):
            raise DataError(f"{name!r}, row {number} has a cell of {len(longest):,} characters: shorten it.")
        yield row


def _open_file(path: str, flags: int) -> int:
    """Open a file. Raises OSError for a pipe or a device, since reading one may wait for ever."""
    kind = os.stat(path).st_mode
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise OSError(errno.EINVAL, "It is a pipe or a device")
    return os.open(path, flags)


def _csv_rows(file: IO[str], name: str) -> tuple[Iterator[Row], str]:
    """Return the rows that are not blank, and the separator of their cells. Raises DataError, also while rows are
    read."""
    with _readable(name):
        first = file.readline()
        if re.fullmatch(r'"?sep=.?"?', first.strip(), re.IGNORECASE):
            raise DataError(f"{name!r} begins with {first.strip()!r}, a line for Excel alone: remove that line.")
        file.seek(0)
    return _filled(csv.reader(file, delimiter=separator(first)), name), separator(first)


def _filled(rows: Iterable[list[str]], name: str) -> Iterator[Row]:
    with _readable(name):
        yield from ((number, cells) for number, cells in enumerate(rows, start=1) if any(cells))


@contextlib.contextmanager
def _readable(name: str) -> Iterator[None]:
    """Raise DataError where the body finds that a file is not the text of a table."""
    try:
        yield
    except UnicodeDecodeError:
        raise DataError(f"{name!r} is not a text file in UTF-8: save the table as CSV in UTF-8.") from None
    except csv.Error as error:
        raise DataError(
            f"{name!r} cannot be split into cells ({error}): look for an unclosed quotation mark."
        ) from None


def separator(line: str) -> str:
    """Guess the separator of a CSV from its first line: a comma, a semicolon or a tab."""
    others = [mark for mark in ";\t" if mark in line]
    if others and not re.search(r",(?!\d)|(?<!\d),", line):  # commas only between digits are decimal commas
        return max(others, key=line.count)
    return max(",;\t", key=line.count)


def _parse_table(
    rows: list[Row], mark: str, path: str, target: str | None, task: str | None, most_inputs: float
) -> Raw:
    """Turn the rows of a CSV into raw samples: input columns, and the target column of classes or numbers.

    The first row is a header when no cell in it is a number. mark: the separator of the cells; if it is not a comma,
    numbers may have decimal commas. Each different text of a column becomes an input that is 1 in the rows with that
    text. An empty cell is a missing number. Raises DataError.
    """
    if not rows:
        raise DataError(f"{path!r} is empty: it needs rows of inputs and a target.")
    header, has_header, rows = _with_header(rows, mark, path)
    if len(header) < 2:
        raise DataError(
            f"{path!r} has only one column, but needs inputs and a target: separate its cells by commas, semicolons or "
            f"tabs."
        )
    rows, commas = _with_points(rows, mark, path)
    if not rows:
        raise DataError(f"{path!r} has a header but no rows under it: add some data.")
    label_at = _find_target(path, target, header)
    rows, cleaned = _cleaned(path, header, rows, label_at)
    columns = [at for at in range(len(header)) if at != label_at]
    by_column: dict[int, list[tuple[str | None, np.ndarray]]] = {}
    left = most_inputs
    for at in columns:
        by_column[at] = _inputs(path, header, rows, at, left)
        left -= len(by_column[at])
    inputs = [one for found in by_column.values() for one in found]
    labels = [cells[label_at].strip() for _, cells in rows]
    for (number, _), label in zip(rows, labels, strict=True):
        if not label:
            raise TargetError(
                f"{path!r}, row {number}: the label in {header[label_at]!r} is empty, fill it in, or choose another "
                f"target column."
            )
    classes = sorted(set(labels), key=_as_class)
    regression = task == "regression" or (task is None and _measured(labels))
    if regression:
        classes = []
        wanted = np.array([_cell(path, number, header[label_at], cells[label_at], "") for number, cells in rows])
    else:
        index_of = {label: index for index, label in enumerate(classes)}
        wanted = np.array([index_of[label] for label in labels])
    if not regression and not has_header and labels.count(labels[0]) == 1 < len(labels):
        raise DataError(
            f"{path!r}, row {rows[0][0]}: no other row is of the class {labels[0]!r}; if this row is a header, give "
            f"its columns names that are not numbers, and if not, add samples of the class or remove the row"
            f"{or_a_number(classes)}."
        )
    if not regression and len(classes) > max(MAX_TEXTS, len(labels) / 2):
        raise TargetError(
            f"{path!r}: the target {header[label_at]!r} has {len(classes)} different values in {len(labels)} rows, "
            f"such as {labels[0][:40]!r}, too many for classes: write numbers without their unit, or choose another "
            f"target column."
        )
    texts = [header[at] for at, found in by_column.items() if found[0][0] is not None]
    empty = sum(not cells[at].strip() for _, cells in rows for at in columns)
    remarks = (
        *cleaned,
        *([f"cells with a decimal comma: {commas:,} (3,14 is read as 3.14)"] if commas else []),
        *([f"text columns: {', '.join(map(repr, texts))}, one input for each different text"] if texts else []),
        *([f"empty cells: {empty:,}, each replaced by the mean of its column's training samples"] if empty else []),
    )
    note = f"target {header[label_at]!r}{' (regression)' if regression else ''}"
    features = np.stack([values for _, values in inputs], axis=1)
    cells = tuple((header[at], text) for at, found in by_column.items() for text, _ in found)
    names = tuple(column if text is None else f"{column} “{text}”" for column, text in cells)
    return Raw([features], wanted, tuple(classes), note, names, remarks, cells=cells)


def _measured(labels: Sequence[str]) -> bool:
    """Tell whether a target looks like a measured number, which is predicted, and not like classes with numbers."""
    numbers = [value for label in labels if (value := _number(label)) is not None]
    if len(numbers) < NEARLY_ALL * len(labels):
        return False
    rows = Counter(labels)
    ints, few = all(value.is_integer() for value in numbers), len(labels) < 5 * len(rows)
    if len(rows) > MAX_TEXTS:
        return few or not ints
    return few and min(rows.values()) == 1 and (len(rows) > 2 or not ints)  # no class has a single sample


def or_a_number(classes: Sequence[str]) -> str:
    """Return the end of an error about classes: that numbers can be predicted as numbers; "" if they are no numbers."""
    if len(classes) < 2 or any(_number(name) is None for name in classes):
        return ""
    return ", or, if the target is a number to predict, choose the task regression (--task regression)"


def inputs_of_file(
    path: str, cells: Sequence[Cell], warn: Callable[[str], object] = lambda _: None
) -> tuple[list[str], list[list[str]], np.ndarray]:
    """Read a CSV to be predicted: its header, its unchanged rows, and the network's inputs (rows, features).

    A missing number is nan. warn: is called with a sentence about the first unknown text of each column.
    Raises DataError, for example for a column that the table lacks.
    """
    rows, mark = _opened(path)
    if not rows:
        raise DataError(f"{path!r} is empty: it needs rows like those that the network was trained on.")
    header, named, rows = _with_header(rows, mark, path)
    given = [cells_ for _, cells_ in rows]
    columns = list(dict.fromkeys(column for column, _ in cells))
    for column in columns:
        if column not in header:
            what = "add it" if named else "begin the file with a row of column names"
            raise DataError(f"{path!r} has no column {column!r}, which the network was trained on: {what}.")
    used = [header.index(column) for column in columns]  # other columns may hold anything
    rows, _ = _with_points([(number, [cells_[at] for at in used]) for number, cells_ in rows], mark, path)
    rows, _ = _cleaned(path, columns, rows, -1)
    for at, column in enumerate(columns):
        known = [text for name, text in cells if name == column]
        other = [(number, cells_[at].strip()) for number, cells_ in rows if cells_[at].strip() not in ("", *known)]
        if other and None not in known:
            number, unknown = other[0]
            warn(
                f"{path!r}, row {number}, column {column!r}: the network was not trained on {unknown[:40]!r}, only on "
                f"{', '.join(map(repr, known))}; it answers as if none of these applied."
            )
    features = []
    for column, text in cells:
        at = columns.index(column)
        if text is None:
            features.append([_cell(path, number, column, cells_[at]) for number, cells_ in rows])
        else:
            found = [cells_[at].strip() for _, cells_ in rows]
            features.append([float(one == text) if one else math.nan for one in found])
    return header, given, np.array(features, dtype=float).reshape(len(cells), len(rows)).T


def _with_header(rows: list[Row], mark: str, path: str) -> tuple[list[str], bool, list[Row]]:
    """Return the names of the columns, whether the first row holds them, and the other rows. Raises DataError."""
    width = _width(rows, path)
    named = all(_number(cell) is None and not _has_comma(cell, mark) for cell in rows[0][1])
    header = unique(rows[0][1]) if named else list(numbered(width))
    return header, named, rows[named:]


def unique(names: Sequence[str]) -> list[str]:
    """Append a number to the repeated names of columns: x, x (2), x (3)."""
    taken: dict[str, None] = {}
    following: dict[str, int] = {}  # a name -> the next number to try
    for name in map(str.strip, names):
        free = name
        while free in taken:
            following[name] = following.get(name, 1) + 1
            free = f"{name} ({following[name]})"
        taken[free] = None
    return list(taken)


def _has_comma(cell: str, mark: str) -> bool:
    return mark != "," and bool(DECIMAL_COMMA.fullmatch(cell.strip()))


def _with_points(rows: list[Row], mark: str, path: str) -> tuple[list[Row], int]:
    """Return the rows with decimal points, and how many cells had a comma. Raises DataError if others have a point."""
    commas = sum(_has_comma(cell, mark) for _, cells in rows for cell in cells)
    if commas:
        rows = [(number, [_with_point(path, number, cell) for cell in cells]) for number, cells in rows]
    return rows, commas


def _cleaned(path: str, header: list[str], rows: list[Row], label_at: int) -> tuple[list[Row], list[str]]:
    """Return the rows with numbers that Python can read, and a sentence about each kind of change.

    Marks of missing numbers become empty cells; percent signs and thousands separators are removed where all numbers
    of a column are written that way. Raises DataError for a column of dates.
    """
    table = [list(cells) for _, cells in rows]
    missing, percents, thousands = 0, [], []
    for at, name in enumerate(header):
        column = [cells[at].strip() for cells in table]
        gone = {row for row, cell in enumerate(column) if cell.lower() in MISSING}
        filled = [cell for row, cell in enumerate(column) if cell and row not in gone]
        if filled and all(map(DATE.fullmatch, filled)):
            raise DataError(
                f"{path!r}: the column {name!r} holds dates, such as {filled[0][:40]!r}: put numbers in their place, "
                f"for example the days since the first one, or remove the column."
            )
        if at == label_at and gone and any(_number(cell) is None for cell in filled):
            gone = set()  # a class may have such a name
        for row in gone:
            table[row][at] = ""
        missing += len(gone)
        if filled and all(map(PERCENT.fullmatch, filled)):
            percents.append(name)
            for cells in table:
                cells[at] = cells[at].replace("%", "").strip()
        elif any("," in cell for cell in filled) and all(THOUSANDS.fullmatch(c) for c in filled if "," in c):
            thousands.append(name)
            for cells in table:
                cells[at] = cells[at].replace(",", "")
    remarks = [
        *([f"cells with NA, NaN, null or ?: {missing:,}, read as empty"] if missing else []),
        *([f"percent signs in {', '.join(map(repr, percents))}: 12% is read as 12"] if percents else []),
        *([f"thousands separators in {', '.join(map(repr, thousands))}: 1,234 is read as 1234"] if thousands else []),
    ]
    return [(number, cells) for (number, _), cells in zip(rows, table, strict=True)], remarks


def _with_point(path: str, number: int, cell: str) -> str:
    """Replace the decimal comma in a cell by a point. Raises DataError for a number that is written with a point."""
    text = cell.strip()
    if DECIMAL_COMMA.fullmatch(text):
        return text.replace(".", "").replace(",", ".")
    if "." in text and _number(text) is not None:
        raise DataError(
            f"{path!r}, row {number}: {text[:40]!r} has a point, where other numbers of the table have a comma: write "
            f"them all the same way."
        )
    return cell


def _inputs(path: str, header: list[str], rows: list[Row], at: int, most: float) -> list[tuple[str | None, np.ndarray]]:
    """Turn a column into at most `most` inputs of the network: its numbers, or one input for each of its texts.

    Returns (None, values) for numbers, or (text, values) for each text; values (rows,). Raises DataError.
    """
    cells = [cells[at].strip() for _, cells in rows]
    filled = [cell for cell in cells if cell]
    different = sorted({*filled})
    if not filled:
        raise DataError(f"{path!r}: the column {header[at]!r} is empty: remove it.")
    if any(_number(cell) is not None for cell in filled):
        return [(None, np.array([_cell(path, number, header[at], cells[at]) for number, cells in rows]))]
    if len(different) > min(MAX_TEXTS, len(filled) / 2):
        raise DataError(
            f"{path!r}: the column {header[at]!r} holds {len(different)} different texts, such as {filled[0][:40]!r}: "
            f"group them into at most {MAX_TEXTS} that each occur in several rows, write numbers without their unit, "
            f"or remove the column."
        )
    if len(different) > most:
        raise DataError(
            f"{path!r} has more than {MAX_INPUTS} inputs up to the column {header[at]!r}, one for each different text: "
            f"leave out text columns, or {ON_YOUR_MACHINE.format(name=path)}"
        )
    missing = np.array([not cell for cell in cells])
    return [(text, np.where(missing, np.nan, [float(cell == text) for cell in cells])) for text in different]


def _width(rows: list[Row], path: str) -> int:
    """Return the number of cells in every row. Raises DataError when rows differ."""
    width = len(rows[0][1])
    for number, cells in rows:
        if len(cells) != width:
            longer, last = (number, cells[-1]) if len(cells) > width else (rows[0][0], rows[0][1][-1])
            raise DataError(
                f"{path!r}, row {number} has {counted(len(cells), 'cell')} but row {rows[0][0]} has {width}: "
                f"give every row the same number of cells."
                if last.strip()
                else _trailing(path, longer)
            )
    if len(rows) > 1 and not any(cells[-1].strip() for _, cells in rows[1:]):
        raise DataError(_trailing(path, rows[1][0]))
    return width


def _trailing(path: str, number: int) -> str:
    return f"{path!r}, row {number} ends with an extra separator: remove it from all such rows."


def _as_class(label: str) -> tuple[float, str]:
    """Return a sort key for class names: numbers by value, then all other texts, with "nan" and "inf" among them."""
    value = _number(label)
    return (math.inf if value is None or not math.isfinite(value) else value), label


def _find_target(path: str, target: str | None, names: list[str]) -> int:
    if target is None:
        return len(names) - 1
    if target in names:
        return names.index(target)
    if re.fullmatch("[0-9]{1,9}", target) and 1 <= int(target) <= len(names):
        return int(target) - 1
    close = difflib.get_close_matches(target, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(names[:20])}."
    raise DataError(f"{path!r} has no column {target!r}: {hint}")


def _number(cell: str) -> float | None:
    """Parse a cell as a number, also nan and inf; None if it is not one."""
    if not cell.isascii() or "_" in cell:  # float() would accept 1_000, and digits of other scripts
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _cell(path: str, number: int, column: str, cell: str, or_else: str = ", leave the cell empty,") -> float:
    """Return the number in a cell, nan if it is empty. Raises DataError, which says where the cell is."""
    text = cell.strip()
    value = _number(text) if text else math.nan
    if not text or (value is not None and abs(value) <= MAX_CELL):  # the comparison is False for nan
        return cast(float, value)
    place = f"{path!r}, row {number}, column {column!r}"
    if "," in text and _number(text.replace(",", ".", 1)) is not None:
        raise DataError(
            f"{place}: {text[:40]!r} has a decimal comma, but commas separate the cells of this table: write "
            f"points, or separate the cells by semicolons."
        )
    raise DataError(
        f"{place}: {text[:40]!r} is not a number that can be used: put a number there{or_else} or remove the row."
    )
