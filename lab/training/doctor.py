"""The training doctor: one table, read from top to bottom. The first row that fits is the verdict.

A row says what has to be recorded, which figures (figures.py) must pass which thresholds, the sentence that shows it,
and a remedy. Up to two further rows that fit are remarks. Runs of this trainer, loops that a learner wrote and logs
from elsewhere are read by the same table. A verdict is suspected until its remedy was tried (see trial.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lab.text import percent_text, short
from lab.training.config import DEFAULT_LR, PAGE_EPOCHS, Config, setting_text
from lab.training.figures import (
    FAR,
    LONG,
    PENALTIES,
    RECENT,
    STILL,
    WINDOW,
    Figures,
    creeps,
    falls,
    largest,
    later_fall,
    mostly_falls,
    swings,
    windows,
)  # read by rows  # fmt: skip
from lab.training.records import Record

Grade = Literal["seen", "suspected", "shown"]
Remedy = tuple[str, dict[str, Any]]  # what to do, as a sentence and as settings; no settings if none would help
BAND, HIGH_NORM = (0.01, 5.0), 10.0  # where the norm of a layer's gradient usually lies; from here on it explodes
SMALL, MAX_WIDTH = 16, 256  # hidden units below which a larger network is worth trying; units of a layer, at most
FEW = 30  # rows held out, with which no verdict is worth much
MAX_REMARKS = 2


@dataclass(frozen=True)
class Finding:
    """A verdict or a remark. evidence: sentences with numbers; epoch: where it first shows.

    grade: how sure it is. "seen": the records show it, and it may do no harm; "suspected": the run does worse than it
    should, and this may be why; "shown": the remedy was tried and helped. remedy: what to do, in a sentence; settings:
    the same as data: `replace(config, **settings)` is the run to try next; empty if no setting helps. like: keys of
    causes that would give the same numbers in a log from elsewhere.
    """

    key: str
    name: str
    evidence: tuple[str, ...]
    remedy: str
    settings: Mapping[str, Any]
    epoch: int
    grade: Grade = "suspected"
    like: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: {' '.join(self.evidence)} {self.remedy}"

    @property
    def well(self) -> bool:
        """Whether the finding names no illness."""
        return self.key in WELL


@dataclass(frozen=True)
class Rule:
    """A row of the table. needs: see `Figures.known`; since: the index of the epoch in which it first shows."""

    key: str
    name: str
    needs: str
    fits: Callable[[Any], Any]  # these take Figures, or the figures of a log, which has more
    says: Callable[[Any], str]
    remedy: Callable[[Any], Remedy]
    since: Callable[[Any], int] = lambda f: -1
    like: tuple[str, ...] = ()


def diagnose(records: Sequence[Record], config: Config, own_loop: bool = False) -> list[Finding]:
    """Diagnose a run: return the verdict, then at most two remarks; never an empty list.

    records: what `train.train` yields, from the first epoch on. Only the first and the last need histograms.
    own_loop: whether a learner's own training loop made them, which may itself be wrong.
    Raises ValueError if there are no records.
    """
    if not records:
        raise ValueError("There is nothing to diagnose: train for at least one epoch.")
    return examine(Figures(records, config.at(records[-1]["epoch"] - 1), "loop" if own_loop else "run"))


def examine(f: Figures) -> list[Finding]:
    """Return the verdict of the table and its remarks; an empty list for a log in which no row fits."""
    found: dict[str, Rule] = {}
    with np.errstate(all="ignore"):  # dividing by 0 gives nan or inf, which passes no threshold
        for row in TABLE:
            place = row.key in WELL if found else row.key in REMARKS  # of another kind than what is looked for
            if not place and len(found) <= MAX_REMARKS and f.known >= set(row.needs.split()) and row.fits(f):
                found.setdefault(row.key, row)
        causes = " ".join(row.says(f) for row in found.values() if row.key not in REMARKS)  # not repeated
        return [
            Finding(
                row.key, row.name, tuple(row.says(f).split("\n")), *row.remedy(f),
                f.epochs[row.since(f)], "seen" if row.key in WELL | REMARKS else "suspected", row.like,
            )
            for row in found.values() if row.key not in REMARKS or row.says(f) not in causes
        ]  # read by rows  # fmt: skip


# ---------------------------------------------------------------- remedies


def _do(text: str) -> Callable[[Figures], Remedy]:
    return lambda f: (text, {})


def rung(rate: float) -> float:
    """Return the largest of ..., 0.1, 0.3, 1, 3, 10, ... that is not above a rate."""
    power = 10 ** math.floor(math.log10(rate) + 1e-9)
    return float(f"{(3 if rate >= 2.999 * power else 1) * power:.1g}")


def _lower(f: Figures) -> Remedy:
    config, usual = f.config, DEFAULT_LR[f.config.optimizer]
    rate = usual if f.ended else rung(config.lr / 3 if config.lr <= 3 * usual else min(config.lr / 10, 10 * usual))
    text = f"Lower the learning rate from {config.lr:g} to {rate:g}, and further until the curve is smooth."
    return (text, {"lr": rate}) if config.init != "normal" else _rescale(f)


def _rescale(f: Figures) -> Remedy:
    """Advise initial weights of a fitting scale, with a rate for that scale; else clipped gradients or a lower rate."""
    config, usual = f.config, DEFAULT_LR[f.config.optimizer]
    if config.init not in ("zeros", "normal"):
        return _lower(f) if config.clip else ("Clip the gradients to a norm of 1.", {"clip": 1.0})
    init = "he" if config.activation in ("relu", "leaky_relu", "softplus") else "xavier"
    rate = config.init == "normal" and not usual / 3 <= config.lr <= usual
    also = f" and take the usual learning rate of {usual:g}" if rate else ""
    text = f"Set initial weights to {init} instead of {config.init}{also}: it keeps the scale from layer to layer."
    return text, {"init": init} | ({"lr": usual} if rate else {})


def _carry(f: Figures) -> Remedy:
    config, fewer = f.config, f.config.hidden[: len(f.config.hidden) // 2]
    if config.activation in ("relu", "leaky_relu") and config.init == "he":
        return f"Use fewer hidden layers: {setting_text(fewer)}.", {"hidden": fewer}
    text = f"Use relu and initial weights he, not {config.activation} and {config.init}, to pass on the whole gradient."
    return text, {"activation": "relu", "init": "he"}


def _raise(f: Figures) -> Remedy:
    rate = rung(f.config.lr * float(np.clip(3e-3 / f.step if f.step > 0 else 10, 3.5, 1000)))
    return f"Raise the learning rate from {f.config.lr:g} to {rate:g}.", {"lr": rate}


def _simplify(f: Figures) -> Remedy:
    config, decay = f.config, 10 * f.config.weight_decay or 0.01
    if config.samples is not None and config.samples < 1000:
        return f"Generate 1,000 samples instead of {config.samples}.", {"samples": 1000}
    if f.rows < FEW:
        return "Collect more samples: with so few rows to validate, no setting can be compared with another.", {}
    if decay <= 0.03:
        return f"Set weight decay to {decay:g}, which keeps the function simple. {_best(f)}", {"weight_decay": decay}
    return f"Stop soon after the best epoch: patience 5. {_best(f)}", {} if config.patience else {"patience": 5}


def _enlarge(f: Figures) -> Remedy:
    hidden = tuple(min(2 * width, MAX_WIDTH) for width in f.config.hidden)
    hidden = (16, 16) if sum(f.config.hidden) < SMALL else hidden if f.units else f.config.hidden
    layers = f"{setting_text(hidden)}{'' if f.units else ' with relu'} instead of {setting_text(f.config.hidden)}"
    text = f"Use hidden layers {layers}. If that changes nothing, the inputs may not tell the answers apart any better."
    return text, {"hidden": hidden} | ({} if f.units else {"activation": "relu", "init": "he"})


def _leave_the_plateau(f: Figures) -> Remedy:
    labels = "Check that the labels belong to their samples, and that the inputs can tell them apart."
    if "code" in f.known:
        return f"{labels} Check shapes, too: (n, 1) against (n,) broadcasts to (n, n).", {}
    larger = _enlarge if f.units < SMALL and f.gain < 0.03 else None
    first = _raise if f.low_rate else _lower if f.rate > FAR else larger
    return (f"{first(f)[0]} {labels}", first(f)[1]) if first else (labels, {})


def _go_on(f: Figures) -> Remedy:
    epochs, patience = f.config.epochs, f.config.patience
    if patience is not None and f.records[-1].get("since_best", 0) >= patience:
        return f"Set patience to {2 * patience}: it stops too soon.", {"patience": 2 * patience}
    if "validation" in f.known and not falls(f.val_loss) and len(f) >= LONG:
        return f"Training gets better and validation does not: more epochs alone may not help. {_best(f)}", {}
    if f.epochs[-1] < epochs or 2 * epochs > PAGE_EPOCHS:
        return "Train on.", {}
    return f"Train for {2 * epochs} epochs instead of {epochs}.", {"epochs": 2 * epochs}


def _best(f: Figures) -> str:
    return f"The best epoch so far is {f.epochs[f.best]} by validation loss."


# ---------------------------------------------------------------- what rows with several conditions look for


def _piles_up(f: Figures) -> bool:
    """Return whether gradients grow; in a log also whether the loss had fallen and rises."""
    norms, loss = f.norms if f.norms.size else f.total[:, None], f.loss
    grown = len(f) > WINDOW and np.any(np.median(norms[-WINDOW:], axis=0) >= np.maximum(2 * norms[0], BAND[1]))
    return bool(grown and ("log" not in f.known or (np.argmin(loss) and loss[-WINDOW:].mean() >= 1.3 * loss.min())))


def _val_rises(f: Figures, share: float) -> bool:
    """Return whether validation loss rose by this share from its minimum while training loss kept falling."""
    end = f.measured.max(initial=-1) + 1  # behind the last one that is known
    val, train = windows(f.val_loss[:end]), windows(f.loss[:end])
    best = int(np.argmin(val)) if len(val) and f.ended is None else len(val)
    if len(val) - 1 - best < 2 * WINDOW:
        return False
    usual = np.median(np.abs(np.diff(f.val_loss[f.measured][-LONG:])))
    lasts = min(val[-1], f.val_loss[end - 1]) >= (1 + share) * val[best] and val[-1] - val[best] >= 2 * usual
    ahead = val[-1] - train[-1] >= 0.03 and not f.gap[-WINDOW:].mean() < 0.015
    return bool(lasts and ahead and max(train[-1], f.loss[end - 1]) <= 0.9 * train[best])


def _wide_gap(f: Figures) -> bool:
    """Return whether the training score is far above the validation score, and the gap does not close."""
    quarter, val = max(WINDOW, len(f) // 4), windows(f.val_loss)
    gaps, wide = f.gap[-quarter:], 0.1 + (2 if creeps(f.val_loss) else 1) * f.error
    if len(f) < WINDOW or not min(gaps.mean(), gaps[-1]) > wide or (f.regression and not f.learned):
        return False
    closing = len(f) >= 2 * quarter and gaps.mean() < f.gap[-2 * quarter : -quarter].mean() and not f.learned
    helping = len(val) > WINDOW and val[-1] < 0.9 * val[-1 - WINDOW]
    at_best = val[-1] < 1.15 * val.min() if f.regression else val[-1] == val.min() and not f.learned
    return not (closing or helping or at_best or val[-1] < 1.15 * np.mean(f.loss[-WINDOW:]))


def _overfits(f: Any) -> bool:
    if "log" not in f.known:
        return _val_rises(f, 0.15) or _wide_gap(f)
    score = f.val_score[-WINDOW:].mean()
    well = score >= max(0.9, np.max(f.val_score) - 0.03) and f.val_loss[-1] < 1.5 * f.val_loss.min()
    apart = f.val_loss[-1] >= 1.5 * f.loss[-1]  # then a smaller rise is enough
    return not well and (_val_rises(f, 0.05 if apart else 0.15) or _wide_gap(f) or f.left_behind)


def _at_chance(f: Figures) -> bool:
    """Return whether what it learns helps nobody, or the loss stands still at the plain answer's with gradients."""
    cut_off = f.norms[-WINDOW:].min(initial=math.inf) < BAND[0]
    if len(f) < LONG or f.rows < FEW or not f.classes or f.units < 3 or cut_off:
        return f.useless
    right = np.median(f.val_score[-RECENT:]) > f.plain_score("val") + f.error and "code" not in f.known
    return f.useless or (abs(f.fall) < STILL and -0.1 <= f.gain <= 0.03 and not creeps(f.loss) and not right)


