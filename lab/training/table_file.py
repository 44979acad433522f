"""Read a file that holds a table, as people save them: find its encoding, separator, header and rows.

pandas reads the cells. This finds out what pandas must be told, and says what it found.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import statistics
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.training.numbers_in_text import marks_comma, marks_point, number, with_unit
from lab.training.samples import DataError, numbered

if TYPE_CHECKING:
    import pandas as pd  # heavy: imported when a table is read

SAMPLE_ROWS, SAMPLE_CELLS, SAMPLE_LENGTH = 200, 2_000, 500_000  # rows that tell the layout, cells of one, characters
NEARLY_AS_REGULAR = 0.1  # share of rows that may have another length than with the most regular separator
MIN_ROWS, MAX_FOOTERS = 10, 3  # rows of a table whose last rows may be totals, and the number of these
MAX_NAME = 60  # characters of a column's name
MAX_ROWS, MAX_COLUMNS, MAX_CELLS, MAX_BYTES = 20_000, 200, 300_000, 4_000_000  # of a visitor: the server is shared
MAX_UNPACKED = 30_000_000  # bytes of an Excel file: more would take openpyxl seconds
ON_YOUR_MACHINE = "train it on the command line with --data csv:{name}."
MARKS = ("\t", ";", "|", ",", " ")  # " " stands for any white space
NOT_TEXT = {  # the first bytes of a file -> what it is, and what to do
    b"PK\x03\x04": "an Excel file or a zip archive: save the sheet as CSV, or install openpyxl to read it",
    b"\xd0\xcf\x11\xe0": "an old Excel file: save the sheet as CSV",
    b"\x1f\x8b": "compressed: unpack it first",
    b"PAR1": "a Parquet file: save the table as CSV",
    b"%PDF": "a PDF: save the table as CSV",
}
_UNPAIRED = "{name!r} cannot be split into cells: look for an unclosed quotation mark."
_RULE = re.compile(r"\s*:?-*:?\s*")  # a cell of the line under the header of a Markdown table
_ATTRIBUTE = re.compile(r"""(?im)^@attribute\s+('[^'\n]*'|"[^"\n]*"|\S+)""")


@dataclass
class ReadTable:
    """The cells of a table, as pandas read them, with unique names of columns.

    named: whether the file has a header. comma: whether its numbers have decimal commas, where one cannot tell from a
    column alone. remarks: sentences about how the file was read.
    """

    frame: pd.DataFrame
    named: bool
    comma: bool = False
    remarks: list[str] = field(default_factory=list)


def text_of(content: bytes, name: str) -> tuple[str, str]:
    """Decode a file; return its text and the name of its encoding. Raises DataError if it is no text."""
    if content[:4] == b"PK\x03\x04" and (sheet := _sheet(content, name)) is not None:
        return sheet, "Excel"
    for start, what in NOT_TEXT.items():
        if content.startswith(start):
            raise DataError(f"{name!r} is {what}.")
    head = content[:2000]
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encodings = ["utf-16"]
    elif head.count(0) > len(head) / 4:  # every second byte of European text in UTF-16
        encodings = ["utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"]
    else:
        encodings = ["utf-8-sig", "cp1252", "latin-1"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not re.search(r"[\0-\x08\x0e-\x1a]", text[:100_000]):
            return text, encoding.removesuffix("-sig").upper()
    raise DataError(f"{name!r} is not a text file: save the table as CSV in UTF-8.")


def _sheet(content: bytes, name: str) -> str | None:
    """Return the first sheet of an Excel file as CSV; None if openpyxl is not installed or it is another archive."""
    try:
        import openpyxl
    except ImportError:
        return None
    out = io.StringIO()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > MAX_UNPACKED:
            raise DataError(f"{name!r} unpacks to {size / 1e6:,.0f} MB: save the sheet as CSV.")
        sheet = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True).worksheets[0]
        rows = itertools.islice(sheet.iter_rows(values_only=True, max_col=MAX_COLUMNS + 1), 1_000_000)
        filled = [row for row in rows if any(cell is not None for cell in row)]
        # openpyxl fills each row up to max_col
        width = max((at + 1 for row in filled for at, cell in enumerate(row) if cell is not None), default=0)
        csv.writer(out, lineterminator="\n").writerows(row[:width] for row in filled)
    except DataError:
        raise
    except Exception:  # whatever is in the archive
        raise DataError(f"{name!r} is no sheet that can be read: save it as CSV.") from None
    return out.getvalue()


