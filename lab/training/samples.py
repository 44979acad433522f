"""Raw data as the readers return them before the split, and the error for unusable data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MAX_CELL = 1e100  # the square of a larger number could overflow when its column's deviation is computed


class DataError(ValueError):
    """The data cannot be used. The message is one sentence for the learner: what is wrong, and what to do."""


class TargetError(DataError):
    """A column of the table cannot be the target; another one may be."""


Cell = tuple[str, str | None]  # a feature's column, and the text for which it is 1; None in a column of numbers


@dataclass(frozen=True)
class Raw:
    """Samples as a reader returns them: blocks of rows (samples, features) as stored, and a label for each sample.

    labels: class indices, or the target (float64) if there are no classes. columns: names of the features, for errors;
    empty for images. A feature that is nan is missing. cells: where each feature of a table comes from.
    remarks: sentences about what the reader had to decide.
    """

    blocks: list[np.ndarray]
    labels: np.ndarray
    classes: tuple[str, ...]
    note: str
    columns: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    image_shape: tuple[int, int] | None = None
    cells: tuple[Cell, ...] = ()


def numbered(columns: int) -> tuple[str, ...]:
    """Return the names "column 1", "column 2", ... for a table without a header."""
    return tuple(f"column {number}" for number in range(1, columns + 1))
