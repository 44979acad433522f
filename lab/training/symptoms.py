"""Symptoms of a training run: one function each, with the thresholds they use.

A symptom takes a `History` and returns its evidence, or None if the records do not show it. It can be asked after any
epoch: it compares windows of epochs that never overlap, and returns None until there are enough of them.
"""

from __future__ import annotations

import math

import numpy as np

from lab.text import counted, percent_text, short
from lab.training.config import DEFAULT_LR
from lab.training.records import Histogram, total
from lab.training.run_history import (
    LEARNED,
    MOSTLY,
    PENALTIES,
    PRAISED,
    RECENT,
    SOME_GAIN,
    STILL,
    STILL_EPOCHS,
    WINDOW,
    Evidence,
    History,
    before_and_now,
    creeps,
    falls,
    mostly_falls,
    windows,
)

# ---------------------------------------------------------------- thresholds

MIN_EPOCHS = 3  # before any verdict, except for those that are certain after the first epoch
BAND = (0.01, 5.0)  # where the norm of a layer's gradient usually lies
HIGH_NORM = 10.0  # gradient norm that counts as exploding
HIGH_START = 3.0  # loss over that of guessing: a well-scaled network never starts that high
GROWTH = 2.0  # gradient norm now, over that of the first epoch
LOW_RATIO = 0.02  # smallest gradient norm of a hidden layer, over that of the last layer
SWING, SWING_SHARE = 0.03, 0.04  # mean rise of the loss per epoch: absolute, and as a share of its mean
NO_HARM = 0.1  # a swinging loss does no harm if its mean is at most this share above its minimum
RESTLESS = 0.015  # absolute mean rise per epoch of a loss that has not settled
MIN_RISES = 3  # rises of the loss that count as swinging, unless the rate is far above usual
SWING_MIN_EPOCHS, SWING_EPOCHS = 5, 10  # epochs needed to judge swings; epochs judged, or half of a long run
JUMP, LEAP = 0.3, 2.0  # rise of the loss in one epoch that is a jump; loss over those before that is one by itself
CLIMB = 1.05  # last loss of a climbing run, over its first
DEAD, MOSTLY_DEAD, ALL_DEAD = 0.5, 0.75, 0.95  # share of the units of a hidden layer
SHRUNK = 0.85  # size of a layer's weights over that after epoch 1, from which on a penalty has shrunk them
MIDDLE = 0.6  # share of a layer's weights in the two bins around 0
NOISY_GAP, NOISY_ERRORS = 0.08, 2.0  # validation accuracy above training accuracy; training over validation errors
LOST = 0.03  # validation accuracy lost since its best epoch while training accuracy rises
SMALL_GAP, WIDE_GAP = 0.05, 0.10  # training score above validation score: harmless, and too much
SLOW = 1.5e-4  # update-to-weight ratio, mean over the layers
BEND = 0.2  # fall of the loss in the second half of a run, over that in the first, below which its curve has bent
STRAIGHT = 0.6  # the same, from which on its curve is called straight
MIN_COMPARED = 4  # epochs whose median is compared with that of as many before
CLIPPED = 0.9  # share of the steps whose gradients are clipped
FEW_UNITS = 3  # hidden units in total: only a network with fewer is called too small
MANY_UNITS = 8  # hidden units in total: with fewer, some units are off by chance
SPREAD, VAL_SPREAD = 0.1, 0.3  # range of the last training and validation losses of a settled run, over their median
CHANCE = 0.97  # loss over that of guessing
ONCE_BETTER = 0.9  # lowest validation loss over the baseline's: below it, the network has not always been at chance
MIN_GAIN, GOOD_GAIN = 0.03, 0.5  # share of the baseline's loss that is saved
SWINGING_GAIN, NEARLY_ALL_GAIN = 0.7, 0.85  # the same for swings that do no harm: at a usual rate, and far above it
RELAPSED = 1.25  # validation loss over its best: above it, a network that has learned is not called healthy
NEAR_NOTHING = 0.05  # validation loss over the baseline's: below it, no rise does harm
MIN_RARE = 3  # validation rows that the baseline gets wrong, to say that the network answers as if by chance
# Overfitting: validation loss rises from its minimum
RISEN, FALLEN = 0.15, 0.10  # shares by which validation loss has risen and training loss has fallen
PAST_BEST = 6  # epochs since the best one: its window and the last one must not overlap
APART = 0.03  # validation loss above training loss: a smaller difference is harmless
AHEAD = 0.015  # training score above validation score: a smaller difference is harmless


# ---------------------------------------------------------------- the loss


def overflow(h: History) -> Evidence | None:
    """Return evidence that a loss is no longer a finite number."""
    ended = [bool(record.get("diverged")) for record in h.records]
    bad = np.flatnonzero(~np.isfinite(h.loss) | ~np.isfinite(h.val_loss) | ended)
    if not bad.size:
        return None
    at = int(bad[0])
    which = "training loss" if not np.isfinite(h.loss[at]) else "loss of a batch" if ended[at] else "validation loss"
    before = f"; one epoch before training loss was {short(h.loss[at - 1])}" if at else ""
    sentences = [f"In epoch {h.epochs[at]} the {which} is no longer a number{before}."]
    largest = _largest(h.norms)
    if largest > HIGH_NORM:
        sentences.append(f"The largest gradient norm that was measured is {short(largest, 2)}.")
    return Evidence(tuple(sentences), h.epochs[at])


