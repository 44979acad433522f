"""Turn a table into samples: decide column by column what is an input, and say everything that was decided."""

from __future__ import annotations

import difflib
import errno
import itertools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from lab.text import encoding as text_encoding
from lab.text.numbers import is_number
from lab.training import columns, table_file
from lab.training.columns import TableColumn, quoted
from lab.training.samples import Cell, DataError, Raw, TableSettings, TargetError

MAX_TEXTS = 20  # different ones in a column of texts, each of which becomes an input
MAX_CODES = 10  # different whole numbers that are classes and no counts, if nobody says what for
MAX_INPUTS = 100  # of a visitor's table
MIN_TELLING = 10  # rows: in fewer, a column equals the target, or counts, by chance
MIN_RISING = 100  # whole numbers that rise from each row to the next, and are no measurements then
# Cells that are filled for one class only: other rows that may be, as a share of what chance would give, and the least
MAX_EXCEPTIONS, MIN_SURPRISE = 0.05, 10  # negative logarithm of the chance that all of them are of this class
MANY_DIGITS = 9  # of a number that is one of a list, if all have as many
SAMPLE = 100  # rows of two columns that are compared first
MAX_COMPARED = 200  # columns that a column is compared with
COPY_TOLERANCE = 1e-10  # how far below 1 the correlation of two columns that count as copies may be
_NAME_OF_ID = re.compile(r"(.*[\W_])?(id|nr|no|index|key|uuid|idx|#)\.?|.*[a-z](Id|ID)|unnamed: 0|", re.IGNORECASE)


def of_file(path: str, settings: TableSettings) -> Raw:
    """Read the samples in a file. Raises DataError."""
    text, encoding = table_file.utf8(_content(path), path, settings.encoding, settings.target or "")
    return of_text(text, path, settings._replace(encoding=encoding), shared=False)


def _content(path: str) -> bytes:
    if not path:
        raise DataError("csv: needs the path of a file: write for example --data csv:flowers.csv.")
    file = Path(os.path.expanduser(path))
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):  # reading one may wait for ever
            raise OSError(errno.EINVAL, "It is a pipe or a device")
        return file.read_bytes()
    except OSError as error:
        where = "" if file.is_absolute() else f" from {os.getcwd()!r}"
        raise DataError(f"{path!r} cannot be read{where} ({error.strerror}): check the path.") from None


def of_text(text: bytes, name: str, settings: TableSettings, shared: bool) -> Raw:
    """Turn a text in UTF-8 into raw samples: input columns, and the target column of classes or numbers.

    name: what to call the table. shared: keep to the limits of a server. Raises DataError.
    """
    table = table_file.read(text, name, shared)
    frame, names = table.frame, list(table.frame.columns)
    if len(names) < 2:
        raise DataError(
            f"{name!r} has only one column, but needs inputs and a target: separate its cells by commas, semicolons or "
            f"tabs."
        )
    wanted = names[-1] if settings.target is None else find_column(name, settings.target, names)
    dropped, kept = ({find_column(name, one, names) for one in given} for given in (settings.drop, settings.keep))
    if wanted in dropped:
        raise TargetError(f"{name!r}: the target {wanted!r} cannot be left out: choose another one.")
    read = [columns.read(frame[one], one, table.comma, one == wanted, settings.task) for one in names]
    answer = read.pop(names.index(wanted))
    encoding = settings.encoding or "utf-8"
    report = [*([] if text.isascii() else text_encoding.doubts(text.decode(), encoding)), *table.remarks]
    classes, rows = _classes(name, answer, settings.task, read, report)
    for column in read:
        column.values = column.values[rows] if not rows.all() else column.values
        _check_column(column)
        if column.name in dropped:
            column.unusable, column.about = "as you asked", ""
    answer.values = answer.values[rows]
    _doubt(read, answer, classes)
    for column in read:
        if column.name in kept:
            column.doubt = ""
    for column in read if not any(one.usable for one in read) else ():  # rather a doubtful input than none
        if column.doubt:
            column.remarks.append((f"used, although to be left out {column.doubt}", _about(column)))
        column.doubt = ""
    used = [column for column in read if column.usable]
    for column in used:
        column.fill_marks()
    out = [column for column in read if not column.usable]
    report += _together((f"left out, {column.unusable or column.doubt}", _about(column)) for column in out)
    report += _together(remark for column in [*used, answer] for remark in column.remarks)
    if not used:
        reasons = " ".join(f"{line[0].upper()}{line[1:]}." for line in report)
        raise DataError(f"{name!r} has no column left that can be an input. {reasons}")
    cells = [cell for column in used for cell in column.cells()]
    choices = tuple((one.name, one.usable) for one in read if not one.unusable or one.name in dropped)
    if shared and len(cells) > MAX_INPUTS:
        most = sorted(used, key=lambda column: -len(column.texts))
        raise DataError(
            f"{name!r} has {len(cells)} inputs, one for each different text of a column, and this page takes up to "
            f"{MAX_INPUTS}: leave out text columns such as {quoted([one.name for one in most])}, or "
            f"{table_file.ON_YOUR_MACHINE.format(name=name)}",
            choices,
        )
    block, at = np.empty((len(cells), np.count_nonzero(rows))), 0
    for column in used:
        column.write_inputs(block[at : (at := at + len(column.cells()))])
    texts = [repr(column.name) for column in used if column.texts]
    gaps = [f"{count:,} in {column.name!r}" for column in used if (count := np.count_nonzero(np.isnan(column.values)))]
    if texts:
        report.append(f"text columns: {', '.join(texts)}, one input for each different text")
    if gaps:
        report.append(f"missing cells: {', '.join(gaps)}, each replaced by the mean of its column's training samples")
    note = f"read as {text_encoding.described(encoding)}, target {wanted!r}{'' if classes else ' (regression)'}"
    titles = tuple(cell.column if cell.text is None else f"{cell.column} “{cell.text}”" for cell in cells)
    values = answer.values.astype(int) if classes else answer.values
    return Raw(block.T, values, classes, note, titles, tuple(report), None, tuple(cells), choices, encoding)


