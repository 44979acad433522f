"""What a doctor would say of a training run: the history in, verdicts with evidence and a remedy out.

Each rule reads the records that `train.train` yields. `RULES` is the table: what was found, what to do, where to look,
and the function that finds it by the thresholds below. Their order is that of causes before consequences: a run whose
loss swings may also have dead units, and it is the swinging that has to stop first. `diagnose` returns every rule that
fits, the first being the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lab.training.config import Config
from lab.training.records import Histogram, Record, column

Evidence = tuple[list[str], int]  # sentences with numbers, and the epoch in which it begins to show

# ---------------------------------------------------------------- thresholds

FEWEST = 4  # epochs before there is a verdict at all, except for those that are plain from the first
BAND = (0.01, 5.0)  # where the norm of a layer's gradient usually lies
HIGH_NORM = 10.0
GROWTH = 2.0  # of a norm, from the first epoch to the last three
LOW_RATIO = 0.02  # norm of the first layer that learns, over that of the last
SWING, SWING_SHARE = 0.03, 0.04  # how much the loss rises per epoch, on average: as a number, and over its mean
CLIMB = 1.05  # last loss of an uphill run, over its first
DEAD, ALL_DEAD = 0.5, 0.95  # share of the units of a hidden layer
MIDDLE = 0.6  # share of a layer's weights in the two bins around 0
NOISY_GAP = 0.08  # training accuracy below validation accuracy
LOST = 0.03  # validation accuracy lost since its best epoch, while training accuracy rises
WIDE_GAP = 0.10
SLOW = 1.5e-4  # update-to-weight ratio, mean over the layers
FLAT = 0.05  # relative change of the loss over the whole run
LEARNED = 0.9  # training accuracy at which nobody asks why the loss has stopped falling


@dataclass(frozen=True)
class Rule:
    """One line of the table. `find` returns the evidence, or None where the rule does not fit."""

    key: str
    name: str
    remedy: str
    instrument: str  # which plot shows it: "loss", "gap", "norms", "updates", "histogram" or "dead units"
    find: Callable[[History], Evidence | None]


@dataclass(frozen=True)
class Finding:
    """A rule that fits. evidence: sentences with the numbers; epoch: where it begins to show."""

    key: str
    name: str
    evidence: tuple[str, ...]
    remedy: str
    instrument: str
    epoch: int

    def __str__(self) -> str:
        return f"{self.name}: {' '.join(self.evidence)} {self.remedy}"


class History:
    """The records as columns. A number that a record gives as None (inf or nan) is nan here; a key that it lacks makes
    an empty column, and the rules that need it do not fit."""

    def __init__(self, records: Sequence[Record], config: Config) -> None:
        self.records = records
        self.layers = config.layer_names
        self.epochs = [int(record["epoch"]) for record in records]
        self.loss = column(records, "train_loss")
        self.train_accuracy = column(records, "train_accuracy")
        self.val_accuracy = column(records, "val_accuracy")
        self.gap = self.train_accuracy - self.val_accuracy
        self.norms = _table(records, "grad_norm")
        self.updates = _table(records, "update_ratio")
        self.dead = _table(records, "dead_units")


def diagnose(records: Sequence[Record], config: Config) -> list[Finding]:
    """Every rule that fits the history, causes before consequences; never empty. The first is the verdict.

    records: what `train.train` yields, from the first epoch on; at least one. Of the histograms the first and the last
    are enough. config: the settings of the run.
    """
    if not records:
        raise ValueError("There is nothing to diagnose: train for at least one epoch.")
    history = History(records, config)
    return _fitting(RULES, history) or _fitting([HEALTHY if len(records) >= FEWEST else EARLY], history)


def _fitting(rules: Sequence[Rule], history: History) -> list[Finding]:
    findings = []
    for rule in rules:
        evidence = rule.find(history)
        if evidence is not None:
            sentences, epoch = evidence
            findings.append(Finding(rule.key, rule.name, tuple(sentences), rule.remedy, rule.instrument, epoch))
    return findings


# ---------------------------------------------------------------- the rules


def _climbing(h: History) -> Evidence | None:
    loss = h.loss[np.isfinite(h.loss)]
    first = loss[: max(FEWEST, len(loss) // 2)]
    if len(first) < FEWEST or not np.all(np.diff(first) > 0) or loss[-1] < CLIMB * loss[0]:
        return None
    return [f"The training loss climbs in every epoch, from {loss[0]:.3g} to {loss[-1]:.3g} in epoch {len(loss)}."], 2


def _overflow(h: History) -> Evidence | None:
    bad = np.flatnonzero(~np.isfinite(h.loss) | [bool(record.get("diverged")) for record in h.records])
    if not bad.size:
        return None
    at = int(bad[0])
    before = f"; one epoch before it was {h.loss[at - 1]:.3g}" if at and np.isfinite(h.loss[at - 1]) else ""
    sentences = [f"In epoch {h.epochs[at]} the training loss is no longer a number{before}."]
    largest = _largest(h.norms)
    if largest > HIGH_NORM:
        sentences.append(f"The largest gradient norm that was measured is {largest:.2g}.")
    return sentences, h.epochs[at]


def _flat(h: History) -> Evidence | None:
    if h.norms.shape[1] < 2 or not np.all(h.norms[0, :-1] == 0.0):
        return None
    histograms = h.records[0].get("weight_histogram", {})
    if not histograms or min(map(_middle, histograms.values())) < 1.0:
        return None
    return [
        f"After the first epoch all weights are still at 0, and the gradient norm of every layer but the last is "
        f"exactly 0; in epoch {h.epochs[-1]} the loss is {h.loss[-1]:.3g}, after {h.loss[0]:.3g} in the first."
    ], h.epochs[0]


def _dead_layer(h: History) -> Evidence | None:
    return _dead_units(h, ALL_DEAD)


def _dying(h: History) -> Evidence | None:
    return None if _dead_layer(h) else _dead_units(h, DEAD)


def _dead_units(h: History, share: float) -> Evidence | None:
    if not h.dead.size or h.dead[-1].max() < share:
        return None
    layer = int(np.argmax(h.dead[-1]))
    since = int(np.flatnonzero(h.dead[:, layer] >= share)[0])
    return [
        f"{h.dead[-1, layer]:.0%} of the units of {h.layers[layer]} give the same output for every sample "
        f"(since epoch {h.epochs[since]} at least {share:.0%}): no gradient passes through them."
    ], h.epochs[since]


def _piling(h: History) -> Evidence | None:
    if len(h.epochs) < FEWEST or not h.norms.size:
        return None
    first, last = h.norms[0], np.median(h.norms[-3:], axis=0)
    grown = np.flatnonzero((last >= GROWTH * first) & (last >= BAND[1]))
    if not grown.size:
        return None
    sentences = [
        f"The gradient norm of {h.layers[i]} grows from {first[i]:.2g} in the first epoch to {last[i]:.2g}."
        for i in grown
    ]
    return sentences, _first(h, h.norms[:, grown[0]] >= GROWTH * first[grown[0]])


def _swinging(h: History) -> Evidence | None:
    loss = h.loss[np.isfinite(h.loss)]
    if len(loss) < FEWEST:
        return None
    steps = np.diff(loss)
    rise = float(steps.clip(min=0).mean())
    if rise < SWING or rise < SWING_SHARE * loss.mean():
        return None
    count = int(np.sum(steps > 0))
    return [
        f"The training loss rises in {count} of {len(steps)} epochs, by {steps.max():.2g} at most; it lies between "
        f"{loss.min():.3g} and {loss.max():.3g}."
    ], _first(h, np.r_[False, steps > 0])


def _collapsed(h: History) -> Evidence | None:
    if "weight_histogram" not in h.records[-1]:
        return None
    shares = {name: _middle(histogram) for name, histogram in h.records[-1]["weight_histogram"].items()}
    collapsed = {name: share for name, share in shares.items() if share >= MIDDLE}
    if not collapsed:
        return None
    return [
        f"{share:.0%} of the weights of {name} lie in the two bins around 0 "
        f"({_middle(h.records[0]['weight_histogram'][name]):.0%} after the first epoch)."
        for name, share in collapsed.items()
    ], h.epochs[-1]


def _vanishing(h: History) -> Evidence | None:
    if h.norms.shape[1] < 3:
        return None
    hidden, last = h.norms[:, :-1].min(axis=1), h.norms[:, -1]
    low = (hidden > 0) & (hidden < LOW_RATIO * last)
    if low.mean() < 0.5:
        return None
    at = int(np.flatnonzero(low)[0])
    layer = h.layers[int(np.argmin(h.norms[at, :-1]))]
    return [
        f"In epoch {h.epochs[at]} the gradient norm of {layer} is {hidden[at]:.2g} and that of the last layer "
        f"{last[at]:.2g}: {last[at] / hidden[at]:.0f} times as much. It is like this in {int(low.sum())} of "
        f"{len(low)} epochs."
    ], h.epochs[at]


def _exploding(h: History) -> Evidence | None:
    if _largest(h.norms) <= HIGH_NORM:
        return None
    at, layer = np.unravel_index(np.nanargmax(h.norms), h.norms.shape)
    return [
        f"The gradient norm of {h.layers[layer]} is {h.norms[at, layer]:.2g} in epoch {h.epochs[at]}; "
        f"it usually lies between {BAND[0]} and {BAND[1]:g}."
    ], _first(h, np.any(h.norms > HIGH_NORM, axis=1))


def _noise(h: History) -> Evidence | None:
    if len(h.epochs) < FEWEST:
        return None
    smooth = np.convolve(h.gap, np.ones(3) / 3, mode="valid")
    if smooth.min() < -NOISY_GAP:
        at = int(np.argmin(smooth)) + 1
        return [
            f"In epoch {h.epochs[at]} the accuracy is {h.train_accuracy[at]:.0%} on the training samples and "
            f"{h.val_accuracy[at]:.0%} on samples never trained on: what it has learned fits better than the labels."
        ], h.epochs[at]
    best = int(np.argmax(h.val_accuracy[:-1]))
    lost = h.val_accuracy[best] - h.val_accuracy[-3:].mean()
    learned = h.train_accuracy[-3:].mean() - h.train_accuracy[best]
    if best > len(h.epochs) // 2 or lost < LOST or learned < LOST or h.train_accuracy[best] > LEARNED:
        return None
    return [
        f"Since epoch {h.epochs[best]} validation accuracy has fallen by {100 * lost:.0f} points, while training "
        f"accuracy has risen by {100 * learned:.0f}: what is learned now is wrong for other samples."
    ], h.epochs[best]


def _overfitting(h: History) -> Evidence | None:
    if len(h.epochs) < FEWEST:
        return None
    early, late = h.gap[: max(1, len(h.gap) // 4)].mean(), h.gap[-max(1, len(h.gap) // 4) :].mean()
    if not late > WIDE_GAP or (late <= early and h.train_accuracy[-1] < LEARNED):
        return None
    return [
        f"In epoch {h.epochs[-1]} training accuracy is {h.train_accuracy[-1]:.0%} and validation accuracy "
        f"{h.val_accuracy[-1]:.0%}, a gap of {100 * h.gap[-1]:.0f} points."
    ], _first(h, h.gap > WIDE_GAP)


def _slow(h: History) -> Evidence | None:
    if len(h.epochs) < FEWEST or not h.updates.size or h.train_accuracy[-1] > LEARNED:
        return None
    ratio = float(np.median(h.updates.mean(axis=1)))
    if not ratio < SLOW or np.mean(np.diff(h.loss) < 0) < 0.7:  # a ratio that is nan is not slow
        return None
    return [
        f"A step changes the weights by {ratio:.1g} of their size, and the loss creeps from {h.loss[0]:.3g} to "
        f"{h.loss[-1]:.3g} in {len(h.epochs)} epochs without a bend."
    ], h.epochs[0]


def _stuck(h: History) -> Evidence | None:
    if len(h.epochs) < FEWEST or h.train_accuracy[-1] > LEARNED:
        return None
    change = abs(h.loss[-3:].mean() / h.loss[1:3].mean() - 1)  # without the first epoch, which finds the level
    if not change < FLAT:
        return None
    return [
        f"From epoch {h.epochs[1]} to {h.epochs[-1]} the loss changes by {change:.1%} ({h.loss[1]:.3g} to "
        f"{h.loss[-1]:.3g}), though gradients arrive and the weights move; training accuracy ends at "
        f"{h.train_accuracy[-1]:.0%}."
    ], h.epochs[1]


def _healthy(h: History) -> Evidence:
    return [
        f"The training loss goes from {h.loss[0]:.3g} to {h.loss[-1]:.3g}, validation accuracy is "
        f"{h.val_accuracy[-1]:.1%} and the gap {100 * h.gap[-1]:+.1f} points."
    ], h.epochs[-1]


def _early(h: History) -> Evidence:
    return [f"Epochs so far: {len(h.epochs)}."], h.epochs[-1]


RULES = (
    Rule(
        "flat",
        "No gradient reaches the hidden layers",
        "Start from random weights (init he or xavier): with all weights 0 the units of a layer stay alike for ever.",
        "norms",
        _flat,
    ),
    Rule(
        "collapsed",
        "The weights have collapsed",
        "Lower the weight decay: it pulls harder than the loss.",
        "histogram",
        _collapsed,
    ),
    Rule(
        "climbing",
        "The loss climbs",
        "Look at the sign of the update: weights go against the gradient. Then at the sign of the loss.",
        "loss",
        _climbing,
    ),
    Rule(
        "overflow",
        "The loss is no longer a number",
        "Lower the learning rate, or clip the gradients (clip 1). If it happens in the first steps, look at the scale "
        "of the inputs and of the initial weights, and for a log or a division of 0.",
        "loss",
        _overflow,
    ),
    Rule(
        "piling",
        "Gradients pile up",
        "Call zero_grad() before every backward(), on an optimizer that holds all parameters. If that is in place, "
        "lower the learning rate.",
        "norms",
        _piling,
    ),
    Rule(
        "rate-high",
        "The loss swings: the learning rate is too high",
        "Divide the learning rate by 3 until the curve is smooth; with sgd, also look at the momentum.",
        "loss",
        _swinging,
    ),
    Rule(
        "dying",
        "A layer has died",
        "Nothing revives a dead layer: start again, with a lower learning rate, He initialisation or leaky_relu.",
        "dead units",
        _dead_layer,
    ),
    Rule(
        "dying",
        "Units die",
        "Lower the learning rate, start biases at 0 and weights with He initialisation, or use leaky_relu.",
        "dead units",
        _dying,
    ),
    Rule(
        "vanishing",
        "Gradients vanish on their way back",
        "Use relu instead of sigmoid or tanh, He initialisation, fewer layers, or shortcuts around them.",
        "norms",
        _vanishing,
    ),
    Rule(
        "exploding",
        "Gradients explode",
        "Initialise with he or xavier, which keep the scale from layer to layer; clip the gradients; make sure that "
        "zero_grad() comes before every backward().",
        "norms",
        _exploding,
    ),
    Rule(
        "rate-low",
        "The learning rate is too low",
        "Multiply the learning rate by 10 until the curve bends, then go back by 3.",
        "updates",
        _slow,
    ),
    Rule(
        "noise",
        "The labels are noisy",
        "Look at the training samples that the network gets wrong: their labels may be. Stop at the best epoch.",
        "gap",
        _noise,
    ),
    Rule(
        "overfitting",
        "The network overfits",
        "More data, a smaller network, weight decay, or stop at the best epoch.",
        "gap",
        _overfitting,
    ),
    Rule(
        "chance",
        "The loss does not move, though the weights do",
        "Look at what is compared: do labels belong to their samples, do predictions and targets have the same shape? "
        "(n, 1) against (n,) broadcasts to (n, n). Then try a larger network.",
        "loss",
        _stuck,
    ),
)
HEALTHY = Rule("healthy", "Healthy", "Nothing needs to change.", "loss", _healthy)
EARLY = Rule("early", "Too early to say", "Train on.", "loss", _early)


# ---------------------------------------------------------------- reading records


def _table(records: Sequence[Record], key: Literal["grad_norm", "update_ratio", "dead_units"]) -> np.ndarray:
    """(epochs, layers), or (epochs, 0) where the records lack the key."""
    rows = [[np.nan if value is None else value for value in record.get(key, {}).values()] for record in records]
    return np.array(rows, dtype=float).reshape(len(records), -1)


def _middle(histogram: Histogram) -> float:
    """The share of the weights in the two bins around 0."""
    counts = histogram["counts"]
    total = sum(counts) + histogram["below"] + histogram["above"]
    half = len(counts) // 2
    return (counts[half - 1] + counts[half]) / max(total, 1)  # weights that are nan lie in no bin


def _largest(values: np.ndarray) -> float:
    return float(np.max(values[np.isfinite(values)], initial=0.0))


def _first(h: History, condition: np.ndarray) -> int:
    return h.epochs[int(np.argmax(condition))]