# ---------------------------------------------------------------- sentences


def _says_ended(f: Figures) -> str:
    (at, which), norm = f.ended or (0, ""), largest(f.norms)
    before = f"; one epoch before training loss was {short(f.loss[at - 1])}" if at else ""
    high = f"\nThe largest gradient norm that was measured is {short(norm, 2)}." if norm > HIGH_NORM else ""
    values = {"training loss": f.loss, "validation loss": f.val_loss}.get(which, f.loss[:0])
    gone = "no longer" if not np.isfinite(values[at:]).any() else "not"
    return f"In epoch {f.epochs[at]} the {which} is {gone} a number{before}.{high}"


def _says_dead(f: Figures) -> str:
    at, layer = np.unravel_index(np.argmax(f.dead[::-1]), f.dead.shape)
    share, epoch = percent_text(f.dead[::-1][at, layer]), f.epochs[::-1][at]
    return f"In epoch {epoch} {share} of the units of {f.layers[layer]} give the same output for every sample."


def _says_norm(f: Figures) -> str:
    norms = np.where(np.isfinite(f.norms), f.norms, -1)
    at, layer = np.unravel_index(norms.argmax(), norms.shape)
    where = f"In epoch {f.epochs[at]} the gradient norm of {f.layers[layer]} is {short(norms[at, layer], 2)}"
    return f"{where}; it usually lies between {BAND[0]} and {BAND[1]:g}."