def _classes(
    name: str, answer: TableColumn, task: str | None, others: Sequence[TableColumn], report: list[str]
) -> tuple[tuple[str, ...], np.ndarray]:
    """Decide what the target is: return its classes, none in a regression, and which rows have a target.

    In a classification the values of `answer` become indices of the classes. Raises TargetError.
    """
    rows = ~np.isnan(answer.values)
    if not rows.any():
        raise TargetError(f"{name!r}: the target {answer.name!r} is empty: choose another target column.")
    if not rows.all():
        report.append(f"rows without a target: {(~rows).sum():,}, left out")
    if task == "regression" or (task is None and not answer.texts and _measured(answer.values[rows])):
        if answer.texts:
            raise TargetError(
                f"{name!r}: the target {answer.name!r} holds texts, such as {quoted(answer.texts[:1])}, but a "
                "regression needs numbers: choose another target column or the task classification."
            )
        return (), rows
    if not answer.texts:
        numbers, codes = np.unique(answer.values[rows], return_inverse=True)
        answer.texts = tuple(f"{value:.12g}" for value in numbers.tolist())
        answer.values = np.where(rows, 0.0, np.nan)
        answer.values[rows] = codes
    counts = np.bincount(answer.values[rows].astype(int), minlength=len(answer.texts))
    if len(counts) > max(MAX_TEXTS, rows.sum() / 2):
        fit = [
            one.name for one in others if len(one.texts) <= MAX_TEXTS and not (one.date or np.isnan(one.values).all())
        ]
        raise TargetError(
            f"{name!r}: the target {answer.name!r} has {len(counts)} different values in {rows.sum()} rows, such as "
            f"{answer.texts[0][:40]!r}, too many for classes: choose another target column"
            f"{', such as ' + quoted(fit) if fit else ''}"
            f"{f', or, since it has {answer.about}, the task regression' if answer.about else ''}."
        )
    several = counts > 1
    if several.sum() > 1 and not several.all():
        alone = [text for text, one in zip(answer.texts, several, strict=True) if not one]
        report.append(f"classes with a single row: {quoted(alone)}, left out{or_a_number(answer.texts)}")
        rows[rows] = several[answer.values[rows].astype(int)]
        answer.values = np.where(rows, np.searchsorted(np.flatnonzero(several), answer.values), np.nan)
        answer.texts = tuple(text for text, one in zip(answer.texts, several, strict=True) if one)
    return answer.texts, rows