def climbing(h: History) -> Evidence | None:
    """Return evidence that the loss rises in every epoch of the first half and stays up."""
    loss = h.loss[np.isfinite(h.loss)]
    first = loss[: max(MIN_EPOCHS, len(loss) // 2)]
    if len(first) < MIN_EPOCHS or not np.all(np.diff(first) > 0) or loss[-1] < CLIMB * loss[0]:
        return None
    return h.evidence(
        f"The training loss climbs from {short(loss[0])} to {short(loss[-1])} in {len(loss)} epochs.", at=1
    )


def swinging(h: History) -> Evidence | None:
    """Return evidence that the loss keeps rising again, in most of the last epochs.

    A single judgement would come and go from epoch to epoch.
    """
    loss = recent_loss(h)
    if _lower_than_ever(h):
        return None
    lately = [_swings_badly(h, count) for count in range(len(h), 0 if h.stuck else max(len(h) - RECENT, 0), -1)]
    if not any(lately) or (not h.stuck and 2 * sum(lately) <= len(lately)):
        return None
    steps = np.diff(loss)
    rises = _rises(loss)
    began = len(h) - len(loss)
    return h.evidence(
        f"From epoch {h.epochs[began]} to {h.epochs[-1]} the training loss rises markedly in {rises} of {len(steps)} "
        f"epochs, by {short(steps.max(), 2)} at most; it lies between {short(loss.min())} and {short(loss.max())}.",
        at=began + int(np.argmax(steps > 0)) + 1,
    )


def swinging_in_vain(h: History) -> Evidence | None:
    """Return evidence that the loss keeps rising again and has hardly come below the baseline's."""
    return swinging(h) if h.at_baseline else None


def _lower_than_ever(h: History) -> bool:
    """Tell whether most of the last epochs have a lower loss than any epoch before, well below the baseline's.

    Then the swings are over, or the loss falls in spite of them: this epoch shows no harm.
    """
    before, now = h.loss[:-WINDOW], h.loss[-WINDOW:]
    return bool(h.gain >= GOOD_GAIN and before.size and np.median(now) <= np.nanmin(before, initial=math.inf))


def _swings_badly(h: History, count: int) -> bool:
    """Tell whether, after `count` epochs, the loss rises often and far enough to do harm."""
    loss = recent_loss(h, count)
    few, rise = (2, RESTLESS) if h.far_above_usual else (MIN_RISES, SWING)  # a strange rate is suspected sooner
    return len(loss) >= SWING_MIN_EPOCHS and _rises(loss) >= few and swings(loss, rise) and not _harmless(h, loss)


def _rises(loss: np.ndarray) -> int:
    """Count the rises of the loss that are a fair share of its mean."""
    return int(np.sum(np.diff(loss) > SWING_SHARE * loss.mean()))


def _harmless(h: History, loss: np.ndarray) -> bool:
    """Tell whether the swings of a loss do no harm.

    They are small, or lie far below the baseline's loss, or the loss gets lower all the same. At a rate far above
    usual only those near 0 are harmless.
    """
    if h.far_above_usual:
        return bool(_usual(loss) <= (1 - NEARLY_ALL_GAIN) * h.baseline_loss < math.inf)
    if loss.mean() <= (1 + NO_HARM) * loss.min():
        return True
    half = len(loss) // 4 * 2  # even: what goes up and down by turns is up as often in both
    before, now = _usual(loss[-2 * half : -half]), _usual(loss[-half:])
    return bool(_usual(loss) <= (1 - SWINGING_GAIN) * h.baseline_loss < math.inf or now < (1 - STILL) * before)


def _usual(loss: np.ndarray) -> float:
    """Return the 60 % quantile: the median of a loss that alternates could be either of two values."""
    return float(np.quantile(loss, 0.6))


def recent_loss(h: History, count: int | None = None) -> np.ndarray:
    """Return the finite training losses of the last epochs, or of the last ones up to `count`."""
    before = h.loss[:count]
    finite: np.ndarray = before[np.isfinite(before)]
    return finite[-max(SWING_EPOCHS, len(before) // 2) :]


def swings(loss: np.ndarray, rise: float) -> bool:
    """Tell whether the loss rises by at least `rise` per epoch on average, and by a fair share of its mean."""
    mean = float(np.diff(loss).clip(min=0).mean()) if len(loss) > 1 else 0.0
    return mean >= rise and mean >= SWING_SHARE * loss.mean()


def first_steps_too_large(h: History) -> Evidence | None:
    """Return evidence that the first steps went so far that the network no longer learns.

    Its loss is far above guessing, or its units are dead.
    """
    if h.learned or h.gain >= GOOD_GAIN or not h.loss.size or _gets_away(h) or _only_by_heart(h):
        return None
    early = h.loss[:MIN_EPOCHS]
    worst = int(np.nanargmax(early)) if np.isfinite(early).any() else 0
    far = early[worst] > HIGH_START * h.baseline_loss and not (h.only_falls or early[worst] <= h.start)
    overcome = len(h) >= STILL_EPOCHS and bool(np.all(h.loss[-STILL_EPOCHS:] < h.baseline_loss))
    if h.config.init != "normal" and far and not overcome:
        return h.evidence(
            f"After epoch {h.epochs[worst]} the training loss is {short(early[worst])}, where always answering with "
            f"{h.baseline_answer} costs {short(h.baseline_loss, 2)}: the first steps went much too far.",
            at=worst,
        )
    norm = _largest(h.norms[:MIN_EPOCHS])
    if norm > HIGH_NORM and h.dead.size and h.dead[:MIN_EPOCHS].max() >= ALL_DEAD:
        return h.evidence(
            f"The gradient norm reaches {short(norm, 2)}, and with a learning rate of {h.config.lr:g} such steps have "
            f"killed {percent_text(h.dead[:MIN_EPOCHS].max())} of the units of a layer.",
            at=0,
        )
    return None


def _only_by_heart(h: History) -> bool:
    """Tell whether it learns well enough, but nothing that helps on the validation samples: no rate would cure that."""
    return not h.at_baseline and _helps_nobody(h)


def _gets_away(h: History) -> bool:
    """Tell whether the loss is below the baseline's and still moves, at a rate that is not far above usual."""
    if h.at_baseline or h.far_above_usual:
        return False
    return bool(mostly_falls(h.loss) or h.falling >= STILL or swinging(h))


def at_chance(h: History) -> Evidence | None:
    """Return evidence that the network is no better than guessing.

    Its loss stands still at that of the baseline although gradients arrive, or what it learns does not help on the
    validation samples. Silent while validation loss falls ever faster, however slowly: such a plateau may end.
    """
    if _ever_faster(h.val_loss):
        return None
    if useless := _useless(h):
        return useless
    found = _loss_at_chance(h)
    if found and np.median(h.val_score[-RECENT:]) > h.baseline_score("val") + h.sampling_error:
        return None  # it tells the classes apart, though with probabilities close to guessing
    return found


def at_chance_in_a_loop(h: History) -> Evidence | None:
    """Return evidence that the network of a learner's own loop is no better than guessing.

    Right answers are no excuse here: with a loss that compares the wrong pairs, they come and go while it stands still.
    """
    return _useless(h) or _loss_at_chance(h)


def _loss_at_chance(h: History) -> Evidence | None:
    if len(h) < STILL_EPOCHS or not h.classes or h.nonlinear_units < FEW_UNITS or h.few_rows:
        return None
    if creeps(h.loss) or not abs(h.falling) < STILL:
        return None
    if not h.norms.size or not h.norms[-WINDOW:].min() >= BAND[0]:  # a layer is cut off: that is another cause
        return None
    loss = float(h.loss[-WINDOW:].mean())
    if not CHANCE <= loss / h.baseline_loss <= 1 + SOME_GAIN or h.beats_baseline:
        return None
    return h.evidence(
        f"The loss stands still at {short(loss)}, and always answering with the commonest class costs "
        f"{short(h.baseline_loss)}; training accuracy is {percent_text(h.train_score[-1])}. Each layer gets a "
        f"gradient: the smallest norm is {short(h.norms[-1].min(), 2)}.",
    )


def _helps_nobody(h: History) -> bool:
    """Tell whether it learns its training samples but is no better than the baseline on the validation samples."""
    if h.origin is None or not h.config.val_fraction or h.few_rows or len(h) < STILL_EPOCHS:
        return False
    if not np.median(h.loss[-STILL_EPOCHS:]) <= (1 - MIN_GAIN) * h.baseline_loss:
        return False
    recent, before = h.val_loss[-RECENT:], h.val_loss[-STILL_EPOCHS:-RECENT]
    if np.median(recent) < (1 - STILL) * np.median(before) or creeps(h.val_loss):
        return False  # it may get there
    if recent.min() <= PRAISED * h.baseline_val_loss:  # at times it is better
        return False
    if windows(h.val_loss).min() < ONCE_BETTER * h.baseline_val_loss:  # it had learned what helps
        return False
    above = float(np.median(h.val_score[-RECENT:])) - h.baseline_score("val")
    if (
        above > 0 and np.median(recent) < h.baseline_val_loss and not h.at_baseline
    ):  # better in both: it may be a beginning
        return False
    return bool(np.median(recent) >= CHANCE * h.baseline_val_loss and (h.regression or above <= h.sampling_error))


def _useless(h: History) -> Evidence | None:
    """Return evidence that what it learns of its training samples does not help on enough others."""
    rare = h.baseline_errors is not None and h.baseline_errors < MIN_RARE
    if rare or not _helps_nobody(h):
        return None
    loss, score = float(np.median(h.val_loss[-RECENT:])), float(np.median(h.val_score[-RECENT:]))
    plain = percent_text(h.baseline_score("val"), 1)
    accuracy = "" if h.regression else f"; accuracy is {percent_text(score, 1)}, and that answer's {plain}"
    return h.evidence(
        f"Training loss is {short(h.loss[-1])}, where always answering with {h.baseline_answer} costs "
        f"{short(h.baseline_loss)}. Validation loss is {short(loss)}, and that answer's {short(h.baseline_val_loss)}"
        f"{accuracy} (medians of {RECENT} epochs).",
    )


def never_helped(h: History) -> Evidence | None:
    """Return evidence that what looks like overfitting has never helped: the lowest validation loss is no gain."""
    found = None if _ever_faster(h.val_loss) else _useless(h)
    return found if found and windows(h.val_loss).min() >= h.baseline_val_loss and overfitting(h) else None


def _ever_faster(loss: np.ndarray) -> bool:
    """Tell whether the loss mostly falls, and at least as far in the last few epochs as in one epoch more before."""
    if len(loss) < STILL_EPOCHS:
        return False
    first, middle, now = loss[-STILL_EPOCHS], loss[-STILL_EPOCHS // 2], loss[-1]
    return mostly_falls(loss) and bool(middle - now >= first - middle)


def underfitting(h: History) -> Evidence | None:
    """Return evidence that a network with next to no bends stands still hardly below the baseline.

    A network that does clearly better than the baseline may have reached the noise of the data: records cannot tell
    noise from bends that are missing, so such a run has settled. Silent for regressions, for the same reason.
    """
    if (
        h.regression
        or h.nonlinear_units >= FEW_UNITS
        or len(h) < STILL_EPOCHS
        or h.learned
        or not abs(h.falling) < STILL
    ):
        return None
    if math.isfinite(h.baseline_loss) and not h.at_baseline:
        return None
    width = max(WINDOW, len(h) // 4)
    before, now = h.loss[-2 * width : -width].mean(), h.loss[-width:].mean()
    baseline = (
        f" Always answering with the class shares costs {short(h.baseline_loss)}."
        if math.isfinite(h.baseline_loss)
        else ""
    )
    return h.evidence(
        f"Training accuracy stands at {percent_text(h.train_score[-WINDOW:].mean())}, and the loss hardly changes any "
        f"more: {short(before)} on average from epoch {h.epochs[-2 * width]} to {h.epochs[-width - 1]}, {short(now)} "
        f"from epoch {h.epochs[-width]} to {h.epochs[-1]}.{baseline}",
        at=len(h) - 2 * width,
    )


# ---------------------------------------------------------------- gradients, units and weights


def no_gradient(h: History) -> Evidence | None:
    """Return evidence that all weights are 0, so that no gradient reaches a hidden layer."""
    if h.norms.shape[1] < 2 or not np.all(h.norms[0, :-1] == 0.0):
        return None
    histograms = h.records[0].get("weight_histogram", {})
    if not histograms or min(map(_middle, histograms.values())) < 1.0:
        return None
    return h.evidence(
        f"After epoch {h.epochs[0]} all weights are still at 0, and the gradient norm of every layer but the last is "
        f"exactly 0; in epoch {h.epochs[-1]} the loss is {short(h.loss[-1])}, after {short(h.loss[0])} in the first.",
        at=0,
    )


def dead_layer(h: History) -> Evidence | None:
    """Return evidence of a layer whose units are all off, in a network that has not learned."""
    return None if h.gain >= GOOD_GAIN or _only_by_heart(h) else _dead_units(h, ALL_DEAD)


def dying(h: History) -> Evidence | None:
    """Return evidence that most units of a layer are off and the training loss is hardly below the baseline's.

    Returns None in the first epochs while the loss still falls, because the network may recover from a bad first step,
    and in a small network, where some units are off by chance.
    """
    falls = len(h) < STILL_EPOCHS and h.loss[-1] < (1 - STILL) * h.loss[0]
    if (
        len(h) < MIN_EPOCHS
        or falls
        or dead_layer(h)
        or not h.at_baseline
        or h.nonlinear_units < MANY_UNITS
        or _useless(h)
    ):
        return None
    return _dead_units(h, MOSTLY_DEAD)


def units_off(h: History) -> Evidence | None:
    """Return evidence that many units are off, whatever the loss does."""
    return _dead_units(h, DEAD)


def _dead_units(h: History, share: float, at: int = -1) -> Evidence | None:
    """Return evidence that at least this share of the units of a layer are off, by default in the last epoch."""
    if not h.dead.size or h.dead[at].max() < share:
        return None
    layer = int(np.argmax(h.dead[at]))
    until = at % len(h) + 1
    since = until - int(np.argmin(np.r_[h.dead[:until][::-1, layer] >= share, False]))  # of this stretch
    units = f"{percent_text(h.dead[at, layer])} of the units of {h.layers[layer]}"
    sentence = (
        f"In epoch {h.epochs[at]} {units} gave the same output for every sample: no gradient passed through them."
        if until < len(h)
        else f"{units} give the same output for every sample (since epoch {h.epochs[since]} at least {share:.0%}): no "
        "gradient passes through them."
    )
    return h.evidence(sentence, at=since)


def overshot(h: History) -> Evidence | None:
    """Return evidence that a learning rate far above usual keeps a network from learning.

    It shows in dead layers, many dead units or huge gradients: now, or at any time where the network is still hardly
    better than the baseline. Such steps are suspected before anything that they bring about.
    """
    if not h.far_above_usual or h.gain >= GOOD_GAIN or _only_by_heart(h):
        return None
    found = dead_layer(h) or exploding(h) or dying(h)
    if found is None and h.stuck and h.dead.size and len(h) >= MIN_EPOCHS:
        worst = int(np.argmax(h.dead.max(axis=1)))
        found = _dead_units(h, MOSTLY_DEAD if h.at_baseline else ALL_DEAD, worst)
    usual = DEFAULT_LR[h.config.optimizer]
    rate = f"The learning rate is {h.config.lr:g}, {short(h.config.lr / usual, 2)} times what is usual."
    return found and Evidence((rate, *found.sentences), found.epoch)


def piling(h: History) -> Evidence | None:
    """Return evidence that gradient norms grow from epoch to epoch, beyond the usual band."""
    if len(h) < MIN_EPOCHS + 1 or not h.norms.size:
        return None
    first, last = h.norms[0], np.median(h.norms[-WINDOW:], axis=0)
    grown = np.flatnonzero((last >= GROWTH * first) & (last >= BAND[1]))
    if not grown.size:
        return None
    sentences = [
        f"The gradient norm of {h.layers[i]} grows from {short(first[i], 2)} in epoch {h.epochs[0]} to "
        f"{short(last[i], 2)}."
        for i in grown
    ]
    return h.evidence(*sentences, at=int(np.argmax(h.norms[:, grown[0]] >= GROWTH * first[grown[0]])))


def badly_scaled(h: History) -> Evidence | None:
    """Return evidence of initial weights whose scale fits no layer: gradients were huge from the first epoch on."""
    if h.config.init != "normal" or _largest(h.norms[:1]) <= HIGH_NORM or healthy(h):
        return None
    if h.far_above_usual:  # then the steps are to blame
        return None
    layer = int(np.nanargmax(h.norms[0]))
    return h.evidence(
        f"The gradient norm of {h.layers[layer]} is {short(h.norms[0, layer], 2)} in epoch {h.epochs[0]}; it usually "
        f"lies between {BAND[0]} and {BAND[1]:g}. In epoch {h.epochs[-1]} {h.checked_on} loss is "
        f"{short(h.val_loss[-1])}.",
        at=0,
    )


def exploding(h: History) -> Evidence | None:
    """Return evidence of gradient norms far above usual in a network that has not learned."""
    return None if h.gain >= GOOD_GAIN else large_norms(h)


def large_norms(h: History) -> Evidence | None:
    """Return evidence of gradient norms far above usual, whatever the loss does."""
    recent = h.norms[-WINDOW:]
    if h.regression or _largest(recent) <= HIGH_NORM:
        return None  # squared errors have no usual norm
    at, layer = np.unravel_index(np.nanargmax(recent), recent.shape)
    return h.evidence(
        f"The gradient norm of {h.layers[layer]} is {short(recent[at, layer], 2)} in epoch "
        f"{h.epochs[-len(recent) :][at]}; it usually lies between {BAND[0]} and {BAND[1]:g}.",
        at=int(np.argmax(np.any(h.norms > HIGH_NORM, axis=1))),
    )


def vanishing(h: History) -> Evidence | None:
    """Return evidence that a hidden layer gets hardly any gradient, in a network that has not learned."""
    if len(h) < MIN_EPOCHS or h.norms.shape[1] < 3 or h.learned or h.gain >= GOOD_GAIN:
        return None
    hidden, last = h.norms[:, :-1].min(axis=1), h.norms[:, -1]
    low = (hidden > 0) & (hidden < LOW_RATIO * last)
    if low.mean() < 0.5:
        return None
    at = int(np.flatnonzero(low)[-1])
    layer = h.layers[int(np.argmin(h.norms[at, :-1]))]
    return h.evidence(
        f"In epoch {h.epochs[at]} the gradient norm of {layer} is {short(hidden[at], 2)} and that of the last layer "
        f"{short(last[at], 2)}: {last[at] / hidden[at]:.0f} times as much. It is like this in {int(low.sum())} of "
        f"{len(low)} epochs.",
        at=int(np.argmax(low)),
    )


def collapsed(h: History) -> Evidence | None:
    """Return evidence that a penalty has shrunk the weights of a network that has not learned.

    Silent while the loss still falls: the weights may yet grow against the penalty.
    """
    value = getattr(h.config, h.penalty)
    name, large = PENALTIES[h.penalty]
    if value < large or len(h) < MIN_EPOCHS or h.learned or h.gain >= GOOD_GAIN or slow(h):
        return None
    shrunk = _shrunk(h)
    if shrunk and (near := near_zero(h)):
        return near
    if not shrunk or len(h) < (STILL_EPOCHS if h.only_falls else SWING_MIN_EPOCHS):
        return None
    layer, share = shrunk
    return h.evidence(
        f"The {name} is {value:g}, which is large, and the weights of {layer} have shrunk to {share:.0%} of their size "
        f"after epoch {h.epochs[0]}. In epoch {h.epochs[-1]} training {h.scored} is {h.shown(h.train_score[-1])}.",
    )


def _shrunk(h: History) -> tuple[str, float] | None:
    """Return the layer whose weights have shrunk most and the share of their size that is left; None without one."""
    if len(h) < 2 or "weight_histogram" not in h.records[-1] or "weight_histogram" not in h.records[0]:
        return None
    first, last = (h.records[i]["weight_histogram"] for i in (0, -1))
    shares = {name: _size(last[name]) / size for name in last if (size := _size(first[name]))}
    layer = min(shares, key=shares.__getitem__, default="")
    return (layer, shares[layer]) if shares and shares[layer] <= SHRUNK else None


def near_zero(h: History) -> Evidence | None:
    """Return evidence that a penalty has pulled most weights of a layer to 0, whatever the loss does."""
    if not getattr(h.config, h.penalty) or len(h) < 2 or "weight_histogram" not in h.records[-1]:
        return None
    first, last = (h.records[i]["weight_histogram"] for i in (0, -1))
    found = [
        f"{_middle(last[name]):.0%} of the weights of {name} lie in the two bins around 0 ({_middle(first[name]):.0%} "
        f"after epoch {h.epochs[0]})."
        for name in last
        if _middle(last[name]) >= max(MIDDLE, _middle(first[name]))
    ]
    return h.evidence(*found) if found else None


# ---------------------------------------------------------------- steps too small


def slow(h: History) -> Evidence | None:
    """Return evidence that the loss creeps down evenly because a step hardly changes the weights."""
    if len(h) < MIN_EPOCHS or h.epochs[-1] <= h.config.warmup or not h.updates.size or h.learned:
        return None
    ratio = float(np.median(h.updates.mean(axis=1)))
    if not ratio > 0 or np.mean(np.diff(h.loss) < 0) < MOSTLY:  # a ratio that is nan is not slow
        return None
    of_no_use = (h.gain >= SOME_GAIN and h.val_loss[-WINDOW:].mean() >= CHANCE * h.baseline_val_loss) or (
        len(h) >= SWING_EPOCHS and not mostly_falls(h.val_loss)
    )
    if ratio >= SLOW and (not h.far_below_usual or h.gain >= GOOD_GAIN or of_no_use or _bends(h)):
        return None
    moves, bend = ("creeps", ", without a bend") if _straight(h) else ("falls", "")
    return h.evidence(
        f"A step changes the weights by {short(ratio, 1)} of their size, and the loss {moves} from "
        f"{short(h.loss[0])} to {short(h.loss[-1])} in {len(h)} epochs{bend}.",
        at=0,
    )


def _bends(h: History) -> bool:
    """Tell whether the loss fell much less in the second half of the run than in the first."""
    return _later_fall(np.minimum(np.r_[h.start, h.loss] if math.isfinite(h.start) else h.loss, h.baseline_loss)) < BEND


def _straight(h: History) -> bool:
    """Tell whether the loss fell about as far in the second half of the run as in the first."""
    return _later_fall(h.loss) >= STRAIGHT


def _later_fall(loss: np.ndarray) -> float:
    """Return how far the loss fell in the second half, over how far it fell in the first."""
    half = len(loss) // 2
    first = loss[0] - loss[half]
    return float((loss[half] - loss[-1]) / first) if first > 0 else math.inf


def held_back(h: History) -> Evidence | None:
    """Return evidence that steps are small because nearly all gradients are clipped."""
    share = float(np.median(h.clipped))
    creeping = slow(h)
    if creeping is None or share < CLIPPED:
        return None
    sentence = f"The gradients of {percent_text(share)} of the steps are clipped to a norm of {h.config.clip:g}."
    return Evidence((sentence, *creeping.sentences), creeping.epoch)


# ---------------------------------------------------------------- training and validation drift apart


def noise(h: History) -> Evidence | None:
    """Return evidence of wrong training labels: the network does much better on the validation samples.

    If the validation labels are just as wrong, the records look like overfitting, and are called that.
    """
    if h.regression or len(h) < MIN_EPOCHS or h.few_rows:
        return None
    errors, others = 1 - h.train_score[-WINDOW:].mean(), 1 - h.val_score[-WINDOW:].mean()
    if errors - others > NOISY_GAP + h.sampling_error and errors > NOISY_ERRORS * others:
        return h.evidence(
            f"In the last {WINDOW} epochs the accuracy is {percent_text(1 - errors)} on the training samples and "
            f"{percent_text(1 - others)} on samples never trained on: what it has learned fits better than the labels.",
            at=int(np.argmax(h.gap < -NOISY_GAP)),
        )
    return None


def _learned_by_heart(h: History) -> Evidence | None:
    """Return evidence that validation accuracy has fallen from its best while training accuracy rose."""
    if h.regression or len(h) < WINDOW + PAST_BEST:
        return None
    validation, training = windows(h.val_score), windows(h.train_score)
    best = int(np.argmax(validation))
    lost, gained = validation[best] - validation[-1], training[-1] - training[best]
    if len(validation) - 1 - best < PAST_BEST or not (lost >= LOST and gained >= LOST) or training[best] > LEARNED:
        return None  # also where there are no accuracies: a score that is nan has not fallen
    if windows(h.val_loss)[-1] < windows(h.val_loss)[best]:
        return None
    if lost < h.sampling_error or training[-1] - h.baseline_score("train") < WIDE_GAP:  # chance moves as much
        return None
    return h.evidence(
        f"Around epoch {h.epochs[best + 1]} validation accuracy was {percent_text(validation[best])}; it has fallen to "
        f"{percent_text(validation[-1])} since, while training accuracy rose from {percent_text(training[best])} to "
        f"{percent_text(training[-1])} (medians of {WINDOW} epochs): what is learned now is wrong for other samples, "
        "as wrong labels would be.",
        at=best + 1,
    )


def overfitting(h: History) -> Evidence | None:
    """Return evidence that the network gets better on its training samples only."""
    return _rising(h, RISEN) or _wide_gap(h) or _learned_by_heart(h)


def _rising(h: History, share: float) -> Evidence | None:
    """Return evidence that validation loss rose by this share from its minimum while training loss kept falling."""
    if len(h) < WINDOW + PAST_BEST or not np.isfinite(h.val_loss).all():
        return None
    smooth = windows(h.val_loss)
    best = int(np.argmin(smooth))
    if len(smooth) - 1 - best < PAST_BEST:
        return None
    around, now = slice(best, best + WINDOW), slice(-WINDOW, None)
    low, high = smooth[best], smooth[-1]
    before, after = np.median(h.loss[around]), np.median(h.loss[now])
    if high < (1 + share) * low or after > (1 - FALLEN) * before:
        return None
    if high - after < APART or h.gap[now].mean() < AHEAD:
        return None
    usual = np.median(np.abs(np.diff(h.val_loss[-SWING_EPOCHS:])))  # from one epoch to the next
    if high - low < 2 * usual or h.val_loss[-1] < (1 + share) * low:
        return None
    middle = h.epochs[best + 1]
    return h.evidence(
        f"Validation loss was lowest around epoch {middle}, at {short(low)}, and has risen to {short(high)} since "
        f"(medians of {WINDOW} epochs), while training loss fell from {short(before)} to {short(after)}.",
        at=best + 1,
    )


def _wide_gap(h: History) -> Evidence | None:
    """Return evidence that the training score is far above the validation score, and the gap does not close."""
    if len(h) < MIN_EPOCHS or (h.regression and not h.learned):  # R² of few samples swings widely at first
        return None
    quarter = max(WINDOW, len(h) // 4)
    gaps = h.gap[-quarter:]
    closing = len(h) >= 2 * quarter and gaps.mean() < h.gap[-2 * quarter : -quarter].mean()
    errors = 2 if creeps(h.val_loss) else 1  # while it still helps others, only a gap that is no chance counts
    wide = WIDE_GAP + errors * h.sampling_error
    if not (gaps.mean() > wide and gaps[-1] > wide) or (closing and not h.learned):
        return None
    smooth = windows(h.val_loss)
    if len(smooth) > WINDOW and smooth[-1] < (1 - FALLEN) * smooth[-1 - WINDOW]:  # validation still gets better
        return None
    if smooth[-1] < (1 + RISEN) * smooth.min() if h.regression else smooth[-1] == smooth.min() and not h.learned:
        return None
    if h.val_loss[-WINDOW:].mean() < h.loss[-WINDOW:].mean() * (1 + RISEN):  # few samples may be right by chance
        return None
    return h.evidence(
        f"In epoch {h.epochs[-1]} training {h.scored} is {h.shown(h.train_score[-1])} and validation {h.scored} "
        f"{h.shown(h.val_score[-1])}, a gap of {100 * h.gap[-1]:.0f} points.",
        at=int(np.argmax(h.gap > WIDE_GAP)),
    )


# ---------------------------------------------------------------- nothing wrong


def healthy(h: History) -> Evidence | None:
    """Return evidence that the network has learned, its loss does not rise and validation keeps up with training."""
    if len(h) < MIN_EPOCHS or not h.learned or h.proves_little or not h.beats_baseline or _restless(h) or _gapes(h):
        return None
    return h.evidence(
        f"The training loss, of all samples after each epoch, goes from {short(h.loss[0])} to {short(h.loss[-1])}, "
        f"training {h.scored} is {h.shown(h.train_score[-1], 1)}, validation {h.scored} {h.shown(h.val_score[-1], 1)}.",
    )


def _gapes(h: History) -> bool:
    """Tell whether training does better than validation by more than is harmless."""
    return bool(h.gap[-WINDOW:].mean() > SMALL_GAP)


def _restless(h: History) -> tuple[str, ...]:
    """Return what keeps the losses of a network that has learned from being as low as they were, in sentences."""
    loss, found = recent_loss(h), []
    if swings(loss, RESTLESS) or loss[-WINDOW:].mean() > h.loss[0]:
        rises = np.diff(loss) > 0
        found.append(
            f"The training loss rises in {int(rises.sum())} of the last {len(rises)} epochs and lies between "
            f"{short(loss.min())} and {short(loss.max())}."
        )
    smooth = windows(h.val_loss)
    best = int(np.nanargmin(smooth))
    relapsed = smooth[-1] > max(RELAPSED * smooth[best], NEAR_NOTHING * h.baseline_val_loss)
    if relapsed or _rising(h, RISEN / 2) or not h.val_loss[-WINDOW:].mean() <= h.baseline_loss:
        found.append(
            f"{h.checked_on.capitalize()} loss is {short(smooth[-1])}, and was {short(smooth[best])} around epoch "
            f"{h.epochs[best + 1]} (medians of {WINDOW} epochs)."
        )
    return tuple(found)


def few_to_check(h: History) -> Evidence | None:
    """Return evidence that it has learned its samples, but too few others are held out to check it on."""
    if not h.proves_little or len(h) < MIN_EPOCHS or not h.learned or h.origin is None:
        return None
    few = "" if h.few_rows else f", and always answering with the commonest class is wrong for only {h.baseline_errors}"
    worse = np.median(h.val_loss[-WINDOW:]) > h.baseline_val_loss
    beaten = f" By validation loss, always answering with {h.baseline_answer} does better." if worse else ""
    return h.evidence(
        f"Training {h.scored} is {h.shown(h.train_score[-1], 1)}, validation {h.scored} {h.shown(h.val_score[-1], 1)} "
        f"on {h.origin['val_samples']} rows{few}: so few prove nothing.{beaten}",
    )


def unchecked(h: History) -> Evidence | None:
    """Return evidence that it has learned its samples, and that none are held out to check it on."""
    if h.config.val_fraction or len(h) < MIN_EPOCHS or not h.learned:
        return None
    return h.evidence(
        f"The training loss, of all samples after each epoch, goes from {short(h.loss[0])} to {short(h.loss[-1])}, "
        f"training {h.scored} is {h.shown(h.train_score[-1], 1)}. No sample was held out, so nothing says how it does "
        "on others.",
    )


def unsettled(h: History) -> Evidence | None:
    """Return evidence that it has learned, but its losses still rise again."""
    reasons = _restless(h) if len(h) >= MIN_EPOCHS and h.learned else ()
    return h.evidence(f"Training {h.scored} is {h.shown(h.train_score[-1], 1)}.", *reasons) if reasons else None


def small_gap(h: History) -> Evidence | None:
    """Return evidence that it has learned, with a gap too small or too uncertain to be called overfitting."""
    if len(h) < MIN_EPOCHS or not h.learned or not h.beats_baseline or not _gapes(h):
        return None
    return h.evidence(
        f"In epoch {h.epochs[-1]} training {h.scored} is {h.shown(h.train_score[-1], 1)} and validation {h.scored} "
        f"{h.shown(h.val_score[-1], 1)}, in the last {WINDOW} epochs {100 * h.gap[-WINDOW:].mean():.0f} points apart.",
    )


def settled(h: History) -> Evidence | None:
    """Return evidence that the loss stands still below the baseline's, on the validation samples, too."""
    if len(h) < STILL_EPOCHS or not abs(h.falling) < STILL or h.gap[-WINDOW:].mean() > WIDE_GAP:
        return None
    if creeps(h.loss) or creeps(h.val_loss) or swings(recent_loss(h), RESTLESS):
        return None
    if np.ptp(h.loss[-RECENT:]) > SPREAD * np.median(h.loss[-RECENT:]):
        return None
    recent = h.val_loss[-RECENT:]
    if np.ptp(recent) > VAL_SPREAD * np.median(recent):
        return None
    if recent.max() >= CHANCE * h.baseline_val_loss if h.regression else h.origin is None or not h.beats_baseline:
        return None
    low, high = short(recent.min()), short(recent.max())
    jumps = f", and {h.checked_on} loss between {low} and {high}" if low != high else ""
    return h.evidence(
        f"The loss hardly changes any more: {short(h.loss[-1])}, where always answering with {h.baseline_answer} costs "
        f"{short(h.baseline_loss)}. In the last {RECENT} epochs {h.checked_on} {h.scored} was "
        f"{h.shown(float(np.median(h.val_score[-RECENT:])))} in the median{jumps}.",
    )


def no_better(h: History) -> Evidence | None:
    """Return evidence that the training loss no longer falls, though it may go up and down."""
    if len(h) < 2 * MIN_COMPARED or falls(h.loss) or mostly_falls(h.loss):
        return None
    before, now, width = before_and_now(h.loss)
    return h.evidence(
        f"The training loss is {short(h.loss[-1])}; its median is {short(now)} in the last {counted(width, 'epoch')}, "
        f"and was {short(before)} in as many before.",
    )


def jumping(h: History) -> Evidence | None:
    """Return evidence that the loss of a network that has not learned jumps up, by far or again and again."""
    if len(h) < MIN_EPOCHS or h.learned or not np.isfinite(h.loss).all():
        return None
    steps = h.loss[-RECENT - 1 :]
    jumps = np.flatnonzero(steps[1:] > (1 + JUMP) * steps[:-1])
    if len(jumps) < 2 and steps[-1] <= LEAP * np.median(steps[:-1]):
        return None
    at = (int(jumps[-1]) + 1 if jumps.size else len(steps) - 1) - len(steps)  # the last jump, counted from the end
    return h.evidence(
        f"In epoch {h.epochs[at]} the training loss jumps from {short(h.loss[at - 1])} to {short(h.loss[at])}; in the "
        f"last {len(steps)} epochs it lies between {short(steps.min())} and {short(steps.max())}.",
        at=at,
    )


def learning(h: History) -> Evidence | None:
    """Return how far the training loss has come, if there are enough epochs to say and it has come down."""
    lower = h.loss[-1] < h.loss[0]
    if len(h) < MIN_EPOCHS or not (lower or falls(h.loss)):
        return None
    top = int(np.nanargmax(h.loss))
    came = f"from {short(h.loss[0])}" if lower else f"from {short(h.loss[top])} in epoch {h.epochs[top]}"
    return h.evidence(
        f"The training loss went {came} to {short(h.loss[-1])} in {len(h)} epochs, and training {h.scored} is "
        f"{h.shown(h.train_score[-1], 1)}{_against(h)}.",
    )


def _against(h: History) -> str:
    """Return what always answering with the commonest class would reach; "" where that is not known or is R² 0."""
    known = h.origin is not None and not h.regression
    return f" (always answering with the commonest class: {h.shown(h.baseline_score('train'), 1)})" if known else ""


def early(h: History) -> Evidence:
    """Return how many epochs there are, and the losses if there are enough to compare."""
    losses = f" The training loss is {short(h.loss[-1])}, after {short(h.loss[0])} in the first." if len(h) > 1 else ""
    return h.evidence(f"Epochs so far: {len(h)}.{losses}")


# ---------------------------------------------------------------- reading records


def _middle(histogram: Histogram) -> float:
    """Return the share of the weights that lie in the two bins around 0."""
    counts = histogram["counts"]
    half = len(counts) // 2
    return (counts[half - 1] + counts[half]) / max(total(histogram), 1)  # weights that are nan lie in no bin


def _size(histogram: Histogram) -> float:
    """Return the root mean square of the weights, each taken to lie in the middle of its bin."""
    edges = np.array(histogram["edges"])
    middles = np.r_[edges[0], (edges[1:] + edges[:-1]) / 2, edges[-1]]
    counts = np.array([histogram["below"], *histogram["counts"], histogram["above"]])
    return math.sqrt(float(counts @ middles**2) / max(total(histogram), 1))


def _largest(values: np.ndarray) -> float:
    """Return the largest finite value; 0 if there is none."""
    return float(np.max(values[np.isfinite(values)], initial=0.0))
