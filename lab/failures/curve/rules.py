"""The rules for a curve: the doctor's own where its columns allow them, and some that only other trainers need.

Causes come before their consequences, as in the doctor's own table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import cast

import numpy as np

from lab.failures.curve.history import MAX_CLASSES, UploadedCurve
from lab.failures.curve.known import KNOWN, KNOWN_KEY
from lab.text import short
from lab.training import symptoms
from lab.training.doctor import Rule
from lab.training.remedies import Remedy
from lab.training.run_history import LEARNED, STILL, WINDOW, Evidence, History, windows
from lab.training.symptoms import MIN_EPOCHS

RISE = 3.0  # ratio of a loss or norm to its lowest before, from which it counts as grown
HUGE = 3.0  # a first loss below this does not come from inputs or weights of the wrong scale
LARGE_NORM = 30.0  # norm of all gradients in the first epoch
SAME = 1e-6  # relative range of a loss that is exactly the same
MIN_PLATEAU = 40  # epochs: a shorter plateau may still end
SCATTER = 0.6  # standard deviation of the steps in a block, over their mean
CREEP = 0.2  # a creeping loss falls by at most this share
FLOOR = 0.03  # distance of a loss from the floor of a softmax applied to a softmax
BLOW_UP, FACTOR = 8.0, 1.1  # smallest growth of a blow-up in all, and from each point to the next
STRAIGHT = 0.999  # correlation of the logarithm of an exponential growth with time
STEADY = 0.85  # a blow-up keeps this share of its factor to the end
MOTIONLESS = 1e-3  # largest relative range of a loss without batch noise
AT_GUESSING, MAX_EXACT_CLASSES = 5e-4, 200  # distance from log(classes); for more classes the logarithms are too close
MIN_SPIKES = 3
BY_CHANCE = 0.1  # accuracy above that of guessing, of a network that guesses
BARELY = 1.1  # accuracy over exp(-loss), which is 1 if the probabilities of some classes are equal
CREPT_UP, WIDE_APART = 0.05, 0.25  # rise of the validation loss; its distance from training loss, over the first loss
LEARNS = 0.15  # share by which a training loss falls that is not flat
APART, SETTLED = 4.0, 0.02  # validation loss over training loss of a wide gap; largest share by which it still falls
FLAT = 0.06  # largest relative change of a loss that never learned anything


def _for_doctor(find: Callable[[UploadedCurve], Evidence | None]) -> Callable[[History], Evidence | None]:
    """Adapt a rule for a curve to the type that the doctor's table has."""
    return lambda h: find(cast(UploadedCurve, h))


def _has_grown(c: UploadedCurve, end: int) -> bool:
    """Tell whether the loss or a norm grew before the loss became inf or nan. A loss that does so at once counts."""
    series = [c.loss[:end], c.total[:end], *([c.norms[:end].max(axis=1)] if c.norms.size else [])]
    for values in series:
        finite = values[np.isfinite(values)]
        if len(finite) > 1 and finite[-1] > max(RISE * finite.min(), finite[0]):
            return True
    return end < 2 or bool(c.loss[0] > 50)


def ended_sudden(c: UploadedCurve) -> Evidence | None:
    """Find a number that becomes inf or nan in the middle of a run that went well, or a validation loss that does."""
    return None if not c.only_validation_ended and _has_grown(c, c.end or 0) else _ended(c)


def ended_grown(c: UploadedCurve) -> Evidence | None:
    return None if c.only_validation_ended or not _has_grown(c, c.end or 0) else _ended(c)


def _ended(c: UploadedCurve) -> Evidence | None:
    if c.ended is None:
        return None
    at, which = c.ended
    fine = "; the training loss always is" if c.only_validation_ended else ""
    before = f"; one epoch before the training loss was {short(c.loss[at - 1])}" if at and not fine else ""
    return c.evidence(f"In epoch {c.epochs[at]} the {which} is not a number{fine}{before}.", at=at)


