"""Facts about a table before training: its size, classes, useless columns, and the baseline that a network must beat.

`card(dataset)` measures them, `sentences(card)` puts them into words. The baseline ignores the inputs: it always
answers with the commonest class or, in a regression, with the mean of the training samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.text import counted, percent_text, short
from lab.training.datasets import Dataset

MIN_VALIDATION = 30  # rows held out: with fewer, a single row moves the accuracy by more than 3 points
MIN_IMBALANCE = 1.5  # share of the commonest class over an even share, from which all shares are listed
MAX_SHARES, MAX_NAMES = 5, 6  # classes and columns that a sentence lists
MIN_OTHERS = 10  # validation rows that are not of the commonest class: with fewer, accuracy says next to nothing
FAR = 12.0  # deviations of the other values: an input that lies farther from their mean is asked about
EXTREME, DECISIVE = 0.01, 0.25  # share of the rows that counts as extreme, and of the squared error that they may make
MAX_KNOWN_SHARE = 0.1  # of validation rows that are also training rows, before it is reported: a few can be chance


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

    train_rows, val_rows: samples; val_rows is 0 if none is held out. is_table: False for images. shares: (class, share
    of the training samples), the commonest first; empty in a regression. mean: of a regression's target, None for
    classes. constant: columns with the same number in every training row. known: validation rows
    whose inputs also occur in a training row. val_others: validation rows that are not of the commonest class, None in
    a regression. numbers_rows: True if the target numbers the rows. farthest: (column or target, value, deviations from
    the mean of the others) of values more than FAR deviations away.
    extreme_rows, extreme_share: how many rows are the most extreme hundredth by their target, and
    their share of the squared error of the mean; 0 for classes.
    """

    train_rows: int
    val_rows: int
    columns: int
    is_table: bool
    shares: tuple[tuple[str, float], ...]
    mean: float | None
    constant: tuple[str, ...]
    known: int
    val_others: int | None
    numbers_rows: bool
    farthest: tuple[tuple[str, float, float], ...]
    extreme_rows: int
    extreme_share: float
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
    known = baseline(data)
    held_out = len(data.val_x) if data.held_out else 0
    everything = data.train_x if not held_out else np.concatenate([data.train_x, data.val_x])
    extreme_rows, extreme_share = _extremes(data)
    constant = np.ptp(data.train_x, axis=0) == 0 if data.columns else np.zeros(0, bool)
    return DataCard(
        train_rows=len(data.train_x),
        val_rows=held_out,
        columns=data.train_x.shape[1],
        is_table=bool(data.columns),
        shares=shares,
        mean=data.target[0] if data.target else None,
        constant=tuple(name for name, same in zip(data.columns, constant, strict=True) if same),
        known=_known(data) if data.held_out else 0,
        val_others=None if known.val_accuracy is None else round(held_out * (1 - known.val_accuracy)),
        numbers_rows=data.target is not None and _numbers_rows(data.in_units(_targets(data))),
        farthest=_farthest(data, everything),
        extreme_rows=extreme_rows,
        extreme_share=extreme_share,
        baseline=known,
    )


def _farthest(data: Dataset, rows: np.ndarray) -> tuple[tuple[str, float, float], ...]:
    """Return the column, the value and its distance from the others, for each column's farthest value, if it is far.

    A value such as -9999 for a missing number may stand in many rows, so its own rows do not count as others.
    rows: the standardised inputs of all rows, (rows, columns).
    """
    columns = [(f"column {name!r}", rows[:, at], data.mean[at], data.scale[at]) for at, name in enumerate(data.columns)]
    if data.target:
        columns.append(("the target", _targets(data), *data.target))
    found = []
    for name, values, mean, scale in columns:
        values = values.astype(np.float64)
        value = values[np.abs(values).argmax()]
        others = values[values != value]
        deviation = others.std() if others.size else 0.0
        if deviation > 0 and (away := abs(value - others.mean()) / deviation) > FAR:  # of two values, none is far
            found.append((name, float(value * scale + mean), float(away)))
    return tuple(found)


def _targets(data: Dataset) -> np.ndarray:
    """Return the targets of all rows, each once."""
    return np.concatenate([data.train_y, data.val_y]) if data.held_out else data.train_y


