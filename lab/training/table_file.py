"""Read a file that holds a table, as people save them: find its encoding, separator, header and rows.

pandas reads the cells. This finds out what pandas must be told, and says what it found.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import json
import math
import re
import statistics
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.text import encoding as text_encoding
from lab.text.numbers import ReadNumber, is_number, number
from lab.training.columns import MISSING, quoted
from lab.training.samples import DataError, numbered

if TYPE_CHECKING:
    import pandas as pd  # heavy: imported when a table is read

SAMPLE_ROWS, SAMPLE_CELLS, SAMPLE_BYTES = 50, 500, 200_000  # that tell the layout
NEARLY_AS_GOOD = 0.1  # difference in a share of rows or cells that tells no separator from another
MIN_REGULAR = 0.8  # share of rows with as many words as most: with fewer, cells hold spaces or are empty
MIN_ROWS, MAX_FOOTERS = 10, 3  # rows of a table whose last rows may be totals, and the number of these
MAX_NAME, MAX_PATH = 60, 200  # characters of a column's name, and of its path in JSON
MAX_ROWS, MAX_COLUMNS, MAX_CELLS, MAX_BYTES = 20_000, 200, 300_000, 4_000_000  # of a visitor: the server is shared
MAX_UNPACKED = 30_000_000  # bytes of an Excel file: more would take openpyxl seconds
ON_YOUR_MACHINE = "train it on the command line with --data csv:{name}."
NOT_A_NUMBER = sorted({spelled for word in MISSING for spelled in (word, word.upper(), word.title())} | {"NaN"})
MARKS = ("\t", ";", "|", ",", " ")  # " " stands for any white space
NOT_TEXT: dict[bytes | tuple[bytes, ...], str] = {  # the first bytes of a file -> what it is, and what to do
    b"PK\x03\x04": "an Excel file or a zip archive: save the sheet as CSV, or install openpyxl to read it",
    b"\xd0\xcf\x11\xe0": "an old Excel file: save the sheet as CSV",
    b"\x1f\x8b": "compressed: unpack it first",
    b"PAR1": "a Parquet file: save the table as CSV",
    b"%PDF": "a PDF: save the table as CSV",
    (b"<!", b"<?xml", b"<html", b"<table"): "a web page or XML: save the table as CSV",
}
RULED = frozenset("-=─═━|:+ ┌┬┐╞╪╡├┼┤└┴┘╔╦╗╠╬╣╚╩╝")  # what a line between two rows is drawn with
_DATE = re.compile(r"\d+[-/.:]\d+[-/.:]\d+")
_ATTRIBUTE = re.compile(r"""(?im)^@attribute\s+('[^'\n]*'|"[^"\n]*"|\S+)""")
Row = tuple[int, list[str]]  # how many lines stand above it, and its cells


@dataclass
class ReadTable:
    """The cells of a table, as pandas read them, with unique names of columns, and sentences about how it was read.

    comma: whether its numbers have decimal commas, where one cannot tell from a column alone.
    """

    frame: pd.DataFrame
    comma: bool = False
    remarks: list[str] = field(default_factory=list)


def utf8(content: bytes, name: str, encoding: str | None = None, expected: str = "") -> tuple[bytes, str]:
    """Return the text of a file in UTF-8, and what it was read from: its encoding, found also by a text in it.

    Raises DataError if it is no text.
    """
    if content[:4] == b"PK\x03\x04" and (sheet := _sheet(content, name)) is not None:
        return sheet
    for start, what in NOT_TEXT.items():
        if content.startswith(start):
            raise DataError(f"{name!r} is {what}.")
    try:
        text, found = text_encoding.decode(content, encoding, expected)
    except LookupError:
        raise DataError(f"There is no encoding {encoding!r}: write for example --encoding shift_jis.") from None
    except UnicodeError:
        text, found = "\0", ""
    if re.search("[\0-\x08\x0e-\x1a]", text[:SAMPLE_BYTES]):
        raise DataError(f"{name!r} is not a text file: save the table as CSV in UTF-8.")
    return content if found == "utf-8" and content.isascii() else text.encode("utf-8", "replace"), found