def piling(c: UploadedCurve) -> Evidence | None:
    """Find gradients that grow from epoch to epoch, by layer or all together, while the loss does not settle."""
    loss = c.loss[np.isfinite(c.loss)]
    if len(loss) < MIN_EPOCHS + 1 or loss[-WINDOW:].mean() < 1.3 * loss.min() or loss[1:].min() > loss[0]:
        return None
    if c.end is not None:  # gradients that add up grow linearly: overflow means another cause
        return None
    lowest = int(np.argmin(loss))
    highest = lowest + int(np.argmax(loss[lowest:]))
    if loss[lowest] < 0.3 * loss[0] and loss[highest] > 1.5 * loss[0]:
        return c.evidence(
            f"The loss had fallen from {short(loss[0])} to {short(loss[lowest])} in epoch {c.epochs[lowest]}, and "
            f"rose to {short(loss[highest])} from there: the steps became larger and larger.",
            at=lowest,
        )
    if c.norms.size:
        return symptoms.piling(c)
    norms = c.total[np.isfinite(c.total)]
    if len(norms) < MIN_EPOCHS + 1:
        return None
    first, last = float(norms[0]), float(np.median(norms[-WINDOW:]))
    if not (last >= symptoms.GROWTH * first and last >= symptoms.BAND[1]):
        return None
    at = int(np.argmax(norms >= symptoms.GROWTH * first))
    return c.evidence(
        f"The loss fell to {short(loss.min())} and ends at {short(loss[-WINDOW:].mean())}; the "
        f"gradient norm grows from {short(first, 2)} in epoch {c.epochs[0]} to {short(last, 2)}.",
        at=at,
    )


def blowing_up(c: UploadedCurve) -> Evidence | None:
    """Find a loss that is multiplied by about the same factor from point to point, to the end."""
    loss = c.loss[np.isfinite(c.loss)]
    if len(loss) < 2 * MIN_EPOCHS or int(np.argmin(loss)) > 1 or loss.min() <= 0:
        return None
    early, middle, late = (float(np.median(part)) for part in np.array_split(loss, 3))
    third = len(loss) / 3
    factor = (late / middle) ** (1 / third)
    if (
        not early < middle < late
        or loss.max() < BLOW_UP * loss[0]
        or factor < FACTOR
        or (late / middle < STEADY * middle / early and not _is_exponential(loss))
    ):
        return None
    return c.evidence(
        f"The loss is multiplied by about {short(factor, 2)} in each epoch, from {short(loss[0])} to "
        f"{short(loss.max())}.",
        at=0,
    )


def _is_exponential(loss: np.ndarray) -> bool:
    """Tell whether the logarithm of a loss lies on a straight line."""
    return bool(np.corrcoef(np.arange(len(loss)), np.log(loss))[0, 1] > STRAIGHT)


def climbing(c: UploadedCurve) -> Evidence | None:
    """Find a loss that rises from its first value on, in every part of the curve."""
    loss = c.loss[np.isfinite(c.loss)]
    if len(loss) < MIN_EPOCHS + 1 or int(np.argmin(loss)) > 1 or (c.first and c.loss[0] > RISE * c.first[0]):
        return None
    parts = [float(np.median(part)) for part in np.array_split(loss, min(5, len(loss)))]
    if not all(a < b for a, b in pairwise(parts)) or parts[-1] < 1.2 * parts[0] or loss[0] > 15:
        return None
    accuracy = ""
    if c.has_train_score and c.train_score[-1] < c.train_score[0]:
        accuracy = f" Training accuracy falls with it, from {c.train_score[0]:.0%} to {c.train_score[-1]:.0%}."
    return c.evidence(
        f"The training loss climbs from its first value, {short(loss[0])}, to {short(loss[-1])}.{accuracy}", at=0
    )