def _extremes(data: Dataset) -> tuple[int, float]:
    """Return how many rows are the most extreme hundredth by their target, and their share of the squared error."""
    if data.target is None:
        return 0, 0.0
    errors = np.sort(_targets(data).astype(np.float64) ** 2)  # standardised: the mean is 0
    count = max(1, round(EXTREME * len(errors)))
    return count, float(errors[-count:].sum() / errors.sum())


def _known(data: Dataset) -> int:
    """Count the validation rows whose inputs also occur in a training row."""
    training = {row.tobytes() for row in data.train_x}
    return sum(row.tobytes() in training for row in data.val_x)


def _numbers_rows(values: np.ndarray) -> bool:
    """Tell whether the values, in any order, are whole numbers without a gap, each once: 1, 2, 3, ..."""
    return len(values) > 2 and bool(np.allclose(np.diff(np.sort(values)), 1, atol=0.01))


def sentences(card: DataCard) -> tuple[str, ...]:
    """Put the facts worth knowing before training into one sentence each; the baseline to beat always comes first."""
    lines = [_to_beat(card)]
    if card.constant:
        one = len(card.constant) == 1
        lines.append(
            f"{'column' if one else 'columns'} {_names(card.constant)}: the same number in every training row, so "
            f"{'it tells' if one else 'they tell'} the network nothing"
        )
    lines += [
        f"{name}: its most extreme value, {short(value, 4)}, lies {away:,.0f} standard deviations from "
        "the others: is it right, or should the cell be empty?"
        for name, value, away in card.farthest[:MAX_NAMES]
    ]
    if card.is_table and card.columns >= card.train_rows:
        lines.append(
            f"{counted(card.columns, 'column')} for {counted(card.train_rows, 'training row')}: a network can learn so "
            f"few rows by heart"
        )
    if 0 < card.val_rows < MIN_VALIDATION:
        rows = "row is" if card.val_rows == 1 else "rows are"
        each = f": each is {100 / card.val_rows:.0f} points of accuracy" if card.shares else ""
        lines.append(f"only {card.val_rows} {rows} held out for validation{each}, too few to prove anything")
    elif card.val_rows and card.val_others is not None and card.val_others < MIN_OTHERS:
        lines.append(
            f"of {card.val_rows} validation rows only {card.val_others} {'is' if card.val_others == 1 else 'are'} not "
            f"{card.shares[0][0]!r}: accuracy can hardly tell whether anything but that was learned"
        )
    if card.known > MAX_KNOWN_SHARE * card.val_rows:
        lines.append(
            f"{card.known} of {card.val_rows} validation rows have the same inputs as a training row: validation "
            "also rewards memorizing"
        )
    if card.numbers_rows:
        lines.append(
            "the target is a different whole number in each row, as if it numbered them: is it the right column?"
        )
    if card.extreme_share > DECISIVE:
        rows = "row" if card.extreme_rows == 1 else f"{card.extreme_rows} rows"
        verb = "makes" if card.extreme_rows == 1 else "make"
        lines.append(
            f"the {rows} with the most extreme target {verb} {card.extreme_share:.0%} of the squared error of always "
            "answering with the mean: the loss is mostly about such rows"
        )
    return tuple(lines)


def _to_beat(card: DataCard) -> str:
    if not card.shares:
        return f"baseline: always predicting the mean, {_plain(card.mean)}, scores an R² of 0"
    name, share = card.shares[0]
    even = share < MIN_IMBALANCE / len(card.shares)
    listed = ", ".join(f"{other} {percent_text(part, 1)}" for other, part in card.shares[:MAX_SHARES])
    more = ", ..." if len(card.shares) > MAX_SHARES else ""
    which = "" if even else f" ({listed}{more})"
    return f"baseline: always predicting {name!r} scores {percent_text(share, 1)} on the training rows{which}"


def _plain(mean: float | None) -> str:
    """Format the mean of a target: large numbers in full."""
    return f"{mean:,.0f}" if mean is not None and 1e4 <= abs(mean) < 1e9 else short(mean, 4)


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(map(repr, names[:MAX_NAMES])) + more