def _sheet(content: bytes, name: str) -> tuple[bytes, str] | None:
    """Return the sheet of an Excel file with the most cells as CSV, and its name; None if openpyxl is not installed."""
    import pandas as pd

    try:
        unpacked = sum(part.file_size for part in zipfile.ZipFile(io.BytesIO(content)).infolist())
        if unpacked > MAX_UNPACKED:
            raise DataError(f"{name!r} unpacks to {unpacked / 1e6:,.0f} MB: save the sheet as CSV.")
        sheets = pd.read_excel(io.BytesIO(content), sheet_name=None, header=None, dtype=object)
        called, sheet = max(sheets.items(), key=lambda one: one[1].count().sum())
    except ImportError:
        return None
    except DataError:
        raise
    except Exception:  # whatever is in the archive
        raise DataError(f"{name!r} is no sheet that can be read: save it as CSV.") from None
    others = f", the largest of {len(sheets)}" if len(sheets) > 1 else ""
    return bytes(sheet.to_csv(header=False, index=False).encode()), f"Excel, sheet {called[:MAX_NAME]!r}{others}"


def read(content: bytes, name: str, shared: bool, as_texts: bool = False) -> ReadTable:
    """Read the table in a text in UTF-8. shared: keep to the limits of a server. as_texts: leave numbers as written.

    Raises DataError.
    """
    if shared and len(content) > MAX_BYTES:
        raise DataError(f"{name!r} has more than {MAX_BYTES / 1e6:.0f} MB: {ON_YOUR_MACHINE.format(name=name)}")
    content = content.removeprefix(codecs.BOM_UTF8)
    first = content[:SAMPLE_BYTES].lstrip()[:1]
    if not first:
        raise DataError(f"{name!r} is empty: it needs rows of inputs and a target.")
    if first in b"[{":
        return _json_table(content, name, shared)
    return _csv_table(content, name, shared, as_texts)


def _check_size(name: str, rows: int, columns: int, shared: bool) -> None:
    if shared and (rows > MAX_ROWS or columns > MAX_COLUMNS or rows * columns > MAX_CELLS):
        raise DataError(
            f"{name!r} is too large, with {rows:,} rows or more of {columns:,} columns; this page takes up to "
            f"{MAX_ROWS:,} rows, {MAX_COLUMNS} columns and {MAX_CELLS:,} cells: {ON_YOUR_MACHINE.format(name=name)}"
        )


def _json_table(content: bytes, name: str, shared: bool) -> ReadTable:
    """Read JSON lines, a list of objects or of rows, objects by their keys, columns, or an object that holds one."""
    import pandas as pd

    try:
        try:
            data = json.loads(content)
        except ValueError:
            data = [json.loads(line) for line in content.split(b"\n") if line.strip()]
        records = _records(data) or ([data] if isinstance(data, dict) else [])
        lists: dict[str, None] = {}
        rows = [dict(_flat(record, lists)) for record in records]
    except (ValueError, RecursionError):
        raise DataError(f"{name!r} looks like JSON, but cannot be read as JSON: write one object a line.") from None
    keys = list(dict.fromkeys(key for row in rows for key in row))
    if not keys:
        raise DataError(f"{name!r} is JSON, but not a table: write one object with the cells of a row a line.")
    _check_size(name, len(rows), len(keys), shared)
    frame = pd.DataFrame([[row.get(key) for key in keys] for row in rows], columns=unique(keys))
    return ReadTable(frame, remarks=["read as JSON", *[f"lists, left out: {quoted(list(lists))}"] * bool(lists)])


