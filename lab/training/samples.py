"""Raw data as the readers return them before the split, and the error for unusable data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

MAX_CELL = 1e100  # the square of a larger number could overflow when its column's deviation is computed
Choices = tuple[tuple[str, bool], ...]  # the columns of a table that may be inputs, and whether they are


class DataError(ValueError):
    """The data cannot be used. The message says, in one line, what is wrong and what to do.

    choices: the inputs of a table, if leaving out some of them helps.
    """

    def __init__(self, message: str, choices: Choices = ()) -> None:
        super().__init__(message)
        self.choices = choices


class TargetError(DataError):
    """A column of a table cannot be the target, or not in this task; another one may be."""


class Cell(NamedTuple):
    """Where a feature comes from: a column; the text for which it is 1, or the format of the dates that it counts."""

    column: str
    text: str | None = None
    date: str | None = None


class TableSettings(NamedTuple):
    """What is chosen about a table, as in `Config`. encoding: what a text was read from."""

    target: str | None = None
    task: str | None = None
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    encoding: str | None = None


@dataclass(frozen=True)
class Raw:
    """Samples as a reader returns them: inputs (samples, features) as stored, and a label for each sample.

    labels: class indices, or the target (float64) if there are no classes. columns: names of the features, for errors;
    empty for images. A feature that is nan is missing. cells: where each feature of a table comes from.
    remarks: sentences about what the reader had to decide. choices: of a table. encoding: what it was read from.
    """

    inputs: np.ndarray
    labels: np.ndarray
    classes: tuple[str, ...]
    note: str
    columns: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    image_shape: tuple[int, int] | None = None
    cells: tuple[Cell, ...] = ()
    choices: Choices = ()
    encoding: str = ""


def numbered(columns: int) -> tuple[str, ...]:
    """Return the names "column 1", "column 2", ... for a table without a header."""
    return tuple(f"column {number}" for number in range(1, columns + 1))
