"""Remedies for the symptoms of a training run: a sentence and the settings to try.

A remedy only changes settings that exist (see `Config`) and never names one that is already in force.
`replace(config, **remedy.settings)` is the run to try next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from lab.training.config import DEFAULT_LR, Config, setting_text
from lab.training.datasets import SYNTHETIC_SAMPLES
from lab.training.run_history import PENALTIES, SOME_GAIN, History
from lab.training.symptoms import ALL_DEAD, MIN_GAIN, MOSTLY_DEAD

USUAL_UPDATE_RATIO = 3e-3  # update-to-weight ratio of a run that makes progress
MIN_RAISE, MAX_RAISE = 3.5, 1000.0  # factors by which a rate is raised at once; the smaller one reaches the next rung
NEAR = 3.0  # learning rate over the usual one: up to this it is lowered to a third
MAX_LOWERED = 10.0  # learning rate over the usual one, at most, after it was lowered
MAX_WIDTH, MAX_EPOCHS = 256, 300  # units of a layer and epochs that the page accepts
MAX_DECAY = 0.03  # weight decay of a remedy: more may itself stop a network from learning
SMALL = 16  # hidden units in total: with fewer, a larger network is worth trying
TIGHT = 0.5  # a clipping norm below it is raised, not removed


@dataclass(frozen=True)
class Remedy:
    """What to do, as a sentence and as settings; no settings if none would help."""

    text: str
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


RIGHT_LABELS = Remedy("Look at the training samples that the network gets wrong: their labels may be wrong.")
HOLD_MORE_OUT = Remedy("To know more, collect more rows, or hold more of them out.")
HOLD_SOME_OUT = Remedy("To know more, hold some of them out to validate: a fifth is usual.")
WAIT = Remedy("Train on.")
# For a learner's own training loop, whose mistakes no setting can fix
TURN_ROUND = Remedy("Check the sign of the update: weights move against the gradient. Then check the sign of the loss.")
ZERO_FIRST = Remedy("Call zero_grad() before every backward(), on an optimizer that holds all parameters.")
COMPARE_SHAPES = Remedy(
    "Check what is compared: do labels belong to their samples? Do predictions and targets have the same shape? "
    "(n, 1) against (n,) broadcasts to (n, n)."
)


def rung(rate: float) -> float:
    """Return the largest of ..., 0.1, 0.3, 1, 3, 10, ... that is not above a rate."""
    power = 10 ** math.floor(math.log10(rate) + 1e-9)
    return float(f"{(3 if rate >= 2.999 * power else 1) * power:.1g}")


def fitting_init(activation: str) -> str:
    """Return the initialization that keeps the scale from layer to layer."""
    return "he" if activation in ("relu", "leaky_relu", "softplus") else "xavier"


def _calmer(config: Config) -> float:
    """Return a lower learning rate: a third, or a tenth and not far above usual."""
    usual = DEFAULT_LR[config.optimizer]
    return rung(config.lr / 3 if config.lr <= NEAR * usual else min(config.lr / 10, MAX_LOWERED * usual))


def random_weights(h: History) -> Remedy:
    """Advise random initial weights."""
    init = fitting_init(h.config.activation)
    return Remedy(
        f"Start from random weights (init {init}): if all weights are 0, all units of a layer stay identical.",
        {"init": init},
    )


def lower_rate(h: History) -> Remedy:
    """Advise a lower learning rate, and initial weights of a fitting scale."""
    config = h.config
    rate = _calmer(config)
    text = f"Lower the learning rate from {config.lr:g} to {rate:g}, and further until the curve is smooth"
    settings: dict[str, Any] = {"lr": rate}
    if config.init == "normal":
        settings["init"] = fitting_init(config.activation)
        text += f"; and start from init {settings['init']}, which keeps the scale from layer to layer"
    return Remedy(text + ".", settings)


def slightly_lower_rate(h: History) -> Remedy:
    """Advise a third of the learning rate, for a loss that falls though it swings."""
    rate = rung(h.config.lr / 3)
    return Remedy(f"For a smoother curve, lower the learning rate from {h.config.lr:g} to {rate:g}.", {"lr": rate})


def finite_loss(h: History) -> Remedy:
    """Advise what keeps the loss finite: a lower rate, fitting weights or clipped gradients."""
    config = h.config
    usual = DEFAULT_LR[config.optimizer]
    if config.lr > usual or config.init == "normal":
        settings: dict[str, Any] = {}
        steps = []
        if config.lr > usual:
            settings["lr"] = usual
            steps.append(
                f"lower the learning rate from {config.lr:g} to {usual:g}, which is usual for {config.optimizer}"
            )
        if config.init == "normal":
            settings["init"] = fitting_init(config.activation)
            steps.append(f"start from init {settings['init']}, which keeps the scale from layer to layer")
        text = ", and ".join(steps)
        again = " Lower it further if it happens again." if "lr" in settings else ""
        return Remedy(f"{text[0].upper()}{text[1:]}.{again}", settings)
    if config.clip is None:
        return Remedy("Clip the gradients to a norm of 1, and check the scale of the inputs.", {"clip": 1.0})
    return Remedy(
        f"Lower the learning rate from {config.lr:g} to {_calmer(config):g}, and check the scale of the inputs.",
        {"lr": _calmer(config)},
    )


def living_units(h: History) -> Remedy:
    """Advise a restart that keeps units alive: a lower rate or leaky_relu."""
    config = h.config
    gone = h.dead.size and h.dead[-1].max() >= ALL_DEAD
    again = "Nothing revives a dead layer: start again, with " if gone else "Start again, with "
    if config.lr > DEFAULT_LR[config.optimizer] or config.activation != "relu":
        rate = _calmer(config)
        return Remedy(f"{again}a learning rate of {rate:g} instead of {config.lr:g}.", {"lr": rate})
    return Remedy(f"{again}leaky_relu instead of relu: its gradient is not 0 below 0.", {"activation": "leaky_relu"})


def carried_back(h: History) -> Remedy:
    """Advise what carries gradients through all layers: relu, init he or fewer layers."""
    config = h.config
    if config.activation not in ("relu", "leaky_relu"):
        return Remedy(
            f"Use relu instead of {config.activation}, with init he: an active unit passes on its whole gradient.",
            {"activation": "relu", "init": "he"},
        )
    if config.init != "he":
        return Remedy(f"Start from init he instead of {config.init}: it keeps the scale.", {"init": "he"})
    fewer = config.hidden[: len(config.hidden) // 2]
    return Remedy(
        f"Use fewer hidden layers: {setting_text(fewer)} instead of {setting_text(config.hidden)}.", {"hidden": fewer}
    )


def smaller_gradients(h: History) -> Remedy:
    """Advise weights of a fitting scale, clipped gradients or a lower rate."""
    config = h.config
    init = fitting_init(config.activation)
    if config.init not in ("he", "xavier", "uniform"):
        usual = DEFAULT_LR[config.optimizer]
        slow = config.lr < usual / NEAR  # a rate that suits the wrong scale only
        also = f" The rate {config.lr:g} suits the old scale: take {usual:g}." if slow else ""
        return Remedy(
            f"Start from init {init} instead of {config.init}: it keeps the scale from layer to layer.{also}",
            {"init": init, "lr": usual} if slow else {"init": init},
        )
    if config.clip is None:
        return Remedy("Clip the gradients to a norm of 1.", {"clip": 1.0})
    return lower_rate(h)


def larger_rate(h: History) -> Remedy:
    """Advise a rate that is higher by as much as steps are too small."""
    ratio = float(np.median(h.updates.mean(axis=1)))
    rate = rung(h.config.lr * float(np.clip(USUAL_UPDATE_RATIO / ratio, MIN_RAISE, MAX_RAISE)))
    return Remedy(f"Raise the learning rate from {h.config.lr:g} to {rate:g}.", {"lr": rate})


def looser_clip(h: History) -> Remedy:
    """Advise a higher clipping norm, or none."""
    clip = h.config.clip
    assert clip is not None  # else no gradient would be clipped
    if clip < TIGHT:
        return Remedy(f"Clip to a norm of 1 instead of {clip:g}.", {"clip": 1.0})
    return Remedy(f"Do not clip: a limit of {clip:g} is too low for this network.", {"clip": None})


def weaker_penalty(h: History) -> Remedy:
    """Advise a hundredth of the penalty on the weights."""
    value = getattr(h.config, h.penalty)
    return Remedy(
        f"Lower the {PENALTIES[h.penalty][0]} from {value:g} to {value / 100:g}: it pulls harder than the loss.",
        {h.penalty: value / 100},
    )


def more_generality(h: History) -> Remedy:
    """Advise against overfitting: more training samples, weight decay or an early stop."""
    config = h.config
    if config.val_fraction > 0.3:
        return Remedy(
            f"Train on more samples: hold out 20% to validate instead of {100 * config.val_fraction:g}%.",
            {"val_fraction": 0.2},
        )
    if config.samples is not None and config.samples < SYNTHETIC_SAMPLES:
        return Remedy(
            f"Generate more samples: {SYNTHETIC_SAMPLES:,} instead of {config.samples:,}.",
            {"samples": SYNTHETIC_SAMPLES},
        )
    if h.few_rows:
        return Remedy("Collect more samples: with so few rows to validate, no setting can be compared with another.")
    decay = 10 * config.weight_decay or 0.01
    if decay <= MAX_DECAY:
        return Remedy(
            f"Set weight decay to {decay:g} instead of {config.weight_decay:g}: it keeps the weights, and so the "
            f"function, simple. The best epoch so far is {_best(h)}.",
            {"weight_decay": decay},
        )
    if config.patience is None:
        return Remedy(f"Stop soon after the best epoch, which is {_best(h)}: patience 5.", {"patience": 5})
    return Remedy(f"Collect more samples; the best epoch so far is {_best(h)}.")


def larger_network(h: History) -> Remedy:
    """Advise more hidden units, or a nonlinear activation."""
    config = h.config
    if not config.hidden or config.activation == "identity":
        hidden = config.hidden or (16, 16)
        without = "hidden layers" if not config.hidden else "a nonlinear activation"
        return Remedy(
            f"Use hidden layers {setting_text(hidden)} with relu: without {without} the network can only draw straight "
            "lines.",
            {"hidden": hidden, "activation": "relu", "init": "he"},
        )
    hidden = (16, 16) if sum(config.hidden) < SMALL else tuple(min(2 * width, MAX_WIDTH) for width in config.hidden)
    if hidden == config.hidden:
        return Remedy(
            "Add a hidden layer. If that changes nothing, the inputs may not tell the classes apart any better."
        )
    return Remedy(
        f"Use a larger network: {_layers(h, hidden)}. If that changes nothing, the inputs may not tell the classes "
        "apart any better.",
        {"hidden": hidden},
    )


def _layers(h: History, hidden: tuple[int, ...]) -> str:
    return f"hidden layers {setting_text(hidden)} instead of {setting_text(h.config.hidden)}"


def off_the_plateau(h: History) -> Remedy:
    """Advise to compare labels and inputs; first a higher rate or a larger network, where one may be missing."""
    labels = "check that the labels belong to their samples, and that the inputs can tell them apart."
    if h.far_below_usual or h.far_above_usual:
        other = larger_rate(h) if h.far_below_usual else lower_rate(h)
        return Remedy(f"{other.text} If that changes nothing, {labels}", other.settings)
    if h.gain >= SOME_GAIN:
        return Remedy(
            f"{labels.capitalize()} A lower learning rate, fewer epochs or weight decay keep it from learning single "
            "samples by heart."
        )
    if h.nonlinear_units >= SMALL or h.gain >= MIN_GAIN:
        return Remedy(labels.capitalize())
    larger = larger_network(h).settings
    return Remedy(f"Use a larger network: {_layers(h, larger['hidden'])}. If that changes nothing, {labels}", larger)


def more_epochs(h: History) -> Remedy:
    """Advise to train on: more patience, the epochs that are left, or more epochs if validation gets better by them."""
    epochs, patience = h.config.epochs, h.config.patience
    held_out = h.config.val_fraction > 0  # else the figures of validation are those of training
    if patience is not None and h.records[-1].get("since_best", 0) >= patience:
        return Remedy(f"Set patience to {2 * patience}: it stops too soon.", {"patience": 2 * patience})
    if h.epochs[-1] < epochs:
        if h.keeps_up or not held_out:
            return WAIT
        return Remedy(f"Train on, and watch validation: its best epoch so far is {_best(h)}.")
    if held_out and not h.val_falls:
        return Remedy(
            f"Training gets better and validation does not: more epochs alone may not help. The best epoch so far is "
            f"{_best(h)}."
        )
    if 2 * epochs > MAX_EPOCHS:
        return Remedy("Train for more epochs.")
    return Remedy(f"Train for {2 * epochs} epochs instead of {epochs}.", {"epochs": 2 * epochs})


def separate_noise(h: History) -> Remedy:
    """Advise a usual rate if it is far from usual and does harm, a larger network if this one is small, which tells
    noise from missing bends."""
    if h.far_below_usual:
        return larger_rate(h)
    if h.far_above_usual and h.dead.size and h.dead[-1].max() >= MOSTLY_DEAD:
        return lower_rate(h)
    if h.nonlinear_units >= SMALL:
        return Remedy(
            "Check whether the predictions miss a bend in the data: a larger network may find it. If the errors show "
            "no pattern, they are noise, and no network can predict them."
        )
    larger = larger_network(h).settings
    return Remedy(
        f"To tell noise from missed bends, try {_layers(h, larger['hidden'])}: if that changes nothing, what is left "
        "is probably noise.",
        larger,
    )


def nothing(h: History) -> Remedy:
    """Advise no change."""
    so_far = h.epochs[-1] < h.config.epochs and h.config.patience is None
    further = "; validation loss still falls, so more epochs may lower it" if h.val_falls else ""
    # Records cannot tell that no other setting does better.
    return Remedy(f"Nothing in these numbers asks for a change{': train on' if so_far else further}.")


def watch(h: History) -> Remedy:
    """Advise to watch a few more epochs, and what would calm the loss."""
    rate = f"a lower learning rate, such as {rung(h.config.lr / 3):g} instead of {h.config.lr:g}"
    if h.epochs[-1] < h.config.epochs:
        return Remedy(f"Watch a few more epochs; if it goes on, try {rate}.")
    return Remedy(f"To see it settle, train with {rate}.")


def watch_gap(h: History) -> Remedy:
    """Advise to train on while validation gains by it, or how to tell a gap that is chance from one that is not."""
    if h.val_falls:
        return more_epochs(h)
    rows = h.origin["val_samples"] if h.origin and not h.regression else 0
    share = (rows * h.val_score[-1] + 1) / (rows + 2)  # so that an accuracy of 100% is not taken for certain
    chance = 2 * math.sqrt(share * (1 - share) / rows) if rows else 0.0
    if h.gap[-1] < chance:
        return Remedy(
            f"On {rows} rows an accuracy is known to {100 * chance:.0f} points only, so this gap may be chance: hold "
            "more rows out to know more."
        )
    return Remedy(f"If the gap grows, stop: the best epoch so far is {_best(h)}.")


def safe_numbers(h: History) -> Remedy:
    """Advise what keeps the loss finite, also in a loss of one's own."""
    rate = finite_loss(h)
    return Remedy(
        f"{rate.text} In a loss of your own, look for a log of 0 and for an exp of large numbers.", rate.settings
    )


def _best(h: History) -> str:
    """Return the epoch of the lowest validation loss, and that of the highest accuracy if it is another."""
    lowest = h.epochs[int(np.nanargmin(h.val_loss))]
    if h.regression or not np.isfinite(h.val_score).any():
        return f"{lowest} by validation loss"
    highest = h.epochs[int(np.nanargmax(h.val_score))]
    return f"{lowest} by validation loss" + (f" ({highest} by accuracy)" if highest != lowest else " and accuracy")