def _says_overfits(f: Figures) -> str:
    best, last = f.best, f.measured[-1]
    then = f"In epoch {f.epochs[best]} validation loss was lowest, {short(f.val_loss[best])}; in epoch {f.epochs[last]}"
    loss = f"it is {short(f.val_loss[last])}. Training loss went from {short(f.loss[best])} to {short(f.loss[last])}."
    loss = loss if best < last else f"training loss is {short(f.loss[last])}."
    scores = f"training {f.scored} is {f.shown(f.train_score[last])} and validation {f.shown(f.val_score[last])}"
    return f"{then} {loss}" + (f"\nIn epoch {f.epochs[last]} {scores}." if np.isfinite(f.gap[last]) else "")


def _says_now(f: Figures) -> str:
    score = f"{f.scored} is {f.shown(f.train_score[-1], 1)}"
    now = f"Training loss went from {short(f.loss[0])} to {short(f.loss[-1])} in {len(f)} epochs, {score}"
    if "validation" in f.known:
        now += f"; validation loss is {short(f.val_loss[-1])}, validation {f.scored} {f.shown(f.val_score[-1], 1)}"
    plain = f"Always answering with {f.answer} costs {short(f.plain)} and {short(f.plain_val)}"
    scores = [f.shown(f.plain_score(part), 1) for part in ("train", "val")] if f.origin else []
    plain += f", with {f.scored} {' and '.join(scores)}" if scores else ""
    return f"{now}. {plain}." if f.plain < math.inf and "log" not in f.known else f"{now}."  # there it is a guess


