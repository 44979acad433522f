"""The rules that a curve is asked: the doctor's where its columns allow, and those that only another trainer needs.

Causes stand before their consequences, as in the doctor's own table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import cast

import numpy as np

from lab.failures.curve.history import MOST_CLASSES, UploadedCurve
from lab.failures.curve.known import CALLED, KNOWN
from lab.text import short
from lab.training import symptoms
from lab.training.doctor import Rule
from lab.training.remedies import Remedy
from lab.training.symptoms import FEWEST, STILL, WINDOW, Evidence, History

RISE = 3.0  # of a loss or norm, over its lowest so far, before it ceases to be a number: then it grew
HUGE = 3.0  # a first loss below it is not due to inputs or weights of a wrong scale
LARGE_NORM = 30.0  # of all gradients together, in the first epoch
SAME = 1e-6  # share by which a loss that stands exactly still may differ
MIN_PLATEAU = 40  # epochs: until then a plateau may lead on
SCATTER = 0.6  # deviation of single steps from their block, over its mean
CREEP = 0.2  # share by which a creeping loss falls at most
FLOOR = 0.03  # how near a loss stands to the floor of a softmax over a softmax
BLOW_UP, FACTOR = 8.0, 1.1  # a blow-up grows so much in all, and by so much from each point to the next
STEADY = 0.85  # share of its factor that a blow-up keeps to the end
MOTIONLESS = 1e-3  # share by which a loss varies at most where it has no noise of batches
AT_GUESSING, MAX_EXACT_CLASSES = 5e-4, 200  # how near to log(classes); of more classes the logarithms lie too close
MIN_SPIKES = 3
BARELY = 1.1  # accuracy over exp(-loss), which is 1 where equal probabilities are given to some classes
STANDS = 0.06  # share by which a loss that never learned anything may have changed


def _asked(find: Callable[[UploadedCurve], Evidence | None]) -> Callable[[History], Evidence | None]:
    """A symptom of a curve, as the doctor's table has it."""
    return lambda h: find(cast(UploadedCurve, h))


def _evidence(c: UploadedCurve, at: int, *sentences: str) -> Evidence:
    return Evidence(sentences, c.epochs[at])


def _has_grown(c: UploadedCurve, end: int) -> bool:
    """Was it on its way up before it ceased to be a number? A curve that ends at once had no time to show it."""
    series = [c.loss[:end], c.total[:end], *([c.norms[:end].max(axis=1)] if c.norms.size else [])]
    for values in series:
        finite = values[np.isfinite(values)]
        if len(finite) > 1 and finite[-1] > max(RISE * finite.min(), finite[0]):
            return True
    return end < 2 or bool(c.loss[0] > 50)


def ended_sudden(c: UploadedCurve) -> Evidence | None:
    """It ceases to be a number in the middle of a run that went well."""
    end = c.end
    return None if end is None or _has_grown(c, end) else symptoms.overflow(c)


def ended_grown(c: UploadedCurve) -> Evidence | None:
    end = c.end
    return symptoms.overflow(c) if end is not None and _has_grown(c, end) else None


def piling(c: UploadedCurve) -> Evidence | None:
    """Gradients grow from epoch to epoch, and the loss does not settle. By layer, or all together."""
    loss = c.loss[np.isfinite(c.loss)]
    if len(loss) < FEWEST + 1 or loss[-WINDOW:].mean() < 1.3 * loss.min() or loss[1:].min() > loss[0]:
        return None
    if c.end is not None:  # too large for gradients that are added up: it multiplies
        return None
    lowest = int(np.argmin(loss))
    highest = lowest + int(np.argmax(loss[lowest:]))
    if loss[lowest] < 0.3 * loss[0] and loss[highest] > 1.5 * loss[0]:
        return _evidence(
            c,
            lowest,
            f"The loss had fallen from {short(loss[0])} to {short(loss[lowest])} in epoch {c.epochs[lowest]}, and "
            "went up to "
            f"{short(loss[highest])} from there: the steps have become larger and larger.",
        )
    if c.norms.size:
        return symptoms.piling(c)
    norms = c.total[np.isfinite(c.total)]
    if len(norms) < FEWEST + 1:
        return None
    first, last = float(norms[0]), float(np.median(norms[-WINDOW:]))
    if not (last >= symptoms.GROWTH * first and last >= symptoms.BAND[1]):
        return None
    at = int(np.argmax(norms >= symptoms.GROWTH * first))
    return _evidence(
        c,
        at,
        f"The loss had fallen to {short(loss.min())}, and is at {short(loss[-WINDOW:].mean())} in the end; the "
        "gradient norm "
        f"grows from {short(first, 2)} in epoch {c.epochs[0]} to {short(last, 2)}.",
    )