def _measured(values: np.ndarray) -> bool:
    """Return whether a target looks like a measured number, which is predicted, and not like classes with numbers."""
    different, counts = np.unique(values, return_counts=True)
    ints = bool(np.all(different == np.round(different)))
    few = len(values) < 5 * len(different) and bool(counts.min() == 1)
    if len(different) <= 2:
        return few and not ints
    return few or not ints or len(different) > MAX_CODES


def or_a_number(classes: Sequence[str]) -> str:
    """Return the end of a sentence about classes: that numbers can be predicted as numbers; "" if they are none."""
    if len(classes) < 2 or not all(map(is_number, classes)):
        return ""
    return ", or, if the target is a number to predict, choose the task regression"


def _check_column(column: TableColumn) -> None:
    """Note why a column cannot be an input."""
    gaps = np.isnan(column.values)
    known = column.values[~gaps] if gaps.any() else column.values
    different = np.count_nonzero(np.bincount(known.astype(int))) if column.texts else 0
    if not known.size:
        column.unusable = "because empty"
    elif known.min() == known.max() and not (column.texts and len(known) <= len(gaps) / 2):  # a mark or nothing
        column.unusable = "because the same in every row"
    elif different > min(MAX_TEXTS, len(known) / 2):
        column.unusable = "because of too many different texts"
        column.about = f"{different} in {len(known)} rows{', ' if column.about else ''}{column.about}"
    elif different < len(column.texts):  # the others were in rows without a target
        present, codes = np.unique(known, return_inverse=True)
        column.texts = tuple(column.texts[int(code)] for code in present)
        column.values = column.values.copy()
        column.values[~gaps] = codes


def _doubt(read: Sequence[TableColumn], answer: TableColumn, classes: tuple[str, ...]) -> None:
    """Note why a column should not be an input: it numbers the rows, repeats another one, or gives the target away."""
    if len(answer.values) < MIN_TELLING:
        return
    kept: list[TableColumn] = []
    for column in (one for one in read if one.usable):
        others = (one for one in kept[-MAX_COMPARED:] if bool(one.texts) == bool(column.texts))
        if _is_id(column, column is read[0]):
            column.doubt = "because it only numbers the rows"
        elif _tells(column, answer.values, classes):
            column.doubt = "because it tells the target exactly"
        elif giveaway := _gaps_tell(column.values, answer.values, classes):
            column.doubt, column.about = "because whether a cell is empty gives the target away", giveaway
        elif twin := next((one.name for one in others if _alike(column.values, one.values)), None):
            column.doubt, column.about = "because it repeats another column", f"like {twin!r}"
        else:
            kept.append(column)
    for column in _siblings([one for one in kept if not one.texts], answer):
        column.doubt = "because exactly one of them and the target is 1 in each row"


