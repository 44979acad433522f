"""Facts about a table before training: its size, classes, useless columns, and the baseline that a network must beat.

`card(dataset)` measures them, `sentences(card)` puts them into words. The baseline ignores the inputs: it always
answers with the commonest class or, in a regression, with the mean of the training samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lab.training.datasets import Dataset

MIN_VALIDATION = 30  # rows held out: with fewer, a single row moves the accuracy by more than 3 points
MIN_IMBALANCE = 1.5  # share of the commonest class over an even share, from which all shares are listed
MAX_SHARES, MAX_NAMES = 5, 6  # classes and columns that a sentence lists
MAX_COMPARED = 200  # columns that are compared in pairs
MAX_KNOWN_SHARE = 0.1  # of validation rows that are also training rows, before it is reported: a few can be chance
COPY_TOLERANCE = 1e-5  # largest difference between two standardised columns that count as copies


@dataclass(frozen=True)
class Baseline:
    """Loss and accuracy of the best answer that ignores the inputs.

    train_loss, val_loss: when the class shares of the training samples are the predicted probabilities; in a
    regression, when the prediction is their mean. train_accuracy, val_accuracy: of the commonest class; None in a
    regression.
    """

    train_loss: float
    val_loss: float
    train_accuracy: float | None
    val_accuracy: float | None


@dataclass(frozen=True)
class DataCard:
    """Facts about a dataset.

    train_rows, val_rows: samples; val_rows is 0 if none is held out. shares: (class, share of the training samples),
    the commonest first; empty in a regression. mean: of a regression's target, None for classes. constant: columns
    with the same number in every training row. copies: pairs of columns that differ only in their unit. known:
    validation rows whose inputs also occur in a training row. numbers_rows: True if the target is a row number.
    """

    train_rows: int
    val_rows: int
    columns: int
    shares: tuple[tuple[str, float], ...]
    mean: float | None
    constant: tuple[str, ...]
    copies: tuple[tuple[str, str], ...]
    known: int
    numbers_rows: bool
    baseline: Baseline


def baseline(data: Dataset) -> Baseline:
    """Measure the answer that ignores the inputs, on the training and on the validation samples."""
    if not data.classes:
        mean = float(data.train_y.mean(dtype=np.float64))
        train, val = (float(np.mean((part.astype(np.float64) - mean) ** 2)) for part in (data.train_y, data.val_y))
        return Baseline(train, val, None, None)
    # Add one sample to each class: a class missing from the training samples keeps a probability above 0.
    counts = np.bincount(data.train_y, minlength=len(data.classes)) + 1
    log_shares = np.log(counts / counts.sum())
    commonest = int(counts.argmax())
    train, val = (float(-log_shares[part].mean()) for part in (data.train_y, data.val_y))
    return Baseline(train, val, *(float(np.mean(part == commonest)) for part in (data.train_y, data.val_y)))


def card(data: Dataset) -> DataCard:
    """Measure the facts about a dataset that are worth knowing before training."""
    shares: tuple[tuple[str, float], ...] = ()
    if data.classes:
        found = np.bincount(data.train_y, minlength=len(data.classes)) / len(data.train_y)
        shares = tuple((data.classes[i], float(found[i])) for i in np.argsort(-found, kind="stable"))
    constant = np.ptp(data.train_x, axis=0) == 0 if data.columns else np.zeros(0, bool)
    return DataCard(
        train_rows=len(data.train_x),
        val_rows=len(data.val_x) if data.held_out else 0,
        columns=data.train_x.shape[1],
        shares=shares,
        mean=data.target[0] if data.target else None,
        constant=tuple(name for name, same in zip(data.columns, constant, strict=True) if same),
        copies=_copies(data, ~constant),
        known=_known(data) if data.held_out else 0,
        numbers_rows=_numbers_rows(data),
        baseline=baseline(data),
    )


def _copies(data: Dataset, varied: np.ndarray) -> tuple[tuple[str, str], ...]:
    """Return the pairs of columns, among those that vary, that are equal once standardised."""
    at = np.flatnonzero(varied)
    if not 1 < len(at) <= MAX_COMPARED:
        return ()
    x = data.train_x[:, at]
    return tuple(
        (data.columns[at[i]], data.columns[at[j]])
        for i, j in combinations(range(len(at)), 2)
        if np.abs(x[:, i] - x[:, j]).max() < COPY_TOLERANCE
    )


def _known(data: Dataset) -> int:
    """Count the validation rows whose inputs also occur in a training row."""
    training = {row.tobytes() for row in data.train_x}
    return sum(row.tobytes() in training for row in data.val_x)


def _numbers_rows(data: Dataset) -> bool:
    """Return True if the target of a regression is a row number. The samples are in the order of their rows."""
    if data.target is None or len(data.train_y) < 3:
        return False
    steps = np.diff(data.train_y)
    rows = np.sort(data.in_units(np.concatenate([data.train_y, data.val_y[: len(data.val_y) * data.held_out]])))
    return bool(np.all(steps > 0) or np.all(steps < 0)) and bool(np.allclose(np.diff(rows), 1, atol=0.01))


def sentences(card: DataCard) -> tuple[str, ...]:
    """Put the facts worth knowing before training into one sentence each; the baseline to beat always comes first."""
    lines = [_to_beat(card)]
    if card.constant:
        one = len(card.constant) == 1
        lines.append(
            f"{'column' if one else 'columns'} {_names(card.constant)}: the same number in every training row, so "
            f"{'it tells' if one else 'they tell'} the network nothing"
        )
    lines += [f"columns {a!r} and {b!r}: identical except for their unit" for a, b in card.copies[:MAX_NAMES]]
    if 0 < card.val_rows < MIN_VALIDATION:
        rows = "row is" if card.val_rows == 1 else "rows are"
        each = f": each is {100 / card.val_rows:.0f} points of accuracy" if card.shares else ""
        lines.append(f"only {card.val_rows} {rows} held out for validation{each}, too few to prove anything")
    if card.known > MAX_KNOWN_SHARE * card.val_rows:
        lines.append(
            f"{card.known} of {card.val_rows} validation rows have the same inputs as a training row: validation "
            "also rewards memorizing"
        )
    if card.numbers_rows:
        lines.append("the target grows by 1 from row to row, as a row number does: is it the right column?")
    return tuple(lines)


def _to_beat(card: DataCard) -> str:
    if not card.shares:
        return f"to beat: always answering with the mean, {card.mean:.4g}, has R² 0"
    name, share = card.shares[0]
    even = share < MIN_IMBALANCE / len(card.shares)
    listed = ", ".join(f"{other} {part:.1%}" for other, part in card.shares[:MAX_SHARES])
    more = ", ..." if len(card.shares) > MAX_SHARES else ""
    which = "" if even else f" (training rows: {listed}{more})"
    return f"to beat: always answering {name!r} is right in {share:.1%}{which}"


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(map(repr, names[:MAX_NAMES])) + more