def blowing_up(c: UploadedCurve) -> Evidence | None:
    """The loss multiplies by much the same factor from point to point, and still does so in the end."""
    loss = c.loss[np.isfinite(c.loss)]
    if len(loss) < 2 * FEWEST or int(np.argmin(loss)) > 1 or loss.min() <= 0:
        return None
    early, middle, late = (float(np.median(part)) for part in np.array_split(loss, 3))
    third = len(loss) / 3
    factor = (late / middle) ** (1 / third)
    if (
        not early < middle < late
        or loss.max() < BLOW_UP * loss[0]
        or factor < FACTOR
        or late / middle < STEADY * middle / early
    ):
        return None
    return _evidence(
        c,
        0,
        f"The loss is multiplied by about {short(factor, 2)} in each epoch, from {short(loss[0])} to "
        f"{short(loss.max())}.",
    )


def climbing(c: UploadedCurve) -> Evidence | None:
    """The loss rises from the very first on, part by part of the curve."""
    loss = c.loss[np.isfinite(c.loss)]
    if len(loss) < FEWEST + 1 or int(np.argmin(loss)) > 1 or (c.first and c.loss[0] > RISE * c.first[0]):
        return None
    parts = [float(np.median(part)) for part in np.array_split(loss, min(5, len(loss)))]
    if not all(a < b for a, b in pairwise(parts)) or parts[-1] < 1.2 * parts[0] or loss[0] > 15:
        return None
    accuracy = ""
    if c.scored_in_training and c.train_score[-1] < c.train_score[0]:
        accuracy = f" Training accuracy falls with it, from {c.train_score[0]:.0%} to {c.train_score[-1]:.0%}."
    return _evidence(
        c, 0, f"The training loss climbs from its first value, {short(loss[0])}, to {short(loss[-1])}.{accuracy}"
    )


def huge_start(c: UploadedCurve) -> Evidence | None:
    """The first loss is far beyond guessing, before any step could throw it there, or comes down from there by itself.

    Of a loss without accuracies nobody knows what guessing costs: it may measure something in thousands.
    """
    first, norm = c.first or (float(c.loss[0]), math.nan)
    norms = np.array([norm, c.total[0], *(c.norms[0] if c.norms.size and not c.first else [])])
    norm = float(np.max(norms[np.isfinite(norms)], initial=0.0))
    finite = c.loss[np.isfinite(c.loss)]
    if not math.isfinite(first) or first < 10:
        return None
    comes_down = len(finite) == len(c.loss) and float(np.median(finite[-WINDOW:])) < 0.5 * first
    if not c.scored_in_training and (comes_down or not c.first):
        return None
    if not norm > LARGE_NORM and not (comes_down and c.learned):
        return None
    gradient = f" The gradient norm is {short(norm, 2)} there." if norm else ""
    where = "In the first step" if c.first else f"In epoch {c.epochs[0]}"
    return _evidence(c, 0, f"{where} the loss is {short(first)}: guessing among ten classes costs 2.3.{gradient}")


