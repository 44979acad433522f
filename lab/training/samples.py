"""What the readers of data hand over, and the error for what cannot be used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LARGEST_CELL = 1e100  # the square of a larger number overflows while we measure its column's deviation


class DataError(ValueError):
    """The data cannot be used. The message is one sentence for the learner: what is wrong, and what to do."""


Cell = tuple[str, str | None]  # what a feature of a table is read from


@dataclass(frozen=True)
class Raw:
    """What a reader hands over: blocks of rows (samples, features) as stored, and one class index per sample; where
    there are no classes, one number (float64) per sample.

    columns: the names of the features, for errors; they have none in images. A feature that is nan is missing.
    cells: for each feature of a table the column that it comes from, and the text for which it is 1; None for numbers.
    remarks: what the reader had to decide, as sentences.
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
    """Names for columns that have none."""
    return tuple(f"column {number}" for number in range(1, columns + 1))