def _says_swings(f: Figures) -> str:
    loss, since = f.lately, f.epochs[len(f) - len(f.lately)]
    rises = f"From epoch {since} on the training loss rises markedly in {f.rises} of {len(loss) - 1} epochs"
    return f"{rises}; it lies between {short(loss.min())} and {short(loss.max())}."


def _says_creeps(f: Figures) -> str:
    step = f"A step changes the weights by {short(f.step, 1)} of their size, and the" if f.step > 0 else "The"
    return f"{step} loss falls from {short(f.loss[0])} to {short(f.loss[-1])} in {len(f)} epochs."


# ---------------------------------------------------------------- the table

HIGH, LOW, EXPLODE = "The learning rate is too high", "The learning rate is too low", "Gradients explode"
DEAD, STUCK, SMALL_ONE = "A layer has died", "It answers as if by chance", "Too small, or nothing to learn"
NOTHING = _do("Nothing in these numbers asks for a change.")
TABLE = (
    # ---- what is wrong: causes before what they bring about
    Rule("rate-high", HIGH, "log", lambda f: f.grew >= 1.1,
        lambda f: f"On average the loss is multiplied by about {short(f.grew, 2)} in each epoch, from "
        f"{short(f.loss[0])} to {short(largest(f.loss))}.", _lower, since=lambda f: 0, like=("climbing",)),
    Rule("climbing", "The loss climbs", "code", lambda f: len(f.lately) > WINDOW and f.never_fell
        and f.lately[-1] >= 1.05 * f.loss[0]
        and np.all(np.diff([np.median(one) for one in np.array_split(f.lately, 4)]) > 0),
        lambda f: f"The training loss climbs from its first value, {short(f.loss[0])}, to {short(f.loss[-1])}.",
        _do("Check the sign of the update: weights move against the gradient. Then check the sign of the loss."),
        since=lambda f: 0, like=("rate-high",)),
    Rule("scale", "Numbers are far too large", "log", lambda f: f.first >= 10 and not f.loss[-1] > f.first
        and (largest(f.norm[:1]) > 30 or ("accuracy" in f.known and f.learned)),
        lambda f: f"The first loss is {short(f.first)}: guessing among ten classes costs 2.3.", _rescale,
        since=lambda f: 0, like=("rate-high",)),
    Rule("rate-high", HIGH, "log", lambda f: f.turned,
        lambda f: f"It diverges: the loss fell to {short(f.loss.min())} and ends at {short(f.loss[-1])}.", _lower,
        lambda f: f.turned, ("piling",)),
    Rule("piling", "Gradients pile up", "code", _piles_up,
        lambda f: f"The loss fell to {short(f.loss.min())} and ends at {short(f.loss[-1])}; the gradient norm went "
        f"from {short(f.norm[0], 2)} to {short(f.norm[-1], 2)}.",
        _do("Call zero_grad() before every backward(), on an optimizer that holds all parameters."),
        like=("rate-high",)),
    Rule("nan", "A number ends", "log", lambda f: f.ended and not f.had_grown, _says_ended, _lower,
        since=lambda f: f.ended[0], like=("rate-high",)),
    Rule("rate-high", HIGH, "log", lambda f: f.ended, _says_ended, _lower, since=lambda f: f.ended[0],
        like=("scale", "nan", "piling")),
    Rule("rate-high", HIGH, "log", lambda f: f.range < 1e-3 and np.isfinite(f.val_score).any() and f.smooth[-1] > 7,
        lambda f: f"The {f.watched} stays at {short(f.smooth[-1], 4)}: the answers are certain, and wrong.", _lower,
        since=lambda f: 0, like=("scale", "dying")),
    Rule("flat", "No gradient reaches the hidden layers", "norms", lambda f: f.norms[0, :-1].max() == 0
        and (min(f.near_zero(0)) >= 1 if "histograms" in f.known else f.norms[:, :-1].max() <= 1e-12),
        lambda f: f"After epoch {f.epochs[0]} the gradient norm of every layer but the last is exactly 0; in epoch "
        f"{f.epochs[-1]} the loss is {short(f.loss[-1])}, after {short(f.loss[0])} in the first.",
        _rescale, lambda f: 0, ("dying",)),
    Rule("collapsed", "The weights have collapsed", "settings histograms", lambda f: f.penalty[2] and len(f) >= RECENT
        and f.gain < 0.5 and f.shrunk <= 0.85 and not (f.learned or f.creeping),
        lambda f: f"The {PENALTIES[f.penalty[0]][0]} is {f.penalty[1]:g}, which is large, and the weights of a layer "
        f"have shrunk to {f.shrunk:.0%} of their size after epoch {f.epochs[0]}.",
        lambda f: (f"Lower it to {f.penalty[1] / 100:g}: it pulls harder than the loss.",
        {f.penalty[0]: f.penalty[1] / 100})),
    Rule("overflow", "The loss is no longer a number", "settings", lambda f: f.ended, _says_ended,
        lambda f: _rescale(f) if f.rate <= 1 else _lower(f), since=lambda f: f.ended[0]),
    Rule("rate-high", HIGH, "settings", lambda f: largest(f.loss[:WINDOW]) > 3 * f.plain and f.gain < 0.1
        and f.config.init != "normal" and not f.rate <= 1,
        lambda f: f"In the first epochs the training loss is {short(largest(f.loss[:WINDOW]))}, where always answering "
        f"with {f.answer} costs {short(f.plain, 2)}.", _lower, since=lambda f: 0, like=("scale", "piling")),
    Rule("rate-high", HIGH, "settings dead", lambda f: f.rate > FAR and f.gain < 0.5
        and (f.dead.max() >= 0.75 or f.high_norm > HIGH_NORM),
        lambda f: f"The learning rate is {f.config.lr:g}, {short(f.rate, 2)} times what is usual.\n"
        f"{_says_norm(f) if f.high_norm > HIGH_NORM else _says_dead(f)}", _lower),
    Rule("dying", DEAD, "dead", lambda f: f.dead_now >= 0.95 and f.gain < 0.5, _says_dead,
        lambda f: ("Start again with leaky_relu: its gradient is not 0 below 0.", {"activation": "leaky_relu"})
        if f.rate <= 1 and f.config.activation == "relu" else _lower(f), like=("flat",)),
    Rule("dying", DEAD, "log norms", lambda f: f.cut_off and not f.ended,
        lambda f: f"The gradient norm of {f.cut_off[1]} is exactly 0 from epoch {f.epochs[f.cut_off[0]]} on.", _lower,
        lambda f: f.cut_off[0], ("flat",)),
    Rule("softmax-twice", "Softmax before cross_entropy", "log accuracy", lambda f: f.double_softmax,
        lambda f: f"Training accuracy is {f.train_score[-1]:.0%}, and yet the loss stands at {short(f.loss[-1])}: "
        f"with two softmaxes {f.double_softmax} classes cannot cost much less.", _lower, like=("noise",)),
    Rule("rate-high", HIGH, "log", lambda f: f.oscillates and swings(f.smooth[-len(f.lately) :], 0.03)
        and max(np.quantile(f.loss[len(f) // 2 :], 0.6), f.loss[-1]) > 0.6 * np.quantile(f.loss[: len(f) // 2], 0.6),
        _says_swings, _lower, like=("batch-noise", "piling")),
    Rule("rate-high", "The loss swings", "settings", lambda f: f.oscillates, _says_swings, _lower),
    Rule("exploding", EXPLODE, "norms", lambda f: (f.gain < 0.5 and f.high_norm > HIGH_NORM)
        or (f.config.init == "normal" and largest(f.norms[:1]) > HIGH_NORM and f.val_loss[-1] > 0.5 * f.plain_val),
        _says_norm, _rescale),
    Rule("vanishing", "Gradients vanish on their way back", "norms", lambda f: len(f) >= WINDOW
        and f.norms.shape[1] > 2 and f.faint.mean() >= 0.5 and f.gain < 0.5 and not f.learned,
        lambda f: f"In {int(f.faint.sum())} of {len(f)} epochs a hidden layer has under a fiftieth of the last layer's "
        f"gradient, lastly {short(f.norms[f.faint, :-1][-1].min(), 2)} against {short(f.norms[f.faint, -1][-1], 2)}.",
        _carry, lambda f: int(np.argmax(f.faint))),
    Rule("clipped", "Clipping holds the training back", "settings updates", lambda f: f.creeping and f.clipped >= 0.9,
        lambda f: f"{percent_text(f.clipped)} of steps are clipped to a norm of {f.config.clip:g}. {_says_creeps(f)}",
        lambda f: ("Clip to a norm of 1.", {"clip": 1.0}) if f.config.clip < 0.5 else ("Do not clip.", {"clip": None})),
    Rule("rate-low", LOW, "updates", lambda f: f.creeping, _says_creeps, _raise, lambda f: 0,
        ("vanishing", "labels")),
    Rule("rate-low", LOW, "log", lambda f: not f.ended and len(f) >= 6 and not f.learned
        and np.mean(np.diff(f.smooth) < 0) >= 0.8 and 0 < 1 - f.smooth[-1] / f.smooth[0] < 0.2
        and later_fall(f.smooth) >= 0.35, _says_creeps, _raise, since=lambda f: 0, like=("vanishing", "labels")),
    Rule("frozen", "No parameter moves", "log", lambda f: f.range < (1e-6 if "norms" in f.known else 1e-3),
        lambda f: f"The {f.watched} stays at {short(f.smooth[-1], 4)}: noise of the batches would move it more.",
        _raise, lambda f: 0, ("flat", "dying", "vanishing", "rate-low")),
    Rule("noise", "The labels are noisy", "settings accuracy validation", lambda f: len(f) >= WINDOW and f.rows >= FEW
        and -f.gap[-WINDOW:].mean() > 0.08 + f.error
        and 1 - f.train_score[-WINDOW:].mean() > 2 * (1 - f.val_score[-WINDOW:].mean()), _says_now,
        _do("Look at the training samples that the network gets wrong: their labels may be wrong.")),
    Rule("overfitting", "The network overfits", "validation", _overfits, _says_overfits, _simplify, lambda f: f.best),
    Rule("labels", STUCK, "log", lambda f: f.stands, lambda f: f"The {f.watched} stays between "
        f"{short(f.smooth.min(), 4)} and {short(f.smooth.max(), 4)} from the first epoch on.", _leave_the_plateau,
        since=lambda f: 0, like=("rate-low", "vanishing", "flat", "underfitting")),
    Rule("underfitting", SMALL_ONE, "accuracy", lambda f: (f.units < 3 or ("log" in f.known and len(f) >= 40))
        and len(f) >= LONG and abs(f.fall) < STILL and f.gain < 0.1 and not f.learned, _says_now, _enlarge,
        like=("labels",)),
    Rule("underfitting", SMALL_ONE, "log accuracy", lambda f: len(f) >= 40 and not f.learned and abs(f.fall) < STILL
        and not f.ended, _says_now, _enlarge),
    Rule("chance", STUCK, "settings", _at_chance, _says_now, _leave_the_plateau),
    # ---- nothing is wrong
    Rule("early", "Too early to say", "settings", lambda f: len(f) < WINDOW,
        lambda f: f"Epochs so far: {len(f)}. The training loss is {short(f.loss[-1])}.", _do("Train on.")),
    Rule("few", "It has learned its samples", "settings", lambda f: f.learned and ("validation" not in f.known
        or f.rows < FEW or f.rows * (1 - f.plain_score("val")) < 4.5), _says_now,
        _do("That proves little: hold more rows, and enough of rare classes, out to validate.")),
    Rule("unsettled", "Not settled yet, or with a gap", "settings",
        lambda f: f.loss[-1] > 2 * np.median(f.loss[-RECENT - 1 : -1]) or (f.learned
        and (f.gap[-WINDOW:].mean() > 0.05 or swings(f.lately, 0.015) or f.loss[-WINDOW:].mean() > f.loss[0]
        or windows(f.val_loss)[-1] > max(1.25 * windows(f.val_loss).min(), 0.05 * f.plain_val))), _says_now,
        _do("If it goes on, try a third of the learning rate.")),
    Rule("healthy", "Healthy", "settings", lambda f: f.learned
        and f.val_loss[-WINDOW:].mean() <= 0.8 * f.plain_val and f.val_score[-WINDOW:].min() > f.plain_score("val"),
        _says_now, NOTHING),
    Rule("settled", "It has settled", "settings", lambda f: len(f) >= LONG
        and not creeps(f.loss) and (abs(f.fall) < STILL or not (falls(f.loss) or mostly_falls(f.loss))), _says_now,
        lambda f: _raise(f) if f.low_rate else _enlarge(f)),
    Rule("learning", "Still learning", "settings", lambda f: True, _says_now, _go_on),
    # ---- remarks: unusual, without doing harm
    Rule("off", "Units are off", "settings dead", lambda f: f.dead_now >= 0.5, _says_dead, NOTHING),
    Rule("small", "Weights lie near 0", "settings histograms", lambda f: f.penalty[1] and max(f.near_zero(-1)) >= 0.6,
        lambda f: f"{max(f.near_zero(-1)):.0%} of the weights of a layer lie in the two bins around 0.", NOTHING),
    Rule("large", "Gradient norms are large", "settings norms", lambda f: f.high_norm > HIGH_NORM, _says_norm, NOTHING),
)  # read by rows  # fmt: skip
WELL = frozenset(("early", "few", "healthy", "unsettled", "settled", "learning"))
REMARKS = frozenset(("off", "small", "large"))