def _records(data: object, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the rows in JSON data; none if there is no table in it. names: of the columns of rows without them."""
    parts = list(data.values()) if isinstance(data, dict) else data if isinstance(data, list) else []
    objects, lists = (bool(parts) and all(isinstance(part, kind) for part in parts) for kind in (dict, list))
    if isinstance(data, list):
        if not lists:
            return parts if objects else []
        first, *others = (list(map(str, row)) for row in parts[:SAMPLE_ROWS])
        headed = len(names) != len(parts[0]) and _are_names(first, others)
        named = first if headed else names or numbered(len(parts[0]))
        return [dict(zip(named, row, strict=False)) for row in parts[headed:]]
    by_place = objects and all(map(str.isdecimal, itertools.chain(*parts)))
    if objects and not by_place and len(parts) > 1 and parts[0].keys() & parts[1].keys():
        return parts  # by their keys
    if not by_place and (not lists or any(isinstance(cell, (dict, list)) for part in parts for cell in part)):
        texts = next((part for part in parts if isinstance(part, list) and all(isinstance(x, str) for x in part)), [])
        return max((_records(part, texts) for part in parts), key=len, default=[])
    rows: dict[Any, dict[str, Any]] = {}
    for key, part in data.items() if isinstance(data, dict) else ():
        for place, cell in part.items() if by_place else enumerate(part):
            rows.setdefault(place, {})[key] = cell
    return list(rows.values())


def _flat(record: dict[str, Any], lists: dict[str, None], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the cells of a record with their paths, such as address.city; note the paths of lists."""
    for key, value in record.items():
        name = f"{path}{key}"[:MAX_PATH]
        if isinstance(value, dict):
            yield from _flat(value, lists, f"{name}.")
        elif isinstance(value, list):
            lists[name] = None
        else:
            yield name, json.dumps(value) if isinstance(value, bool) else value  # as it is written


def _csv_table(content: bytes, name: str, shared: bool, as_texts: bool) -> ReadTable:
    content, mark, remarks = _plain(content)
    head = content[:SAMPLE_BYTES].decode("utf-8", "ignore").replace("\r\n", "\n").replace("\r", "\n")
    comments = re.match(r"(?:#.*\n)*", head)[0].splitlines()  # type: ignore[index]
    mark, rows = _rows(head.split("\n", len(comments))[-1], mark)
    regular = _commonest_width(rows)[1] >= MIN_REGULAR * len(rows)
    if mark == " " and not regular and (aligned := _aligned(content, len(rows[0][1]), shared)):
        return _csv_table(aligned, name, shared, as_texts)
    if not rows:
        raise DataError(f"{name!r} has no row of cells: it needs rows of inputs and a target.")
    columns = _commonest_width(rows)[0]
    _check_size(name, len(rows), columns, shared)
    cells = [row for _, row in rows]
    typed = [{at: number(cell) for at, cell in enumerate(row) if cell.lower() not in MISSING} for row in cells]
    numbers = Counter(at for row in typed for at, one in row.items() if one)
    of_numbers = {at for at, count in Counter(at for row in typed for at in row).items() if numbers[at] >= count / 2}
    heads, above = _rows_above(cells, typed, of_numbers, columns)
    header = _names(heads, cells[above:], columns)
    if not header and comments and _commonest_width(named := _split(comments[-1].lstrip("# "), mark))[0] == columns:
        header = named[0][1]
    if above == len(rows):
        raise DataError(f"{name!r} has a header but no rows under it: add some data.")
    below = typed[above:]
    texts = {at for row in below for at, one in row.items() if one is None or one.unit}
    plain = {at for row in below for at in row} - texts
    missing = {cell for row in cells[above:] for at, cell in enumerate(row) if at in plain and cell.lower() in MISSING}
    written = [one for row in typed for one in row.values() if one]
    comma = mark != "," and sum(math.isnan(one.point) - math.isnan(one.comma) for one in written) > 0
    how = {
        "sep": r"\s+" if mark == " " else mark,
        "header": None,
        "dtype": {at: str for at in range(columns + 1) if as_texts or at not in plain},  # TRUE as it is written
        "keep_default_na": False,
        "na_values": {at: NOT_A_NUMBER if at in plain and not as_texts else [""] for at in range(columns + 1)},
        "skipinitialspace": f'{mark} "' in head,  # slow, but only then quotes begin a cell
        "decimal": "," if comma else ".",
        "nrows": MAX_ROWS + 1 if shared else None,
        "low_memory": False,
    }
    skipped = len(comments) + rows[above][0]
    frame, longer = _cells(content, name, skipped, columns, len(rows[above][1]) > columns, how)
    if longer:
        remarks.append(f"rows with too many cells: {longer:,}, left out")
    _check_size(name, len(frame), columns, shared)
    frame, within = _without_other_rows(frame, header)
    others = len(comments) + above - bool(header) + within
    if others:
        remarks.append(f"lines that are no rows of the table: {others}, left out")
    if words := sorted(missing - {""}):
        remarks.append(f"read as missing: {quoted(words)} in columns of numbers")
    if comma:
        remarks.append("decimal commas: 3,14 is read as 3.14")
    names = header or list(numbered(columns))
    full = [at for at in range(columns) if names[at] or not frame[at].isna().all()]  # the others: an extra separator
    frame = frame if len(full) == columns else frame[full]
    frame.columns = unique([names[at] for at in full])
    return ReadTable(frame, comma, remarks)


def _aligned(content: bytes, names: int, shared: bool) -> bytes:
    """Turn cells that stand below each other, and may hold spaces, into CSV; return b"" if they do not."""
    import pandas as pd

    most = MAX_ROWS + 1 if shared else content.count(b"\n") + 1
    frame = pd.read_fwf(io.BytesIO(content), infer_nrows=most, nrows=most, header=None, dtype=str)
    fits = names > 1 and frame.shape[1] - names in (0, 1)  # one more for the names of rows
    return b"sep=,\n" + bytes(frame.to_csv(header=False, index=False).encode()) if fits else b""


def _cells(
    content: bytes, name: str, skipped: int, columns: int, wide: bool, how: dict[str, Any]
) -> tuple[pd.DataFrame, int]:
    """Let pandas read the cells below the skipped lines; return how many rows with more cells were left out, too.

    wide: whether the first row has more cells.
    """
    import pandas as pd

    ends = itertools.islice(re.finditer(rb"\r\n?|\n", content), max(skipped - 1, 0), None)
    start = next(ends).end() if skipped else 0  # pandas itself would skip lines more slowly

    def read(columns: range, used: range | None = None) -> pd.DataFrame:
        body = io.BytesIO(content)
        body.seek(start)
        return pd.read_csv(body, names=columns, usecols=used, **how)

    if not wide:  # otherwise pandas would take the first cells of each row for its name
        with contextlib.suppress(pd.errors.ParserError):  # a later row is longer
            return read(range(columns)), 0
    one_more = range(columns + 1)  # for what is too much in some rows
    try:
        frame = read(one_more, one_more)
    except pd.errors.ParserError:
        raise DataError(f"{name!r} cannot be split into cells: look for an unclosed quotation mark.") from None
    fits = frame.pop(columns).isna()
    return frame[fits], int((~fits).sum())


def _plain(content: bytes) -> tuple[bytes, str, list[str]]:
    """Turn other forms of a table into lines of cells; return them, the separator if the file tells it, and remarks."""
    head = content[:SAMPLE_BYTES]
    if setting := re.match(rb'"?sep=([ -~\t])"?\r?\n', head, re.IGNORECASE):  # a line for Excel
        return content[setting.end() :], setting[1].decode(), []
    if re.match(rb"(?:%.*\n|\s)*@relation\b", head, re.IGNORECASE):
        attributes, *rest = re.split(r"(?im)^@data\s*$", re.sub(r"(?m)^%.*\n?", "", content.decode()), maxsplit=1)
        names = ",".join(name.strip("'\"") for name in _ATTRIBUTE.findall(attributes))
        body = [re.sub(r"'([^'\n]*)'", r'"\1"', part) for part in rest]
        return "\n".join([names, *body]).encode(), "", ["read as ARFF"]
    if "│".encode() in head:  # a printed table
        return content.decode().translate(str.maketrans("│┆┃║", "||||")).encode(), "", []
    return content, "", []


def _rows(text: str, mark: str) -> tuple[str, list[Row]]:
    """Return the separator and the first rows."""
    found = {one: _split(text, one) for one in ([mark] if mark else MARKS)}
    regular = {one: count / len(rows) for one, rows in found.items() if (count := _commonest_width(rows)[1])}
    if regular.keys() - {"\t", " "}:  # cells between other marks may hold spaces
        regular.pop(" ", None)
    likely = [one for one in regular if regular[one] > max(regular.values()) - NEARLY_AS_GOOD]
    if len(likely) > 1:
        cells = {one: [cell for _, row in found[one] for cell in row][:SAMPLE_CELLS] for one in likely}
        good = {  # cells that are numbers or, which counts a little less, hold no other separator
            one: np.mean([1.0 if number(cell) else 0.8 * ({*likely} - {one}).isdisjoint(cell) for cell in cells[one]])
            for one in likely
        }
        likely = [one for one in likely if good[one] > max(good.values()) - NEARLY_AS_GOOD]
    mark = max(likely, key=lambda one: round(regular[one], 2), default=mark or ",")  # of equals, the first
    return mark, found[mark]


def _split(text: str, mark: str) -> list[Row]:
    """Return the first rows that are neither blank nor a ruled line."""
    lines: Iterable[str] = io.StringIO(text)
    if mark == " ":
        lines = (" ".join(line.split()) for line in lines)
    reader = csv.reader(lines, delimiter=mark, skipinitialspace=True)
    rows, start = [], 0
    try:
        for cells in itertools.islice(reader, SAMPLE_ROWS):
            cells = [cell.strip() for cell in cells]
            if any(cells) and not (RULED.issuperset("".join(cells)) and max(map(len, cells)) > 2):
                rows.append((start, cells))
            start = reader.line_num
    except csv.Error:
        return []
    return rows


def _commonest_width(rows: Sequence[Row]) -> tuple[int, int]:
    """Return the commonest number of cells of a row, and of how many rows; 0 rows if that is one cell."""
    widths = Counter(len(cells) for _, cells in rows if sum(map(bool, cells)) > 1 or len(cells) == 1)
    width, count = widths.most_common(1)[0] if widths else (1, 0)
    return width, count if width > 1 else 0


def _rows_above(
    rows: Sequence[list[str]], typed: Sequence[dict[int, ReadNumber | None]], of_numbers: set[int], columns: int
) -> tuple[list[list[str]], int]:
    """Return which rows above the data may hold the names of columns, and how many rows stand there.

    These have no number in any column of numbers: titles, the names, units. Without texts in these columns, the first
    full row holds the names unless other rows repeat its texts. typed: numbers of the cells that are not missing.
    """
    filled = [sum(map(bool, cells)) for cells in rows]
    sparse = statistics.median(filled) <= columns / 2
    heads: list[list[str]] = []
    for above, (cells, count, row) in enumerate(zip(rows, filled, typed, strict=True)):
        if columns - 1 > len(cells) or any(cells[columns:]) or (count <= columns / 2 and not sparse):
            continue
        numbers = [one for at, one in row.items() if at in of_numbers]
        data = any(numbers) if numbers else bool(heads) or not _are_names(cells, rows[above + 1 :])
        if data:
            return heads, above
        heads.append(cells)
    return heads, len(rows)


def _names(heads: Sequence[list[str]], below: Sequence[list[str]], columns: int) -> list[str]:
    """Return the names of the columns; none if there are none."""
    heads = [cells for cells in heads if len(cells) >= columns] or heads[-1:]
    if not heads:
        return []
    names = heads[0]
    if len(names) < columns and any(cells[columns - 1] for cells in below if len(cells) == columns):
        names = ["", *names]  # R leaves out the name of the row names
    return [*names, ""][:columns]


def _are_names(first: list[str], below: Sequence[list[str]]) -> bool:
    """Return whether a row of texts names the columns: most of its cells occur in no other row."""
    others = [{cells[at] for cells in below if at < len(cells) and cells != first} for at in range(len(first))]
    again = [cell in texts for cell, texts in zip(first, others, strict=True) if cell]
    return sum(again) <= len(again) / 2 and not any(is_number(cell) or _DATE.match(cell) for cell in first)


def _without_other_rows(frame: pd.DataFrame, header: Sequence[str]) -> tuple[pd.DataFrame, int]:
    """Leave out comments, repeated headers and, at the end, totals and notes; return the others, and their number."""
    gone = np.zeros(len(frame), bool)
    first = frame[0]
    if len(frame.columns) > 1 and first.dtype.kind not in "iufb":
        likely = np.flatnonzero(first.str.startswith("#").fillna(False) | first.isin(header[:1]))
        part = frame.iloc[likely]
        gone[likely] = part.iloc[:, 1:].isna().all(axis=1) | (part == (header or [""] * len(part.columns))).all(axis=1)
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
    numbers: Counter[str] = Counter()  # the last one tried for a name, so that many equal names take no longer
    for name in (" ".join(str(name).split())[:MAX_NAME] for name in names):
        free = name
        while free in taken:
            numbers[name] += 1
            free = f"{name} ({numbers[name] + 1})"
        taken[free] = None
    return list(taken)