def huge_start(c: UploadedCurve) -> Evidence | None:
    """Find a first loss far beyond the cost of guessing that no step can have caused, or that comes down by itself.

    Without accuracies the cost of guessing is unknown: the target may be measured in thousands.
    """
    first, norm = c.first or (float(c.loss[0]), math.nan)
    norms = np.array([norm, c.total[0], *(c.norms[0] if c.norms.size and not c.first else [])])
    norm = float(np.max(norms[np.isfinite(norms)], initial=0.0))
    finite = c.loss[np.isfinite(c.loss)]
    if not math.isfinite(first) or first < 10:
        return None
    comes_down = len(finite) == len(c.loss) and float(np.median(finite[-WINDOW:])) < 0.5 * first
    if not c.has_train_score and (comes_down or not c.first):
        return None
    if not norm > LARGE_NORM and not (comes_down and c.learned):
        return None
    gradient = f" The gradient norm is {short(norm, 2)} there." if norm else ""
    where = "In the first step" if c.first else f"In epoch {c.epochs[0]}"
    return c.evidence(f"{where} the loss is {short(first)}: guessing among ten classes costs 2.3.{gradient}", at=0)


def first_steps_too_large(c: UploadedCurve) -> Evidence | None:
    """Find a loss that jumps far beyond the cost of guessing, and is no better than guessing afterwards."""
    finite = c.loss[np.isfinite(c.loss)]
    if len(finite) < MIN_EPOCHS or c.learned:
        return None
    early = finite[: max(MIN_EPOCHS, len(finite) // 3)]
    worst, rest = int(np.argmax(early)), float(np.median(finite[-WINDOW:]))
    begun = c.first[0] if c.first else float(early[0])
    jumped = early[worst] > RISE * begun and rest > 0.8 * begun
    if not jumped and not (c.has_train_score and early[worst] > max(15.0, 5 * rest)):
        return None
    came = f", after {short(begun)} at first" if begun < early[worst] else ""
    return c.evidence(
        f"In epoch {c.epochs[worst]} the loss is {short(early[worst])}{came}, and {short(rest)} in the end: the first "
        "steps went much too far.",
        at=worst,
    )


def swinging(c: UploadedCurve) -> Evidence | None:
    """Find a loss that swings, with a validation loss that swings as well: batch means alone are never at rest."""
    if c.falling > CREEP:
        return None
    recent = c.val_loss[np.isfinite(c.val_loss)][-len(symptoms.recent_loss(c)) :]
    if c.config.val_fraction and not symptoms.swings(recent, symptoms.SWING):
        return None
    return symptoms.swinging(c)


def cut_off(c: UploadedCurve) -> tuple[int, str] | None:
    """Return the first epoch from which on no gradient reaches a hidden layer, and the layer; None if there is none."""
    if c.norms.shape[1] < 2 or c.end is not None:
        return None
    for layer in range(c.norms.shape[1] - 1):
        column = c.norms[:, layer]
        zero = column <= 1e-12
        if zero[-1] and not c.learned:
            since = len(zero) - int(np.argmin(np.r_[zero[::-1], False]))
            return since, c.layers[layer]
    return None


def no_gradient(c: UploadedCurve) -> Evidence | None:
    """Find a run in which no gradient ever reached a hidden layer, as with weights that are all zero."""
    found = cut_off(c)
    if found is None or found[0] > 0 or np.any(c.norms[:, :-1] > 1e-12):
        return None
    return c.evidence(
        f"The gradient norm of every layer but the last is exactly 0 from epoch {c.epochs[0]} on, and the loss "
        f"stays at {short(c.loss[-1])}.",
        at=0,
    )


def cut_later(c: UploadedCurve) -> Evidence | None:
    """Find a layer that gets no gradient any more, or never did while others do."""
    found = cut_off(c)
    if found is None:
        return None
    since, layer = found
    return c.evidence(f"The gradient norm of {layer} is exactly 0 from epoch {c.epochs[since]} on.", at=since)


def late_explosion(c: UploadedCurve) -> Evidence | None:
    """Find a gradient norm far beyond the usual, in a run that has not learned."""
    if c.learned or (len(c) >= 2 * WINDOW and c.falling > STILL):
        return None
    return symptoms.exploding(c)


def scatters(c: UploadedCurve) -> Evidence | None:
    """Find single steps far from their mean while the means stand still."""
    if not c.scatter >= SCATTER or len(c) < 2 * WINDOW or c.learned:
        return None
    first, last = float(c.loss[0]), float(c.loss[-WINDOW:].mean())
    if not last > 0.2 * first or not (abs(c.falling) < 0.15 or symptoms.swinging(c)):
        return None
    return c.evidence(
        f"Single steps lie {c.scatter:.0%} from the mean of their epoch, and the means only went from "
        f"{short(first)} to {short(last)}.",
        at=len(c) // 2,
    )


def frozen(c: UploadedCurve) -> Evidence | None:
    """Find a loss that is the same in every epoch, to the last digit."""
    loss = c.smooth
    if len(loss) < MIN_EPOCHS + 1 or not np.isfinite(loss).all() or np.ptp(loss) > SAME * abs(loss.mean()):
        return None
    which = "validation" if c.config.val_fraction else "training"
    norm = c.total[np.isfinite(c.total)]
    gradients = (
        f" Gradients are there: their norm is {short(float(norm[-1]), 2)}." if norm.size and norm[-1] > 0 else ""
    )
    return c.evidence(
        f"The {which} loss is {short(loss[0], 6)} in each of {len(loss)} epochs, to the last digit.{gradients}", at=0
    )


def motionless(c: UploadedCurve) -> bool:
    """Tell whether the loss never falls and varies less than the noise of batches would make it."""
    loss = c.smooth
    return is_flat(c) and float(np.ptp(loss)) < MOTIONLESS * abs(float(loss.mean()))


def saturated(c: UploadedCurve) -> Evidence | None:
    """Find a classifier whose loss stays far above the cost of guessing: its answers are certain, and wrong."""
    middle = float(np.median(c.smooth))
    if not (c.has_train_score or np.isfinite(c.val_score).any()) or not motionless(c) or middle < math.log(MAX_CLASSES):
        return None
    return c.evidence(
        f"The loss stays at {short(middle, 4)}, and guessing among {MAX_CLASSES} classes costs only "
        f"{short(math.log(MAX_CLASSES), 2)}: the answers are certain, and wrong.",
        at=0,
    )


def at_guessing(c: UploadedCurve) -> Evidence | None:
    """Find a loss that stays at the cost of equal probabilities: all answers are the same, as with zero weights."""
    count, middle = c.classes, float(np.median(c.smooth))
    if not motionless(c) or c.norms.size or not count or count > MAX_EXACT_CLASSES:
        return None
    if abs(middle - math.log(count)) > AT_GUESSING:
        return None
    return c.evidence(
        f"The loss stays at {short(middle, 4)}, within {short(float(np.ptp(c.smooth)), 1)}: exactly what equal "
        f"probabilities for {count} classes cost. Batch noise, as with wrong labels, would move it more.",
        at=0,
    )


def no_motion(c: UploadedCurve) -> Evidence | None:
    if not motionless(c) or c.norms.size:
        return None
    return c.evidence(
        f"The loss stays at {short(float(c.smooth.mean()), 4)}, within {short(float(np.ptp(c.smooth)), 1)}: "
        "less than "
        "batch noise.",
        at=0,
    )


def spikes(c: UploadedCurve) -> Evidence | None:
    """Find single steps that cost more than the start of the run, again and again, between normal ones."""
    at = c.spikes
    if len(at) < MIN_SPIKES:
        return None
    gaps = {b - a for a, b in pairwise(at)}
    rhythm = f", every {min(gaps)} rows" if len(gaps) == 1 else ""
    return c.evidence(
        f"{len(at)} of {len(c.raw)} values stand far above their neighbours{rhythm}: the highest is "
        f"{short(float(c.raw[at].max()))}, where the values around it are near {short(float(np.median(c.raw)))}.",
        at=c.group_of(at[0]),
    )


def second_softmax(c: UploadedCurve) -> Evidence | None:
    """Find right answers whose loss stops at the floor of a softmax applied to a softmax.

    Logits between 0 and 1 cost at least log(1 + (n - 1)/e) among n classes, and 1 more where the answer is wrong.
    """
    if len(c) < 2 * WINDOW or not abs(c.falling) < STILL:
        return None
    accuracy = float(c.train_score[-WINDOW:].mean())
    if not accuracy >= 0.7:
        return None
    loss = float(c.loss[-WINDOW:].mean())
    highest = float(np.nanmax(c.loss))
    for count in range(2, MAX_CLASSES):
        floor = math.log1p((count - 1) / math.e)
        if abs(loss - floor - (1 - accuracy)) < FLOOR and highest <= floor + 1 + FLOOR:
            return c.evidence(
                f"Training accuracy is {accuracy:.0%}, and yet the loss stands still at {short(loss)}: with two "
                f"softmaxes {count} classes cannot cost less than {short(floor)}.",
                at=len(c) // 2,
            )
    return None


def vanishing(c: UploadedCurve) -> Evidence | None:
    return None if cut_off(c) else symptoms.vanishing(c)


def learned_training_only(c: UploadedCurve) -> Evidence | None:
    """Find a run that learns its training samples, while others never do better than at first."""
    if not c.config.val_fraction or len(c) < 2 * WINDOW or c.end is not None:
        return None
    # A fall to the cost of guessing is not learning
    gained = 1 - c.loss[-WINDOW:].mean() / min(c.loss[0], c.baseline_loss)
    classes, middle = c.classes, float(np.median(c.val_score))
    if (
        gained < 0.15
        or not classes
        or c.val_loss.min() < 0.9 * c.baseline_loss
        or not middle <= 1 / classes + BY_CHANCE
    ):
        return None
    return c.evidence(
        f"The training loss falls by {gained:.0%}, but the validation loss was never below {short(c.val_loss.min())}, "
        f"and guessing among {classes} classes costs {short(c.baseline_loss)}. Validation accuracy is {middle:.0%}, "
        f"and guessing gives {1 / classes:.0%}.",
        at=0,
    )


def is_flat(c: UploadedCurve) -> bool:
    """Tell whether the loss has hardly changed since its first epoch."""
    if len(c) < 2 * MIN_EPOCHS or c.end is not None or c.learned:
        return False
    loss = c.smooth
    first, last = loss[:WINDOW].mean(), loss[-WINDOW:].mean()
    if np.isfinite(c.train_score).any() and c.train_score[-WINDOW:].mean() - c.train_score[0] > 0.15:
        return False
    trained = 1 - c.loss[-WINDOW:].mean() / c.loss[:WINDOW].mean()  # validation alone may have been at its best at once
    return bool(abs(1 - last / first) < FLAT and loss.max() - loss.min() < 2 * FLAT * abs(first) and trained < LEARNS)


def creeping(c: UploadedCurve) -> Evidence | None:
    """Find a loss that falls in nearly every epoch, evenly, and by next to nothing."""
    loss = c.smooth
    if len(loss) < 2 * MIN_EPOCHS or c.end is not None or c.learned:
        return None
    steps, middle = np.diff(loss), len(loss) // 2
    fell = 1 - loss[-1] / loss[0]
    early, late = loss[0] - loss[middle], loss[middle] - loss[-1]
    if np.mean(steps < 0) < 0.8 or not 0 < fell < CREEP or late < 0.35 * early:
        return None
    return c.evidence(
        f"The loss creeps from {short(loss[0], 4)} to {short(loss[-1], 4)} in {len(loss)} epochs, evenly and without "
        "a bend.",
        at=0,
    )


def flat_with_gradients(c: UploadedCurve) -> Evidence | None:
    """Find a loss that stands still though logged gradients reach every layer."""
    if not is_flat(c) or not c.norms.size or not c.norms[-WINDOW:].min() >= symptoms.BAND[0]:
        return None
    return c.evidence(
        f"{_flat_range(c)} Gradients reach every layer: the smallest norm is {short(float(c.norms[-1].min()), 2)}.",
        at=0,
    )


def flat_loss(c: UploadedCurve) -> Evidence | None:
    return c.evidence(_flat_range(c), at=0) if is_flat(c) else None


def _flat_range(c: UploadedCurve) -> str:
    loss = c.smooth
    guess = f", and guessing among {c.classes} classes costs {short(c.baseline_loss)}" if c.classes else ""
    low, high = short(float(loss.min()), 4), short(float(loss.max()), 4)
    where = f"at {low}" if low == high else f"between {low} and {high}"
    return f"The loss stays {where} from the first epoch on{guess}."


def overfitting(c: UploadedCurve) -> Evidence | None:
    """Find overfitting as the doctor does, unless validation accuracy is at its best and the loss rises only a
    little."""
    if not c.config.val_fraction:
        return None
    score, loss = c.val_score[-WINDOW:].mean(), c.val_loss
    if score >= LEARNED and score >= np.max(c.val_score) - symptoms.LOST and loss[-1] < 1.5 * loss.min():
        return None
    return symptoms.overfitting(c) or _far_apart(c) or _left_behind(c)


def _far_apart(c: UploadedCurve) -> Evidence | None:
    """Find a validation loss that has risen a little and lies so far above the training loss that a little counts."""
    if len(c) < 2 * WINDOW or c.end is not None:
        return None
    smooth = windows(c.val_loss)
    best = int(np.argmin(smooth))
    if len(smooth) - 1 - best < WINDOW:  # the two windows would overlap
        return None
    low, high = smooth[best], smooth[-1]
    before, after = np.median(c.loss[best : best + WINDOW]), np.median(c.loss[-WINDOW:])
    usual = np.median(np.abs(np.diff(c.val_loss)))  # from one epoch to the next
    if high - low < max(CREPT_UP * low, usual) or after > (1 - symptoms.FALLEN) * before:
        return None
    if after > high / 2 or high - after < WIDE_APART * c.loss[0]:
        return None
    return c.evidence(
        f"Training loss has fallen to {short(after)}, while validation loss has risen from {short(low)} around epoch "
        f"{c.epochs[best + 1]} to {short(high)} (medians of {WINDOW} epochs).",
        at=best + 1,
    )


def _left_behind(c: UploadedCurve) -> Evidence | None:
    """Find a validation loss that no longer falls, many times the training loss, which began like it."""
    if len(c) < 2 * WINDOW or c.end is not None:
        return None
    late = max(WINDOW, len(c) // 3)
    before, high, low = c.val_loss[-2 * late : -late], c.val_loss[-late:].mean(), c.loss[-WINDOW:].mean()
    if not before.size or high < (1 - SETTLED) * before.mean() or high < APART * low:
        return None
    if high - low < WIDE_APART * c.loss[0] or c.val_loss[0] > APART * c.loss[0]:
        return None
    return c.evidence(
        f"Training loss has fallen to {short(low)}, while validation loss stays at {short(high)}: it has not fallen "
        f"since epoch {c.epochs[-late]}.",
        at=len(c) - late,
    )


def underfitting(c: UploadedCurve) -> Evidence | None:
    """Find underfitting as the doctor does, but by the validation loss, which is smoother in other trainers' logs."""
    if not c.has_train_score or c.learned or len(c) < MIN_PLATEAU or c.end is not None:
        return None
    width = len(c) // 4
    before, now = c.smooth[-2 * width : -width].mean(), c.smooth[-width:].mean()
    if not abs(1 - now / before) < STILL:
        return None
    which = "validation" if c.config.val_fraction else "training"
    return c.evidence(
        f"Training accuracy stands at {c.train_score[-width:].mean():.0%}, and the {which} loss hardly changes any "
        f"more: {short(before)} on average from epoch {c.epochs[-2 * width]} to {c.epochs[-width - 1]}, {short(now)} "
        "since.",
        at=len(c) - 2 * width,
    )


def at_chance(c: UploadedCurve) -> bool:
    """Tell whether training accuracy is no better than guessing at this loss."""
    return float(c.train_score[-WINDOW:].mean()) < BARELY * math.exp(-float(c.loss[-WINDOW:].mean()))


def _known(key: str) -> Callable[[History], Remedy]:
    return lambda _: Remedy(KNOWN[KNOWN_KEY.get(key, key)].advice)


def _rule(key: str, find: Callable[[UploadedCurve], Evidence | None], instrument: str, *brings: str) -> Rule:
    return Rule(key, KNOWN[KNOWN_KEY.get(key, key)].name, _for_doctor(find), _known(key), instrument, frozenset(brings))


_STUCK = ("labels", "rate-low", "underfitting", "overfitting", "stands")
_WILD = ("rate-high", "scale", "exploding", "vanishing", "dying", "batch-noise", "nan", *_STUCK)
# Causes before consequences, as in the doctor's own table.
CURVE_RULES = (
    _rule("blowing-up", blowing_up, "loss", "climbing", "piling", *_WILD),
    _rule("climbing", climbing, "loss", "piling", *_WILD),
    _rule("scale", huge_start, "loss", "piling", *_WILD),
    _rule("piling", piling, "norms", *_WILD),
    _rule("nan", ended_sudden, "loss", *_WILD),
    _rule("ended-grown", ended_grown, "loss", "rate-high", *_WILD),
    _rule("rate-high", first_steps_too_large, "loss", *_WILD),
    _rule("saturated", saturated, "loss", "frozen", *_WILD),
    _rule("frozen", frozen, "loss", "flat", "dying", *_STUCK),
    _rule("flat", no_gradient, "norms", "dying", "vanishing", *_STUCK),
    _rule("dying", symptoms.dead_layer, "dead units", "vanishing", "rate-high", *_STUCK),
    _rule("dying", cut_later, "norms", "vanishing", "rate-high", *_STUCK),
    _rule("softmax-twice", second_softmax, "loss", *_STUCK),
    _rule("batch-noise", scatters, "loss", "rate-high", *_STUCK),
    _rule("spikes", spikes, "loss", "rate-high", "swinging"),
    _rule("swinging", swinging, "loss", "rate-high", "batch-noise", "exploding", *_STUCK),
    _rule("exploding", late_explosion, "norms", *_STUCK),
    _rule("dying", symptoms.dying, "dead units", "vanishing", *_STUCK),
    _rule("vanishing", vanishing, "norms", *_STUCK),
    _rule("rate-low", symptoms.slow, "updates", *_STUCK),
    _rule("rate-low", creeping, "loss", *_STUCK),
    _rule("at-guessing", at_guessing, "loss", "no-motion", "dying", "vanishing", *_STUCK),
    _rule("no-motion", no_motion, "loss", "frozen", *_STUCK),
    _rule("labels", flat_with_gradients, "loss", *_STUCK),
    _rule("labels", learned_training_only, "loss", *_STUCK),
    _rule("overfitting", overfitting, "gap", "underfitting"),
    _rule("labels", flat_loss, "loss", *_STUCK),
    _rule("underfitting", underfitting, "loss"),
)
# Other causes that give the same numbers, the likeliest first.
LOOKALIKES: Mapping[str, tuple[str, ...]] = {
    "blowing-up": ("climbing",),
    "ended-grown": ("scale", "nan", "piling"),
    "at-guessing": ("frozen", "dying", "vanishing", "rate-low"),
    "no-motion": ("rate-low", "vanishing"),
    "spikes": ("rate-high",),
    "saturated": ("scale", "dying"),
    "climbing": ("rate-high",),
    "scale": ("rate-high",),
    "piling": ("rate-high",),
    "nan": ("rate-high",),
    "rate-high": ("scale", "piling"),
    "swinging": ("batch-noise", "piling"),
    "frozen": ("rate-low",),
    "flat": ("dying",),
    "dying": ("flat",),
    "softmax-twice": (),
    "batch-noise": ("rate-high",),
    "rate-low": ("vanishing", "labels"),
    "labels": ("rate-low", "vanishing", "flat", "underfitting"),
}
