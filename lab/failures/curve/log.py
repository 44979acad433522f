"""Read the numbers of a log and their names: a record is a line, a row of a table, a dict, or one update of a bar.

Nothing here knows a program that writes logs. A number belongs to the name beside it; a list of numbers to the name
before it; a row of numbers to the header above it. What the names mean is told in roles.py.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import dropwhile, zip_longest
from typing import Any, NamedTuple

from lab.failures.curve import roles
from lab.failures.curve.literal import read_literal
from lab.failures.curve.roles import COUNTER_WORD, COUNTERS, FILLERS, OF_WORD, heading, is_phase, is_score, phase, role
from lab.text.encoding import decode

MAX_BYTES = 400_000
MAX_ROWS = 50_000
MAX_NAME = 80  # characters of a column's name
MAX_NUMBER = 100  # characters of a number
MAX_WORDS = 5  # of a name
MAX_HEADER = 4  # lines of a header, with those drawn below it
MAX_LINE = 20_000  # characters of a header, or of a line of names and numbers
OVERFLOW_LIMIT = 1e100  # larger numbers count as inf: no training survives them
LESS = "Paste or export fewer of them, such as one for each epoch."

DELIMITERS = ("\t", "|", ";", ",", "&", " ", "  ")  # of cells; "  ": two or more spaces
GAPS = {"", "-", "–", "none", "null", "n/a", "na", "#n/a", "?", "no log"}
VALUES = {"value", "values"}  # names of a column that is the only one
UNNAMED = "column {}"  # of a row without names
COUNTER = "number {}"  # of an integer without a name at the beginning of a line
MAX_COUNTERS = 2  # of these in a record: epoch and step
COUNTER_NAMES = tuple(COUNTER.format(at) for at in range(1, MAX_COUNTERS + 1))
MAX_LINES = 8_000  # with names beside numbers
MAX_UNNAMED_ROW = 4  # a longer list without a name is a column

_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_COLOURS = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b\n]{0,200}\x07")  # of a terminal
_UPDATES = re.compile(r"\r\n|[\r\x08\x0b\x0c\x85\u2028\u2029]+")  # what begins a line, or draws it again
_SIGNS = str.maketrans("：，＝｜（）；、。−\u00a0\u202f│┃║┆┇┊┋", ":,=|();,;-  |||||||", "\u200b\ufeff")
_TIMES = re.compile(
    r"(?<![\d.])(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}T?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,3}:\d\d(?!\d)(?::\d\d(?:[.,]\d+)?)?Z?)"
    r"|(?<![\w.])[\w.]{1,80}:[\w<>]{1,80}:\d+(?=\s-\s)|(?<![\w./\\-])[\w./\\-]{1,80}\.(?:py|cc|cpp|cu|h|js|jl)\b(?::\d+)?"
)
_CALL = re.compile(r"(?i)(?<![\w.])([^\W\d][\w.]{0,60})\((-?(?:" + _NUMBER + r"|nan|inf))(?:,[^()]{0,200})?\)")
_NUMERAL = re.compile(r"[-+]?(?:" + _NUMBER + r"|nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_SHARE = re.compile(r"([-+]?" + _NUMBER + r")\s?%|(\d+)\s?/\s?\d+")  # 91 %, or 3/20
_DECIMAL_COMMA, _DECIMAL_POINT = re.compile(r"(?<=\d),(?=\d)"), re.compile(r"\d\.\d")
_COMMA_OF_CELLS = re.compile(r"[^\W\d],[^\W\d]|\d,\d{1,20},\d|[\[{]\s{0,9}[\d\"']")
_THOUSANDS = re.compile(r"(?<![\d.,\[])(\d{1,3})((?:,\d{3})+)(?![\d,])")
_OBJECT = re.compile(
    r"\s*(?:([^\W\d][\w./'-]*(?: [\w./'-]+){0,4})(?:\s*[:=]\s*|\s+))?(?=(?:[^\W\d][\w.]{0,40}\()?[\[{(])"
)
_WORD = r"(?!(?:nan|inf|infinity)\b)[^\W\d][\w.@/°%'’&-]*"
_COUNT = (  # 3/40, 3 of 40, 3 epochs (of 40)
    rf"(?P<count>\d+)(?:\s?(?=\w)(?P<counted>{COUNTER_WORD}))?\s{{0,3}}(?:/|[,(/]?\s{{0,3}}(?:{OF_WORD}))"
    rf"\s{{0,3}}(?P<total>\d+)(?:(?:\s(?=[^\x00-\u2e7f]))?(?P<behind>{COUNTER_WORD}))?(?![\w.])"
)
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_.])" + _COUNT + "|"
    r"(?<![A-Za-z0-9_.])(?P<number>(?:(?<![^\s:=(\[|,;~])[-+])?(?:" + _NUMBER + r"|(?:nan|inf|infinity)\b)|∞)"
    r"(?:st\b|nd\b|rd\b|th\b|(?P<unit>\s?%|[A-Za-zµ]+(?:/\w+)?))?"
    r"|(?P<name>" + _WORD + r"(?:(?: [(\[]?|[(\[])" + _WORD + r")*)",
    re.IGNORECASE,
)
_NAMED_CELL = re.compile(r"[^\W\d][\"')\]]{0,2}\s{0,9}[:=](?:\s|$|[-+.\d])")  # a number with a name beside it
_BEFORE_COUNT = re.compile(  # in a script without spaces, and behind the name of a counter, as in epoch3
    rf"(?<=[\u3040-\ud7ff])(?=\d)|(?<!\w)(?=[^\W\d_]+\d)(?:{COUNTER_WORD})(?=\d{{1,9}}(?!\w|\.\d))", re.IGNORECASE
)
_HARD = re.compile(r"[,;·]")  # no name belongs to a number behind one of these
_PLAIN = re.compile(r" ?\(?")  # between a number and the name after it
_IS_TEXT = re.compile(r"=\s?[\"']?$")  # before a word that is the value of a name
_HAS_NUMBER = re.compile(r"\d|nan|inf|∞", re.IGNORECASE)
_STARTS_WITH_NAME = re.compile(r"\s*[^\W\dnNiI]")
_MEANT = re.compile(r"\w|∞")
_REST_OF_LINE = re.compile(r"[ ,;\t]*$", re.MULTILINE)  # behind an object that fills its lines


class LogError(ValueError):
    """A text that is no log. The message says in one or two sentences what is wrong and what to do."""


@dataclass
class LogRecords:
    """The named numbers of a text.

    rows    a record each: name -> number; a name that a record lacks has a gap there
    starts  where a new table, list or object begins
    loose   names whose nan may be a blank: those of tables, which some programs fill up with it
    texts   how many cells of a column hold text in place of a number
    unread  how many lines hold no number with a name
    """

    rows: list[dict[str, float]] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    loose: set[str] = field(default_factory=set)
    texts: Counter[str] = field(default_factory=Counter)
    unread: int = 0
    lists: dict[str, Sequence[float | None]] = field(default_factory=dict)  # columns that are no rows yet
    runs: dict[str, int] = field(default_factory=dict)  # the number of each run that has a name

    def add(self, row: Mapping[str, float]) -> None:
        if row:
            self.end_lists()
            self.rows.append({name[:MAX_NAME]: number for name, number in row.items()})
        if len(self.rows) > MAX_ROWS:
            raise LogError(f"It has more than {MAX_ROWS:,} records, the limit here. {LESS}")

    def add_cells(self, cells: Iterable[tuple[str, Any]]) -> None:
        """Add a record of numbers and texts with names. A text may name a run, or the part that the others are of."""
        row: dict[str, float] = {}
        part = ""
        for name, cell in cells:
            value = number(cell) if isinstance(cell, str) else cell if type(cell) is float else None
            if value is not None:
                row[name] = value
            elif isinstance(cell, str) and role(name) == "run":
                row[name] = float(self.runs.setdefault(cell, len(self.runs) + 1))
            elif isinstance(cell, str) and cell.lower() not in GAPS:
                self.texts[name] += 1
                part = part or (cell if len(cell) < MAX_NAME and is_phase(cell) else "")
        row.pop("", None)
        self.add({f"{part} {name}" if part and is_score(name) and not phase(name) else name: row[name] for name in row})

    def begin(self) -> None:
        """Begin a new part, whose numbers may belong to another run."""
        self.end_lists()
        if self.starts[-1] != len(self.rows):
            self.starts.append(len(self.rows))

    def add_lists(self, lists: Mapping[str, Sequence[float | None]]) -> None:
        """Add lists as columns, beside those that stand before them, or below if one has the name of another one."""
        if any(self.lists.get(name, numbers) != numbers for name, numbers in lists.items()):
            self.end_lists()
        self.lists |= lists

    def end_lists(self) -> None:
        """Add the lists that stand together as rows."""
        lists, self.lists = self.lists, {}
        if lists:
            self.begin()
        for cells in zip_longest(*lists.values()):
            row = {name: cell for name, cell in zip(lists, cells, strict=True) if cell is not None}
            self.add(row or dict.fromkeys(lists, math.nan))


def read(source: str | bytes) -> LogRecords:
    """Read the named numbers of a text. Raises LogError if it is too large, or no text."""
    text = _CALL.sub(lambda found: found[0] if role(found[1]) else found[2], _text(source))
    if _has_decimal_commas(text):
        text = _DECIMAL_COMMA.sub(".", text)
    lines = text.split("\n")
    log = LogRecords()
    reader = _Lines(lines, log)
    place = at = 0
    while at < len(lines):
        found = _OBJECT.match(lines[at])
        end = _read_object(text, place + found.end(), found[1] or "", log) if found else 0
        after = at + text.count("\n", place, end) + 1 if end else reader.read(at)
        place += sum(len(line) + 1 for line in lines[at:after])
        at = after
    log.end_lists()
    return log


def _text(source: str | bytes) -> str:
    raw = source if isinstance(source, bytes) else source.encode("utf-8", "replace")
    if len(raw) > MAX_BYTES:
        raise LogError(f"That is {len(raw) / 1000:,.0f} kB, and the limit is {MAX_BYTES / 1000:g} kB. {LESS}")
    try:
        source = decode(raw)[0] if isinstance(source, bytes) else source
    except UnicodeError:
        source = "\0"
    if "\0" in source:
        raise LogError("That is a binary file, not text.")
    return _UPDATES.sub("\n", _COLOURS.sub("", source)).translate(_SIGNS)


def _has_decimal_commas(text: str) -> bool:
    """Return whether "0,693" is one number: no number has a point, and no comma stands between other cells."""
    text = _TIMES.sub(" ", text)
    return bool(_DECIMAL_COMMA.search(text)) and not (_DECIMAL_POINT.search(text) or _COMMA_OF_CELLS.search(text))


def number(cell: str) -> float | None:
    """Return the number in a cell, in any common notation, nan and inf included; None for anything else."""
    if len(cell) > MAX_NUMBER or not _HAS_NUMBER.search(cell):
        return None
    if not _NUMERAL.fullmatch(cell):
        cell = cell.strip(" \"'\t\\").replace("∞", "inf")
        share = _SHARE.fullmatch(cell)
        cell = share[1] or share[2] if share else cell
        if not _NUMERAL.fullmatch(cell):
            return None
    value = float(cell)
    return math.copysign(math.inf, value) if abs(value) >= OVERFLOW_LIMIT else value


# ---------------------------------------------------------------- lists and dicts


def _read_object(text: str, at: int, name: str, log: LogRecords) -> int:
    """Read a list or a dict that fills its lines. Return its end, 0 if there is none."""
    try:
        value, end = read_literal(text, at)
    except ValueError:
        return 0
    if not _REST_OF_LINE.match(text, end):
        return 0
    before = len(log.rows)
    _add_value(value, name, log)
    return end if log.lists or len(log.rows) != before else 0


def _add_value(value: Any, name: str, log: LogRecords) -> None:
    """Add a dict, a list of dicts, a column, or rows of numbers without names."""
    if isinstance(value, dict):
        _add_dict(value, name, log)
    elif _is_list_of_numbers(value) and (name or len(value) > MAX_UNNAMED_ROW):
        log.add_lists({name or UNNAMED.format(1): value})
    elif isinstance(value, list):
        if any(isinstance(item, dict) for item in value):
            log.begin()
        for item in [value] if _is_list_of_numbers(value) else value:
            if isinstance(item, dict):
                _add_dict(item, "", log)
            elif _is_list_of_numbers(item):
                log.add_cells(_numbered(item))


def _is_list_of_numbers(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(item is None or type(item) is float for item in value)


def _add_dict(value: dict[str, Any], name: str, log: LogRecords) -> None:
    """Add a dict: as a record; or the records, or else the lists of losses, in it."""
    flat = dict(_flatten(value, f"{name}/" if name else ""))
    inside = {key: item for key, item in flat.items() if isinstance(item, list)}
    for key, item in inside.items():
        if any(isinstance(row, dict) for row in item):
            _add_value(item, key, log)
            flat = {}
    lists = {key: item for key, item in inside.items() if flat and _is_list_of_numbers(item)}
    if any(is_score(key) or key.lower() in VALUES for key in lists):
        log.add_lists(lists)
        return
    ended = value.get("diverged") is True  # in this lab's records None is then inf or nan
    log.add_cells((key, math.nan if item is None and ended else item) for key, item in flat.items())


def _flatten(value: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    """Yield what is in a dict, those of inner dicts with names such as "train/loss"."""
    for name, item in value.items():
        if not isinstance(item, dict):
            yield f"{before}{name}", item
        elif "counts" not in item:  # a histogram of this lab's records
            yield from _flatten(item, f"{before}{name}/")


# ---------------------------------------------------------------- lines


class _Token(NamedTuple):
    """A name in a line, or else a number. gap: what stands before it."""

    gap: str
    name: str = ""
    value: float | None = None  # None: a number with a unit, which is no loss
    total: float | None = None  # 20 in 3/20
    percent: bool = False

    @property
    def counts(self) -> bool:
        return self.value is not None and self.value.is_integer() and not self.percent


class _Lines:
    """Reads line after line: as a row of a table, or else for numbers with names beside them."""

    def __init__(self, lines: Sequence[str], log: LogRecords) -> None:
        self.lines, self.log = [*lines, *[""] * (MAX_HEADER + 1)], log
        self.count = 0  # lines with names beside numbers
        self.header: list[str] = []
        self.delimiter = ""
        self.numeric: list[bool] = []  # which cells of the first row are numbers
        self.heading = ""  # a line above that says training or validation

    def read(self, at: int) -> int:
        """Read the line with this index, with its neighbours if it begins a table. Return the index of the next one."""
        line = self.lines[at]
        if not _MEANT.search(line):
            self.heading = self.heading if line.strip() else ""
            return at + 1
        if self.header and self._fits(cells := _cells(line, self.delimiter)):
            self.log.add_cells(zip(self.header, cells, strict=False))
            return at + 1
        if after := self._begin_table(at):
            return after
        for bare in () if _STARTS_WITH_NAME.match(line) else (line, _TIMES.sub(" ", line)):
            cells = _cells(bare, next((sign for sign in "\t;,|" if sign in bare), " "))
            if all(number(cell) is not None or cell.lower() in GAPS for cell in cells) and {*cells} - GAPS:
                self.log.add_cells(_numbered(cells))
                self.log.loose |= dict(_numbered(cells)).keys()
                return at + 1
        self._add_text(line)
        return at + 1

    # ------------------------------------------------------------ tables

    def _begin_table(self, at: int) -> int:
        """Take a line as a header if a row that fits follows it. Return the index of that row; 0 if it is none."""
        line, below = self.lines[at : at + 2]
        if number(below) is not None and (role(line.strip()) or line.strip().lower() in VALUES):
            return self._take_header([line.strip()], ",", [True], at + 1)
        beside = len(line) > MAX_LINE or _NAMED_CELL.search(line) or _NAMED_CELL.search(below)
        if beside or not any(map(_HAS_NUMBER.search, self.lines[at + 1 : at + 1 + MAX_HEADER])):
            return 0
        for delimiter in (sign for sign in DELIMITERS if sign in line):
            header, spaced = _cells(line, delimiter), delimiter.startswith(" ")
            named = sum(map(bool, header))
            if named < 2 or 2 * named <= len(header) or any(number(cell) is not None for cell in header):
                continue
            after = at + 1  # what is drawn below a header, or the types of its columns, is left out
            while after <= at + MAX_HEADER and not any(map(_is_known, _cells(self.lines[after], delimiter))):
                after += 1
            cells = _cells(self.lines[after], delimiter) or [""]
            if spaced and line.startswith(" ") and len(cells) == len(header) + 1 and number(cells[0]) is not None:
                header = ["", *header]  # the rows are numbered
            numeric = [number(cell) is not None for cell in cells[: len(header)]]
            if sum(numeric) >= (len(header) / 2 if spaced else 1) and (
                len(cells) == len(header) or (spaced and len(cells) > len(header))
            ):
                return self._take_header(header, delimiter, numeric, after)
        return 0

    def _take_header(self, header: list[str], delimiter: str, numeric: list[bool], after: int) -> int:
        if header != self.header:
            self.log.begin()
        self.header, self.delimiter, self.numeric = header, delimiter, numeric
        self.log.loose |= set(header)
        return after

    def _fits(self, cells: Sequence[str]) -> bool:
        """Return whether cells are a row of the header: between spaces with numbers where the first one has them."""
        numeric = [number(cell) is not None for cell in cells[: len(self.header)]]
        if not self.delimiter.startswith(" "):
            return any(numeric) and (len(cells) > 1 or len(self.header) == 1)
        return len(cells) >= len(self.header) and all(
            is_number == was or cell.lower() in GAPS
            for is_number, was, cell in zip(numeric, self.numeric, cells, strict=False)
        )

    # ------------------------------------------------------------ numbers with names beside them

    def _add_text(self, line: str) -> None:
        if not _HAS_NUMBER.search(line):
            self.log.unread += 1
            self.heading = (heading(line) if len(line) < MAX_NAME else "") or self.heading
            return
        self.count += 1
        if self.count > MAX_LINES:
            raise LogError(f"It has more than {MAX_LINES:,} lines of text, the limit here. {LESS}")
        line = _TIMES.sub(" · ", line[:MAX_LINE])
        if "," in line:
            line = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), line)
        line = _BEFORE_COUNT.sub(r"\g<0> ", line)
        pairs = list(self._pairs([*_tokens(line)]))
        if any(token and role(name) in COUNTERS for name, token in pairs):
            self.heading = ""
        row = self._named(pairs)
        self.log.add(row)
        self.log.unread += not row

    def _pairs(self, tokens: Sequence[_Token]) -> Iterator[tuple[str, _Token | None]]:
        """Yield names with their numbers, and names without one: a number belongs to the name before it, or else to
        the one after it, and an integer without any counts something."""
        at, named, counted = 0, "", 0
        ahead: list[_Token | None] = [*tokens, None, None]
        while token := ahead[at]:
            after, then = ahead[at + 1 : at + 3]
            at += 1
            if token.name:
                own = after and not after.name and not _HARD.search(after.gap)
                named = token.name if own else ""
                yield token.name, after if named else None
                at += bool(named)
            elif (
                after
                and after.name
                and _PLAIN.fullmatch(after.gap)
                and (not then or then.name or _HARD.search(then.gap))  # else it is the name of that number
            ):
                yield after.name, token
                at += 1
            elif token.counts and counted < MAX_COUNTERS and (token.total or not named or role(named) in COUNTERS):
                counted += 1
                yield COUNTER.format(counted), token

    def _named(self, pairs: Sequence[tuple[str, _Token | None]]) -> dict[str, float]:
        """Return the numbers of a line by name. What stands before them says whether they are of training or of
        validation, where their own names do not."""
        row: dict[str, float] = {}
        often = Counter(name for name, token in pairs if token)
        above, last = self.heading, ""
        for name, token in pairs:
            scored, is_accuracy = is_score(name), (role(name) or "").endswith("accuracy")
            if not (token and scored):
                above = heading(name) or above
            if not token:
                continue
            last = phase(name) or last
            before = above or (last if often[name] > 1 or is_accuracy else "")
            if scored and before and not phase(name):
                name = f"{before} {name}"
            if token.value is not None:
                row.setdefault(name, token.value / (token.total or 1 if is_accuracy else 1))
        return row


def _cells(line: str, delimiter: str) -> list[str]:
    """Split a line into cells."""
    if delimiter.strip(" ") == "":
        return re.split(r" {2,}|\t", line.strip()) if len(delimiter) > 1 else line.split()
    line = line.strip(" \r") if delimiter == "|" else line.removesuffix("\r")
    if delimiter == "|" and line.endswith("|"):  # else an empty first cell stands before the first sign
        line = line[:-1].removeprefix("|")
    if '"' in line:
        try:
            return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]
        except csv.Error:  # a cell is too long
            pass
    return [cell.strip(" \\") for cell in line.split(delimiter)]


def _is_known(cell: str) -> bool:
    return number(cell) is not None or role(cell) is not None


def _numbered(cells: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield cells with the names of columns that have none."""
    return ((UNNAMED.format(at), cell) for at, cell in enumerate(cells, 1))