def _is_id(column: TableColumn, first: bool) -> bool:
    """Return whether a column only names its row: whole numbers, all different, that it is called for or that count."""
    named, values = _NAME_OF_ID.fullmatch(column.name), column.values
    if column.texts or column.date or not np.array_equal(values, np.round(values)):
        return False
    steps = np.diff(values)
    counts = (values[0] in (0, 1) and np.all(steps == 1)) or (len(values) >= MIN_RISING and np.all(steps > 0))
    long = values.min() >= 10 ** (MANY_DIGITS - 1) and len(f"{values.min():.0f}") == len(f"{values.max():.0f}")
    return bool((first and counts) or ((named or long) and len(np.unique(values)) == len(values)))


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two columns differ in nothing but their unit: scaled and shifted, they are equal."""
    for part in (slice(SAMPLE), slice(None)):  # most columns differ in the first rows
        known = ~np.isnan(one[part])
        if not np.array_equal(known, ~np.isnan(other[part])):
            return False
        pair = np.stack([one[part][known], other[part][known]])
        first, second = pair - pair.mean(axis=1, keepdims=True)
        if abs(first @ second) < (1 - COPY_TOLERANCE) * np.linalg.norm(first) * np.linalg.norm(second):
            return False
    return True


def _tells(column: TableColumn, target: np.ndarray, classes: tuple[str, ...]) -> bool:
    """Return whether a column is the target in another unit or, of classes, each value belongs to one class only.

    Numbers may do so because classes lie apart, unless one of these has a single number.
    """
    values = column.values
    if not classes:
        return _alike(values, target)
    for part in (slice(SAMPLE), slice(None)):
        known = ~np.isnan(values[part])
        pairs = set(zip(values[part][known].tolist(), target[part][known].tolist(), strict=True))
        each = sorted(Counter(one for _, one in pairs).values())
        if len(pairs) > len({value for value, _ in pairs}) or not (column.texts or each[:1] == [1]):
            return False
    if len(each) < 2 or each[-1] == 1:
        return len(each) > 1
    apart = column.texts or (len(each) == 2 and each[0] == 1)
    return bool(apart and MIN_TELLING * len(column.texts or each) <= known.sum())


def _gaps_tell(values: np.ndarray, target: np.ndarray, classes: tuple[str, ...]) -> str:
    """Return that the filled cells of a column, or the empty ones, nearly all belong to one class, as is no chance."""
    gaps = np.isnan(values)
    shares = np.bincount(target.astype(int)) / len(target) if classes and gaps.any() else ()
    for part, which in ((~gaps, "filled"), (gaps, "empty")):
        count = np.count_nonzero(part)
        for code, share in enumerate(shares):
            others = np.count_nonzero(part & (target != code))
            if others <= MAX_EXCEPTIONS * (1 - share) * count and -np.log(share) * count > MIN_SURPRISE:
                return f"{which} nearly only for {classes[code]!r}"
    return ""


def _siblings(numbers: Sequence[TableColumn], answer: TableColumn) -> list[TableColumn]:
    """Return the columns of 0 and 1 of which, together with the target, exactly one is 1 in each row."""
    rest = answer.values == answer.values.min()
    if not np.all(rest | (answer.values == answer.values.max())):
        return []
    flags = [one for one in numbers if np.all((one.values == 0) | (one.values == 1))]
    apart = [one for one in flags if not np.any((one.values == 1) & ~rest)]
    stem = re.split(r"[_ =.]", answer.name)[0]
    for group in (apart, [one for one in apart if re.split(r"[_ =.]", one.name)[0] == stem]):
        if group and np.array_equal(np.sum([one.values for one in group], axis=0), rest):
            return group
    return []


def _about(column: TableColumn) -> str:
    return f"{column.name!r} ({column.about})" if column.about else repr(column.name)


def _together(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each kind of decision, with all columns that it was made about."""
    grouped: dict[str, list[str]] = {}
    for kind, about in pairs:
        grouped.setdefault(kind, []).append(about)
    return [f"{kind}: {', '.join(abouts)}" for kind, abouts in grouped.items()]


def find_column(path: str, wanted: str, names: Sequence[str]) -> str:
    """Return the name of the column that is meant by its name, or its number from 1. Raises DataError."""
    if wanted in names:
        return wanted
    if re.fullmatch("[0-9]{1,9}", wanted) and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    close = difflib.get_close_matches(wanted, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(names[:20])}."
    raise DataError(f"{path!r} has no column {wanted!r}: {hint}")


def inputs_of_file(
    path: str, cells: Sequence[Cell], encoding: str | None = None, warn: Callable[[str], object] = lambda _: None
) -> tuple[list[str], list[list[str]], np.ndarray]:
    """Read a table to be predicted: its header, its unchanged rows, and the network's inputs (rows, features).

    A missing number is nan. warn: is called with a sentence about the first text of each column that the network does
    not know. Raises DataError, for example for a column that the table lacks.
    """
    text, _ = table_file.utf8(_content(path), path, encoding)
    table = table_file.read(text, path, shared=False, as_texts=True)
    frame = table.frame.fillna("").astype(str)
    blocks = [np.empty((0, len(frame)))]
    for name, inputs in itertools.groupby(cells, key=lambda cell: cell.column):
        if name not in frame:
            raise DataError(
                f"{path!r} has no column {name!r}, which the network was trained on: add it, or begin the file with "
                "a row of column names."
            )
        block, unknown, how = columns.read_known(frame[name], list(inputs), table.comma)
        blocks.append(block)
        for at in np.flatnonzero(unknown)[:1].tolist():
            text = frame[name].iloc[at].strip()[:40]
            warn(
                f"{path!r}, row {at + 1} of the table, column {name!r}: {text!r} is unknown: the network was trained "
                f"only {how}."
            )
    return list(frame.columns), frame.to_numpy().tolist(), np.concatenate(blocks).T
