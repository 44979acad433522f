"""The doctor's verdict, or a remark, on records that are made up for one row of its table, on both sides of thresholds."""

import pytest

from lab.training.config import Config
from lab.training.doctor import REMARKS, diagnose

ORIGIN = {
    "train_loss": 0.9, "val_loss": 0.9, "train_accuracy": 0.5, "val_accuracy": 0.5, "baseline_train_loss": 0.6,
    "baseline_val_loss": 0.6, "baseline_train_accuracy": 0.7, "baseline_val_accuracy": 0.7, "train_samples": 400,
    "val_samples": 100, "classes": 2,
}  # read by rows  # fmt: skip


def run(epochs, **columns):
    """Records of so many epochs; each column is a number, a dict, or a function of the epoch."""

    def record(epoch):
        given = {name: value(epoch) if callable(value) else value for name, value in columns.items()}
        one = {"train_loss": 0.5, "train_accuracy": 0.8, "val_accuracy": 0.8, "origin": ORIGIN} | given
        gap = one["train_accuracy"] and one["train_accuracy"] - one["val_accuracy"]
        return {"epoch": epoch, "val_loss": one["train_loss"], "gap": gap} | one

    return [record(epoch) for epoch in range(1, epochs + 1)]


def off(share):
    return run(9, dead_units=lambda e: {"layer1": share if e > 3 else 0.1, "layer2": 0.2})


def rising(to, training=0.3, ahead=0.1):
    """Validation loss has its minimum in epoch 8 and rises from there, while training loss falls."""
    losses = {
        "train_loss": lambda e: 0.5 if e <= 8 else training,
        "val_loss": lambda e: 0.6 - 0.01 * e if e <= 8 else to,
    }
    return run(14, **losses, train_accuracy=0.8 + ahead)


def creeping(step):
    return run(15, train_loss=lambda e: 0.6 - e / 100, update_ratio={"layer1": step})


def learned(**columns):
    return run(12, **{"train_loss": lambda e: 0.5 / e, "train_accuracy": 0.97, "val_accuracy": 0.96} | columns)


def shrinking(to, loss=0.4):
    """The weights of a layer shrink to this share of their size."""

    def histogram(size):
        return {"edges": [-2 * size, -size, 0.0, size, 2 * size], "counts": [1, 0, 0, 1], "below": 0, "above": 0}

    return run(12, train_loss=loss, weight_histogram=lambda e: {"layer1": histogram(1 if e == 1 else to)})


def swinging(high, low=0.5):
    return run(14, train_loss=lambda e: high if e % 2 else low)


def norms(hidden, last=0.5, epochs=6):
    return run(epochs, grad_norm={"layer1": hidden, "layer2": 0.5, "layer3": last})


def wrong_labels(rows):
    return run(5, train_accuracy=0.7, val_accuracy=0.95, origin=ORIGIN | {"val_samples": rows})


def others(val_loss):
    """Training loss is below the plain answer's, validation loss is this."""
    return run(14, train_loss=lambda e: 0.5 - e / 1000, val_loss=val_loss, val_accuracy=0.7)


VERDICTS = {
    "a layer dies": (off(1.0), {}, "dying"),
    "units are off": (off(0.6), {}, "off"),
    "at a rate far above usual": (off(0.8), {"lr": 0.03}, "rate-high"),
    "validation loss rises": (rising(0.7), {}, "overfitting"),
    "by little": (rising(0.58), {}, None),
    "it creeps": (creeping(0.0001), {}, "rate-low"),
    "steps are as usual": (creeping(0.003), {}, None),
    "straight, at a tenth of the rate": (creeping(0.003), {"lr": 1e-4}, "rate-low"),
    "and is clipped": ([one | {"clipped": 1.0} for one in creeping(0.0001)], {"clip": 0.01}, "clipped"),
    "a penalty shrinks weights": (shrinking(0.8), {"weight_decay": 0.2}, "collapsed"),
    "it does no harm": (shrinking(0.8, loss=0.25), {"weight_decay": 0.2}, None),
    "no large penalty": (shrinking(0.8), {"weight_decay": 0.1}, None),
    "the loss swings": (swinging(0.8), {}, "rate-high"),
    "near its minimum": (swinging(0.52), {}, None),
    "far below the plain answer": (swinging(0.16, 0.1), {}, None),
    "the first step": (run(10, train_loss=lambda e: 5.0 if e == 1 else 0.6), {"lr": 0.003}, "rate-high"),
    "is overcome": (run(10, train_loss=lambda e: 5.0 if e == 1 else 0.5), {"lr": 0.003}, None),
    "gradients vanish": (norms(0.005), {}, "vanishing"),
    "they arrive": (norms(0.05), {}, None),
    "gradients explode": (norms(12.0), {}, "exploding"),
    "large norms do no harm": ([one | {"train_loss": 0.2, "val_loss": 0.2} for one in norms(12.0)], {}, "large"),
    "labels are wrong": (wrong_labels(100), {}, "noise"),
    "too few to say so": (wrong_labels(20), {}, None),
    "it helps nobody": (others(0.62), {}, "chance"),
    "it helps": (others(0.4), {}, None),
    "straight lines": (run(12, train_loss=0.58, train_accuracy=0.7), {"hidden": (2,)}, "underfitting"),
    "may have met the noise": (run(12, train_loss=0.4), {"hidden": (2,)}, "settled"),
    "it has learned": (learned(), {}, "healthy"),
    "validation relapsed": (learned(val_loss=lambda e: 0.04 if e < 8 else 0.09), {}, "unsettled"),
    "with a gap": (learned(val_accuracy=0.9), {}, "unsettled"),
    "on a few rows": (learned(origin=ORIGIN | {"val_samples": 20}), {}, "few"),
    "it jumps": (run(12, train_loss=lambda e: 1.1 if e == 12 else 0.5 - e / 100), {}, "unsettled"),
    "it still learns": (run(7, train_loss=lambda e: 0.6 - e / 50), {}, "learning"),
}  # fmt: skip


@pytest.mark.parametrize("name", VERDICTS)
def test_a_row_fits_on_one_side_of_its_threshold(name):
    records, settings, key = VERDICTS[name]
    found = diagnose(records, Config(**settings))
    told = [sentence for finding in found for sentence in finding.evidence]
    assert len(told) == len(set(told))
    if key is None or key in REMARKS:
        assert found[0].well, found[0]
        assert key in [None, *(remark.key for remark in found[1:])]
    else:
        assert found[0].key == key