def _tokens(line: str) -> Iterator[_Token]:
    """Yield the numbers and names of a line."""
    end, counts = 0, False
    for found in _TOKEN.finditer(line):
        gap, end = line[end : found.start()], found.end()
        if not found["name"]:
            token = _number_token(found, gap)
            if not (counts and token.percent):  # the share done
                yield token
            if counter := found["counted"] or found["behind"] or (_is_counted(found["unit"]) and found["unit"]):
                yield _Token("", counter)
            counts = False
            continue
        for name in _names(found["name"], "=" in gap and bool(_IS_TEXT.search(gap))):
            yield _Token(gap, name)
            gap, counts = " ", role(name) in COUNTERS


def _number_token(found: re.Match[str], gap: str) -> _Token:
    if found["count"]:
        return _Token(gap, value=number(found["count"]), total=number(found["total"]))
    unit = (found["unit"] or "").strip()
    known = unit in ("", "%") or _is_counted(unit)
    return _Token(gap, value=number(found["number"]) if known else None, percent=unit == "%")


def _is_counted(unit: str | None) -> bool:
    """Return whether a unit, such as that of "20epochs", makes the number before it a counter; "3ms/step" does not."""
    return unit is not None and "/" not in unit and role(unit) in COUNTERS


@lru_cache(maxsize=roles.MAX_CACHED)
def _names(text: str, is_text: bool) -> list[str]:
    """Return the names in some words: two if the first word is the value of another name."""
    words = [word.rstrip(".-/&'’") for word in re.split(r"[ (\[]+", text)]
    cut = int(is_text)
    return [name for name in (_without_fillers(words[:cut]), _without_fillers(words[cut:])) if name]


def _without_fillers(words: Sequence[str]) -> str:
    """Return a name without words such as "the" at its ends, and of a sentence only the end."""
    for _ in range(2):
        words = [*dropwhile(lambda word: not word or word.lower() in FILLERS, words)][::-1]
    return " ".join(words[-MAX_WORDS:])