def read(text: str, name: str, shared: bool, as_texts: bool = False) -> ReadTable:
    """Read the table in a text. shared: keep to the limits of a shared server. as_texts: leave numbers as written.

    Raises DataError.
    """
    if shared and len(text) > MAX_BYTES:
        raise DataError(f"{name!r} has more than {MAX_BYTES / 1e6:.0f} MB: {ON_YOUR_MACHINE.format(name=name)}")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.removeprefix("\ufeff").strip("\n")
    if not text.strip():
        raise DataError(f"{name!r} is empty: it needs rows of inputs and a target.")
    if text.lstrip()[0] in "[{":
        return _json_table(text, name, shared)
    return _csv_table(text, name, shared, as_texts)


def _check_size(name: str, rows: int, columns: int, shared: bool) -> None:
    if shared and (rows > MAX_ROWS or columns > MAX_COLUMNS or rows * columns > MAX_CELLS):
        raise DataError(
            f"{name!r} is too large, with {rows:,} rows or more of {columns:,} columns; this page takes up to "
            f"{MAX_ROWS:,} rows, {MAX_COLUMNS} columns and {MAX_CELLS:,} cells: {ON_YOUR_MACHINE.format(name=name)}"
        )


def _json_table(text: str, name: str, shared: bool) -> ReadTable:
    """Read JSON lines, a list of objects, or an object of columns."""
    import pandas as pd

    try:
        try:
            data = json.loads(text)
        except ValueError:
            data = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError):
        raise DataError(f"{name!r} looks like JSON, but cannot be read as JSON: write one object a line.") from None
    if isinstance(data, dict):
        data = data if all(isinstance(cells, (list, dict)) for cells in data.values()) else [data]
    if isinstance(data, dict):
        columns = {key: cells if isinstance(cells, dict) else dict(enumerate(cells)) for key, cells in data.items()}
        keys, places = list(columns), list(dict.fromkeys(place for cells in columns.values() for place in cells))
        _check_size(name, len(places), len(keys), shared)
        rows = [[columns[key].get(place) for key in keys] for place in places]
    else:
        if not data or not all(isinstance(row, dict) for row in data):
            raise DataError(f"{name!r} is JSON, but not a table: write one object with the cells of a row a line.")
        keys = list(dict.fromkeys(key for row in data for key in row))
        _check_size(name, len(data), len(keys), shared)
        rows = [[row.get(key) for key in keys] for row in data]
    nested = (list, dict)
    cells = [[json.dumps(one) if isinstance(one, nested) else one for one in row] for row in rows]
    frame = pd.DataFrame(cells, columns=unique(keys))
    for column in [name for name in frame if frame[name].dtype.kind not in "iufb"]:  # numbers and texts in one column
        frame[column] = frame[column].map(str, na_action="ignore")
    return ReadTable(frame, True, remarks=["read as JSON"])