def thrown(c: UploadedCurve) -> Evidence | None:
    """The loss jumps far beyond where guessing lies, and what comes after is no better than guessing."""
    finite = c.loss[np.isfinite(c.loss)]
    if len(finite) < FEWEST or c.learned:
        return None
    early = finite[: max(FEWEST, len(finite) // 3)]
    worst, rest = int(np.argmax(early)), float(np.median(finite[-WINDOW:]))
    begun = c.first[0] if c.first else float(early[0])
    jumped = early[worst] > RISE * begun and rest > 0.8 * begun
    if not jumped and not (c.scored_in_training and early[worst] > max(15.0, 5 * rest)):
        return None
    came = f", after {short(begun)} at first" if begun < early[worst] else ""
    return _evidence(
        c,
        worst,
        f"In epoch {c.epochs[worst]} the loss is {short(early[worst])}{came}, and {short(rest)} in the end: the first "
        "steps "
        "went much too far.",
    )


def swinging(c: UploadedCurve) -> Evidence | None:
    """Where there is a validation loss it swings as well: the mean over the batches of an epoch is never at rest."""
    if c.falling > CREEP:
        return None
    recent = c.val_loss[np.isfinite(c.val_loss)][-len(symptoms.recent_loss(c)) :]
    if c.config.val_fraction and not symptoms.swings(recent, symptoms.SWING):
        return None
    return symptoms.swinging(c)


def cut_off(c: UploadedCurve) -> tuple[int, str] | None:
    """The first epoch from which on no gradient reaches a hidden layer, and the layer."""
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
    """No gradient has ever reached any hidden layer, as where all weights are zero."""
    found = cut_off(c)
    if found is None or found[0] > 0 or np.any(c.norms[:, :-1] > 1e-12):
        return None
    return _evidence(
        c,
        0,
        f"The gradient norm of every layer but the last is exactly 0 from epoch {c.epochs[0]} on, and the loss "
        f"stays at {short(c.loss[-1])}.",
    )


def cut_later(c: UploadedCurve) -> Evidence | None:
    """A layer gets no gradient any more, or never did while others do."""
    found = cut_off(c)
    if found is None:
        return None
    since, layer = found
    return _evidence(c, since, f"The gradient norm of {layer} is exactly 0 from epoch {c.epochs[since]} on.")


def late_explosion(c: UploadedCurve) -> Evidence | None:
    """A norm far beyond what is usual, in a run that has not learned."""
    if c.learned or (len(c) >= 2 * WINDOW and c.falling > STILL):
        return None
    return symptoms.exploding(c)


def scatters(c: UploadedCurve) -> Evidence | None:
    """Single steps lie far from their mean, and the means do not get anywhere any more."""
    if not c.scatter >= SCATTER or len(c) < 2 * WINDOW or c.learned:
        return None
    first, last = float(c.loss[0]), float(c.loss[-WINDOW:].mean())
    if not last > 0.2 * first or not (abs(c.falling) < 0.15 or symptoms.swinging(c)):
        return None
    return _evidence(
        c,
        len(c) // 2,
        f"Single steps lie {c.scatter:.0%} from the mean of their epoch, and the means have come from {short(first)} "
        "to "
        f"{short(last)} only.",
    )


def frozen(c: UploadedCurve) -> Evidence | None:
    """The loss is the same in every epoch, to the last digit."""
    loss = c.smooth
    if len(loss) < FEWEST + 1 or not np.isfinite(loss).all() or np.ptp(loss) > SAME * abs(loss.mean()):
        return None
    which = "validation" if c.config.val_fraction else "training"
    norm = c.total[np.isfinite(c.total)]
    gradients = (
        f" Gradients are there: their norm is {short(float(norm[-1]), 2)}." if norm.size and norm[-1] > 0 else ""
    )
    return _evidence(
        c, 0, f"The {which} loss is {short(loss[0], 6)} in each of {len(loss)} epochs, to the last digit.{gradients}"
    )


def motionless(c: UploadedCurve) -> bool:
    """Does the loss vary less than any noise of batches would make it, and never fall?"""
    loss = c.smooth
    return stands_still(c) and float(np.ptp(loss)) < MOTIONLESS * abs(float(loss.mean()))


def at_guessing(c: UploadedCurve) -> Evidence | None:
    """The loss stands at what equal probabilities cost: all answers are the same, as with weights of zero."""
    count, middle = c.classes, float(np.median(c.smooth))
    if not motionless(c) or c.norms.size or not count or count > MAX_EXACT_CLASSES:
        return None
    if abs(middle - math.log(count)) > AT_GUESSING:
        return None
    return _evidence(
        c,
        0,
        f"The loss stays at {short(middle, 4)}, within {short(float(np.ptp(c.smooth)), 1)}: exactly what equal "
        f"probabilities for {count} classes cost. Noise of batches, as with wrong labels, would move it more.",
    )


def no_motion(c: UploadedCurve) -> Evidence | None:
    if not motionless(c) or c.norms.size:
        return None
    return _evidence(
        c,
        0,
        f"The loss stays at {short(float(c.smooth.mean()), 4)}, within {short(float(np.ptp(c.smooth)), 1)}: "
        "less than "
        "the noise of batches.",
    )


def spikes(c: UploadedCurve) -> Evidence | None:
    """Single steps cost more than the start of the run, again and again, and the next ones are as before."""
    at = c.spikes
    if len(at) < MIN_SPIKES:
        return None
    gaps = {b - a for a, b in pairwise(at)}
    rhythm = f", every {min(gaps)} rows" if len(gaps) == 1 else ""
    return _evidence(
        c,
        c.group_of(at[0]),
        f"{len(at)} of {len(c.raw)} values stand far above their neighbours{rhythm}: the highest is "
        f"{short(float(c.raw[at].max()))}, where the values around it are near {short(float(np.median(c.raw)))}.",
    )


def second_softmax(c: UploadedCurve) -> Evidence | None:
    """The answers are right, but the loss stands at a floor: where a softmax of a softmax has its own.

    Logits between 0 and 1 cost at least log(1 + (n - 1)/e) among n classes, and 1 more where the answer is wrong.
    """
    if len(c) < 2 * WINDOW or not abs(c.falling) < STILL:
        return None
    accuracy = float(c.train_score[-WINDOW:].mean())
    if not accuracy >= 0.7:
        return None
    loss = float(c.loss[-WINDOW:].mean())
    highest = float(np.nanmax(c.loss))
    for count in range(2, MOST_CLASSES):
        floor = math.log1p((count - 1) / math.e)
        if abs(loss - floor - (1 - accuracy)) < FLOOR and highest <= floor + 1 + FLOOR:
            return _evidence(
                c,
                len(c) // 2,
                f"Training accuracy is {accuracy:.0%}, and yet the loss stands still at {short(loss)}: with two "
                "softmaxes "
                f"{count} classes cannot cost less than {short(floor)}.",
            )
    return None


def vanishing(c: UploadedCurve) -> Evidence | None:
    return None if cut_off(c) else symptoms.vanishing(c)


def learned_nothing_else(c: UploadedCurve) -> Evidence | None:
    """Training samples are learned, and others never did any better than at first."""
    if not c.config.val_fraction or len(c) < 2 * WINDOW or c.end is not None:
        return None
    gained = 1 - c.loss[-WINDOW:].mean() / min(c.loss[0], c.guess)  # down to guessing nothing is learned
    classes, middle = c.classes, float(np.median(c.val_score))
    if gained < 0.15 or not classes or c.val_loss.min() < 0.9 * c.guess or not middle <= 1.5 / classes:
        return None
    return _evidence(
        c,
        0,
        f"The training loss falls by {gained:.0%}, but the validation loss was never below {short(c.val_loss.min())}, "
        f"and guessing among {classes} classes costs {short(c.guess)}. Validation accuracy is {middle:.0%}, and "
        "guessing "
        f"gives {1 / classes:.0%}.",
    )


def stands_still(c: UploadedCurve) -> bool:
    """Has the loss never gone anywhere, from its first epoch on?"""
    if len(c) < 2 * FEWEST or c.end is not None or c.learned:
        return False
    loss = c.smooth
    first, last = loss[:WINDOW].mean(), loss[-WINDOW:].mean()
    if np.isfinite(c.train_score).any() and c.train_score[-WINDOW:].mean() - c.train_score[0] > 0.15:
        return False
    return bool(abs(1 - last / first) < STANDS and loss.max() - loss.min() < 2 * STANDS * abs(first))


def creeping(c: UploadedCurve) -> Evidence | None:
    """The loss falls in nearly every epoch, evenly, and by next to nothing."""
    loss = c.smooth
    if len(loss) < 2 * FEWEST or c.end is not None or c.learned:
        return None
    steps, middle = np.diff(loss), len(loss) // 2
    fell = 1 - loss[-1] / loss[0]
    early, late = loss[0] - loss[middle], loss[middle] - loss[-1]
    if np.mean(steps < 0) < 0.8 or not 0 < fell < CREEP or late < 0.35 * early:
        return None
    return _evidence(
        c,
        0,
        f"The loss creeps from {short(loss[0], 4)} to {short(loss[-1], 4)} in {len(loss)} epochs, evenly and without "
        "a bend.",
    )


def stands_lively(c: UploadedCurve) -> Evidence | None:
    """It stands still though gradients reach every layer, as the log says."""
    if not stands_still(c) or not c.norms.size or not c.norms[-WINDOW:].min() >= symptoms.BAND[0]:
        return None
    return _evidence(
        c, 0, f"{_stays(c)} Gradients reach every layer: the smallest norm is {short(float(c.norms[-1].min()), 2)}."
    )


def stands(c: UploadedCurve) -> Evidence | None:
    return _evidence(c, 0, _stays(c)) if stands_still(c) else None


def _stays(c: UploadedCurve) -> str:
    loss = c.smooth
    guess = f", and guessing among {c.classes} classes costs {short(c.guess)}" if c.classes else ""
    low, high = short(float(loss.min()), 4), short(float(loss.max()), 4)
    where = f"at {low}" if low == high else f"between {low} and {high}"
    return f"The loss stays {where} from the first epoch on{guess}."


def overfitting(c: UploadedCurve) -> Evidence | None:
    """Where the answers on validation samples are as right as ever, a loss that rises a little is no alarm."""
    if not c.config.val_fraction:
        return None
    score, loss = c.val_score[-WINDOW:].mean(), c.val_loss
    if score >= symptoms.LEARNED and score >= np.max(c.val_score) - symptoms.LOST and loss[-1] < 1.5 * loss.min():
        return None
    return symptoms.overfitting(c)


def underfitting(c: UploadedCurve) -> Evidence | None:
    """As the doctor's, but by the validation loss, which is smoother than what other trainers write of training."""
    if not c.scored_in_training or c.learned or len(c) < MIN_PLATEAU or c.end is not None:
        return None
    width = len(c) // 4
    before, now = c.smooth[-2 * width : -width].mean(), c.smooth[-width:].mean()
    if not abs(1 - now / before) < STILL:
        return None
    which = "validation" if c.config.val_fraction else "training"
    return _evidence(
        c,
        len(c) - 2 * width,
        f"Training accuracy stands at {c.train_score[-width:].mean():.0%}, and the {which} loss hardly changes any "
        f"more: {short(before)} on average from epoch {c.epochs[-2 * width]} to {c.epochs[-width - 1]}, {short(now)} "
        "since.",
    )


def at_chance(c: UploadedCurve) -> bool:
    """Are the answers on the training samples no better than the loss of a guess makes them?"""
    return float(c.train_score[-WINDOW:].mean()) < BARELY * math.exp(-float(c.loss[-WINDOW:].mean()))


def _known(key: str) -> Callable[[History], Remedy]:
    return lambda _: Remedy(KNOWN[CALLED.get(key, key)].advice)


def _rule(key: str, find: Callable[[UploadedCurve], Evidence | None], instrument: str, *brings: str) -> Rule:
    return Rule(key, KNOWN[CALLED.get(key, key)].name, _asked(find), _known(key), instrument, frozenset(brings))


_STUCK = ("labels", "rate-low", "underfitting", "overfitting", "stands")
_WILD = ("rate-high", "scale", "exploding", "vanishing", "dying", "batch-noise", "nan", *_STUCK)
# Causes before consequences, as the doctor's own table.
OF_A_CURVE = (
    _rule("blowing-up", blowing_up, "loss", "climbing", "piling", *_WILD),
    _rule("climbing", climbing, "loss", "piling", *_WILD),
    _rule("scale", huge_start, "loss", "piling", *_WILD),
    _rule("piling", piling, "norms", *_WILD),
    _rule("nan", ended_sudden, "loss", *_WILD),
    _rule("ended-grown", ended_grown, "loss", "rate-high", *_WILD),
    _rule("rate-high", thrown, "loss", *_WILD),
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
    _rule("labels", stands_lively, "loss", *_STUCK),
    _rule("labels", learned_nothing_else, "loss", *_STUCK),
    _rule("overfitting", overfitting, "gap", "underfitting"),
    _rule("labels", stands, "loss", *_STUCK),
    _rule("underfitting", underfitting, "loss"),
)
# What the same numbers may also be, the likeliest first.
ALSO: Mapping[str, tuple[str, ...]] = {
    "blowing-up": ("climbing",),
    "ended-grown": ("scale", "nan", "piling"),
    "at-guessing": ("frozen", "dying", "vanishing", "rate-low"),
    "no-motion": ("rate-low", "vanishing"),
    "spikes": ("rate-high",),
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
