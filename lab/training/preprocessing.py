"""Preprocessing of samples: split them, fill in missing values, and standardise the inputs.

Only the training samples tell the means and deviations: the validation samples must stay unseen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lab.training.samples import DataError, TargetError

MIN_SCALE = 1e-150  # the square of a smaller number underflows
MAX_DEVIATIONS = 1e9  # from the mean: float32 cannot tell the other samples apart next to a sample farther out


def split(
    labels: np.ndarray, classes: tuple[str, ...], val_fraction: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Split samples at random, each class by itself; return the row numbers for training and for validation.

    Each class, and a regression as a whole, gives `val_fraction` of its samples to validation, rounded, at least one
    and never all; none if it is 0. Raises DataError for one with too few samples, and when there is only one class.
    """
    if len(classes) == 1:
        raise TargetError(f"There is only one class, {classes[0]!r}: a classifier needs samples of at least two.")
    if not classes and len(labels) < 2:
        raise DataError("There is only one sample, but at least two are needed, one to train and one to validate.")
    train, val = [], []
    for index, name in enumerate(classes or ("",)):
        rows = rng.permutation(np.flatnonzero(labels == index) if classes else len(labels))
        if len(rows) < (2 if val_fraction else 1):
            raise TargetError(
                f"The class {name!r} has {'only one sample' if rows.size else 'no sample'}, but it needs at least two, "
                f"one to train and one to validate: add samples or remove the class."
            )
        held_out = min(max(round(len(rows) * val_fraction), 1), len(rows) - 1) if val_fraction else 0
        val.append(rows[:held_out])
        train.append(rows[held_out:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(val))


def fill_missing(name: str, columns: Sequence[str], train_x: np.ndarray, val_x: np.ndarray) -> None:
    """Replace missing numbers by their column's mean over the training samples. Raises DataError if these have none."""
    for index in np.flatnonzero(np.isnan(train_x).any(axis=0) | np.isnan(val_x).any(axis=0)).tolist():
        known = train_x[~np.isnan(train_x[:, index]), index]
        if not known.size:
            raise DataError(f"{name}: no training sample has a number in {columns[index]!r}: fill some of its cells.")
        for part in (train_x, val_x):
            part[np.isnan(part[:, index]), index] = known.mean()


def standardise(
    name: str, columns: Sequence[str], train_x: np.ndarray, val_x: np.ndarray, pixels: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Subtract the training mean from each column and divide it by the deviation, in place; return both.

    All pixels share one mean and one deviation: divided by its own, a pixel that is hardly ever set in the training
    images would be a huge input in the few images that set it. Raises DataError for columns that cannot be told apart.
    """
    constant = np.ptp(train_x, axis=0) == 0
    if not pixels and constant.all() and len(train_x) > 1:
        one, several = f"the only input, {columns[0]!r}, is", f"each of the {len(columns)} inputs is"
        raise DataError(
            f"{name}: {one if len(columns) == 1 else several} the same in every training row, so no network can "
            "tell rows apart: add a column that varies."
        )
    mean = train_x.mean(axis=0, dtype=np.float64)
    if pixels:
        mean = mean.mean()
    train_x -= mean
    val_x -= mean
    variance = np.einsum("ij,ij->j", train_x, train_x, dtype=np.float64) / len(train_x)
    scale = np.sqrt(variance.mean()) if pixels else np.sqrt(variance)
    scale = np.where(constant.all() if pixels else constant, 1.0, scale)
    farthest = [] if pixels else np.abs(val_x).max(axis=0, initial=0.0)  # of images it would copy all
    for column, spread, far in () if pixels else zip(columns, scale, farthest, strict=True):
        if spread < MIN_SCALE or far > MAX_DEVIATIONS * spread:
            raise DataError(
                f"{name}: the numbers of {column!r} differ by too little, or one lies too far from the others, to be "
                f"told apart: multiply them all by the same large number, or correct that one."
            )
    train_x /= scale
    val_x /= scale
    return mean, scale