def _csv_table(text: str, name: str, shared: bool, as_texts: bool) -> ReadTable:
    import pandas as pd

    remarks = []
    mark = ""
    if setting := re.match(r'"?sep=(.)"?\n', text, re.IGNORECASE):  # a line for Excel
        text, mark = text[setting.end() :], setting[1]
    if re.match(r"(?:%.*\n|\s)*@relation\b", text, re.IGNORECASE):
        attributes, *rest = re.split(r"(?im)^@data[ \t]*$", re.sub(r"(?m)^%.*\n?", "", text), maxsplit=1)
        text = "\n".join([",".join(name.strip("'\"") for name in _ATTRIBUTE.findall(attributes)), *rest])
        remarks.append("read as ARFF")
    comments, text = _without_comments(text)
    mark, rows = _rows(text, mark)
    if not rows:
        raise DataError(f"{name!r} has no row of cells: it needs rows of inputs and a target.")
    width = Counter(len(cells) for _, cells in rows if sum(map(bool, cells)) > 1 or len(cells) == 1).most_common(1)
    columns = width[0][0] if width else 1
    _check_size(name, len(rows), columns, shared)
    titles, header, skipped = _header(rows, comments, columns, mark)
    data = [cells for line, cells in rows if line > skipped]
    if not data:
        raise DataError(f"{name!r} has a header but no rows under it: add some data.")
    written = [cell for cells in data for cell in cells]
    comma = sum(map(marks_comma, written)) > sum(map(marks_point, written)) if mark != "," else False
    how = {
        "sep": r"\s+" if mark == " " else mark,
        "header": None,
        "names": list(range(columns)),
        "dtype": str if as_texts else None,
        "keep_default_na": False,
        "na_values": [""],
        "skipinitialspace": f'{mark} "' in text[:SAMPLE_LENGTH],  # slow, but only then quotes begin a cell
        "decimal": "," if comma else ".",
        "nrows": MAX_ROWS + 1 if shared else None,
        "low_memory": False,
    }
    body, longer = text.split("\n", skipped)[skipped], 0
    unpaired = body.count('"') % 2
    try:
        if len(data[0]) > columns:
            raise pd.errors.ParserError  # pandas would take the first cells for an index
        frame = pd.read_csv(io.BytesIO(body.encode("utf-8", "replace")), **how)
    except pd.errors.ParserError:
        body, longer = _without_long_rows(body, mark, columns, name)
        frame = pd.read_csv(io.BytesIO(body.encode("utf-8", "replace")), **how) if body else pd.DataFrame()
    if frame.empty:
        raise DataError(f"{name!r} has a header but no rows under it: add some data.")
    if unpaired and "\n" in "".join(map(str, frame.iloc[-1])):
        raise DataError(_UNPAIRED.format(name=name))
    _check_size(name, len(frame), columns, shared)
    if longer:
        remarks.append(f"rows with too many cells: {longer:,}, left out")
    frame, footers = _without_footers(frame)
    if titles or comments[:-1] or footers:
        remarks.append(f"lines that are no rows of the table: {titles + len(comments) + footers}, left out")
    if comma:
        remarks.append("decimal commas: 3,14 is read as 3.14")
    names = header or list(numbered(columns))
    full = [at for at in range(columns) if names[at] or not frame[at].isna().all()]  # the others: an extra separator
    frame = frame if len(full) == columns else frame[full]
    frame.columns = unique([names[at] for at in full])
    return ReadTable(frame, header is not None, comma, remarks)


def _without_comments(text: str) -> tuple[list[str], str]:
    """Split off the lines at the beginning that start with #; return them without it, and the other lines."""
    end = re.match(r"(?:#.*\n)*", text).end()  # type: ignore[union-attr]
    return [line.lstrip("# ") for line in text[:end].split("\n")[:-1]], text[end:]


def _rows(text: str, mark: str) -> tuple[str, list[tuple[int, list[str]]]]:
    """Return the separator, and the first rows that are not blank, each with the number of lines up to its end."""
    found = {one: _split(text, one) for one in ([mark] if mark else MARKS)}
    regular = {one: share for one, rows in found.items() if (share := _regularity(rows))}
    if not regular:
        return ",", found.get(",", _split(text, ","))

    def numbers(one: str) -> float:
        cells = list(itertools.islice((cell for _, cells in found[one] for cell in cells), SAMPLE_CELLS))
        return sum(with_unit(cell) is not None for cell in cells) / len(cells)

    if regular.keys() - {"\t", " "}:  # cells between other marks may hold spaces
        regular.pop(" ", None)
    best = max(regular.values())
    likely = [one for one in regular if regular[one] > best - NEARLY_AS_REGULAR]
    mark = max(likely, key=lambda one: (round(numbers(one), 2), round(regular[one], 2)))  # of equals, the first
    return mark, found[mark]


def _reader(text: str, mark: str) -> Any:
    lines: Iterable[str] = io.StringIO(text)
    if mark == " ":
        lines = (" ".join(line.split()) for line in lines)
    return csv.reader(lines, delimiter=mark, skipinitialspace=True)


