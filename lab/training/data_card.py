"""Facts about a table before training: its size, classes, far values, and the baseline that a network must beat.

The baseline ignores the inputs: it always answers with the commonest class or, in a regression, with the mean of the
training samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from lab.text import percent_text, short
from lab.training.datasets import Dataset
from lab.training.records import Baseline

MIN_VALIDATION = 30  # rows held out: with fewer, a single row moves the accuracy by more than 3 points
MIN_IMBALANCE = 1.5  # share of the commonest class over an even share, from which all shares are listed
MAX_SHARES, MAX_NAMES = 5, 6  # classes that a sentence lists, and columns that are asked about
MIN_OTHERS = 10  # validation rows that are not of the commonest class: with fewer, accuracy says next to nothing
FAR = 12.0  # deviations of the other values: an input that lies farther from their mean is asked about


def baseline(data: Dataset) -> Baseline:
    """Measure the answer that ignores the inputs, on the training and on the validation samples."""
    if not data.classes:
        mean = float(data.train_y.mean(dtype=np.float64))
        losses = [float(np.mean((part.astype(np.float64) - mean) ** 2)) for part in (data.train_y, data.val_y)]
        accuracies: list[float | None] = [None, None]
    else:
        # Add one sample to each class: a class missing from the training samples keeps a probability above 0.
        counts = np.bincount(data.train_y, minlength=len(data.classes)) + 1
        log_shares = np.log(counts / counts.sum())
        losses = [float(-log_shares[part].mean()) for part in (data.train_y, data.val_y)]
        accuracies = [float(np.mean(part == counts.argmax())) for part in (data.train_y, data.val_y)]
    return {
        "baseline_train_loss": losses[0],
        "baseline_val_loss": losses[1],
        "baseline_train_accuracy": accuracies[0],
        "baseline_val_accuracy": accuracies[1],
    }


def remarks(data: Dataset) -> tuple[str, ...]:
    """Say what is worth knowing before training, one sentence for each fact; the baseline to beat comes first."""
    found = [_to_beat(data)]
    if data.columns:
        found += islice(_far_values(data), MAX_NAMES)
    if data.held_out:
        found += _few_to_validate(data)
    return tuple(found)


def _shares(data: Dataset) -> list[tuple[str, float]]:
    """Return each class with its share of the training samples, the commonest first."""
    shares = np.bincount(data.train_y, minlength=len(data.classes)) / len(data.train_y)
    return [(data.classes[at], float(shares[at])) for at in np.argsort(-shares, kind="stable")]


def _to_beat(data: Dataset) -> str:
    if data.target:
        mean = data.target[0]
        in_full = f"{mean:,.0f}" if 1e4 <= abs(mean) < 1e9 else short(mean, 4)
        return f"baseline: always predicting the mean, {in_full}, scores an R² of 0"
    shares = _shares(data)
    name, share = shares[0]
    listed = ", ".join(f"{other} {percent_text(part, 1)}" for other, part in shares[:MAX_SHARES])
    more = ", ..." if len(shares) > MAX_SHARES else ""
    which = "" if share < MIN_IMBALANCE / len(shares) else f" ({listed}{more})"
    return f"baseline: always predicting {name!r} scores {percent_text(share, 1)} on the training rows{which}"


def _far_values(data: Dataset) -> Iterator[str]:
    """Ask about each column's farthest value, if it is far from the others.

    A value such as -9999 for a missing number may stand in many rows, so its own rows do not count as others.
    """
    rows, targets = data.train_x, data.train_y
    if data.held_out:
        rows, targets = np.concatenate([rows, data.val_x]), np.concatenate([targets, data.val_y])
    columns = [(f"column {name!r}", rows[:, at], data.mean[at], data.scale[at]) for at, name in enumerate(data.columns)]
    if data.target:
        columns.append(("the target", targets, *data.target))
    for name, values, mean, scale in columns:
        values = values.astype(np.float64)
        value = values[np.abs(values).argmax()]
        others = values[(values != value) & (np.abs(values) > 1e-9)]  # cells that were empty are 0, the mean
        deviation = others.std() if others.size else 0.0
        if deviation > 1e-9 and (away := abs(value - others.mean()) / deviation) > FAR:  # of two values, none is far
            yield (
                f"{name}: its most extreme value, {short(float(value * scale + mean), 4)}, lies {away:,.0f} standard "
                "deviations from the others: is it right, or should the cell be empty?"
            )


def _few_to_validate(data: Dataset) -> Iterator[str]:
    rows = len(data.val_x)
    if rows < MIN_VALIDATION:
        each = f": each is {100 / rows:.0f} points of accuracy" if data.classes else ""
        are = "row is" if rows == 1 else "rows are"
        yield f"only {rows} {are} held out for validation{each}, too few to prove anything"
    elif data.classes:
        commonest = _shares(data)[0][0]
        others = int(np.sum(data.val_y != data.classes.index(commonest)))
        if others < MIN_OTHERS:
            yield (
                f"of {rows} validation rows only {others} {'is' if others == 1 else 'are'} not {commonest!r}: accuracy "
                "can hardly tell whether anything but that was learned"
            )