def _split(text: str, mark: str) -> list[tuple[int, list[str]]]:
    """Return the first rows that are not blank, each with the number of lines up to its end."""
    reader = _reader(text[:SAMPLE_LENGTH], mark)
    try:
        rows = ((reader.line_num, [cell.strip() for cell in cells[:SAMPLE_CELLS]]) for cells in reader)
        return list(itertools.islice(((line, cells) for line, cells in rows if any(cells)), SAMPLE_ROWS))
    except csv.Error:
        return []


def _without_long_rows(text: str, mark: str, columns: int, name: str) -> tuple[str, int]:
    """Leave out the rows with more than this number of cells; return the others, and how many were left out."""
    out = io.StringIO()
    try:
        rows = list(_reader(text, mark))
    except csv.Error:
        raise DataError(_UNPAIRED.format(name=name)) from None
    fitting = [cells[:columns] for cells in rows if not any(cells[columns:])]
    csv.writer(out, delimiter=mark, lineterminator="\n").writerows(fitting)
    return out.getvalue(), len(rows) - len(fitting)


def _regularity(rows: Sequence[tuple[int, list[str]]]) -> float:
    """Return the share of rows with the commonest number of cells; 0 if that is one cell."""
    sizes = Counter(len(cells) for _, cells in rows)
    size, count = sizes.most_common(1)[0] if rows else (1, 0)
    return count / len(rows) if size > 1 else 0.0


def _header(
    rows: Sequence[tuple[int, list[str]]], comments: list[str], columns: int, mark: str
) -> tuple[int, list[str] | None, int]:
    """Return how many title lines stand above the header, its names (None without one), and the lines to skip."""
    filled = [sum(map(bool, cells)) for _, cells in rows]
    full = statistics.median(filled) > columns / 2
    titles = next((at for at, count in enumerate(filled) if count > columns / 2), 0) if full else 0
    skipped = rows[titles - 1][0] if titles else 0
    line, first = rows[titles]
    below = [cells for _, cells in rows[titles + 1 :]]
    if comments:
        named = _split(comments[-1], mark)
        if named and len(named[0][1]) == columns and not any(number(cell) is not None for cell in named[0][1]):
            return titles, named[0][1], skipped
    if (
        len(first) == columns - 1 and any(cells[-1] for cells in below) and all(map(_is_name, first))
    ):  # R leaves out the name of the row names
        first = ["", *first]
    if not all(map(_is_name, first)) or _is_data(first, below):
        return titles, None, skipped
    if below and all(map(_RULE.fullmatch, below[0])):
        line = rows[titles + 1][0]
    return titles, (first + [""] * columns)[:columns], line


def _is_name(cell: str) -> bool:
    return number(cell) is None and not re.match(r"\d+[-/.:]\d+[-/.:]\d+", cell)


def _is_data(first: list[str], below: list[list[str]]) -> bool:
    """Tell whether most cells of the first row occur again below: then they are no names, but texts like the others."""
    again = [cell in {cells[at] for cells in below if at < len(cells)} for at, cell in enumerate(first) if cell]
    return sum(again) > len(again) / 2


def _without_footers(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Leave out comment lines, and the last rows if they are mostly empty, as totals are, and other rows are not."""
    if len(frame.columns) < 2:
        return frame, 0
    gone = np.zeros(len(frame), bool)
    if frame[0].dtype.kind not in "iufb":
        gone |= (frame[0].str.startswith("#").fillna(False) & frame.iloc[:, 1:].isna().all(axis=1)).to_numpy(bool)
    half = len(frame.columns) / 2
    if len(frame) >= MIN_ROWS and frame[:SAMPLE_ROWS].notna().sum(axis=1).median() > half:
        for back, filled in enumerate(reversed(frame[-MAX_FOOTERS:].notna().sum(axis=1).tolist()), start=1):
            if filled > half:
                break
            gone[-back] = True
    return (frame[~gone] if gone.any() else frame), int(gone.sum())


def unique(names: Sequence[str]) -> list[str]:
    """Shorten the names of columns, and append a number to repeated ones: x, x (2), x (3)."""
    taken: dict[str, None] = {}
    following: dict[str, int] = {}  # a name -> the next number to try
    for name in (" ".join(str(name).split())[:MAX_NAME] for name in names):
        free = name
        while free in taken:
            following[name] = following.get(name, 1) + 1
            free = f"{name} ({following[name]})"
        taken[free] = None
    return list(taken)
