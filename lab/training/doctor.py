"""What a doctor would say of a training run: the history in, verdicts with evidence and a remedy out.

`RULES` is the table: what was found, what to do, where to look, the symptom by which it is found (lab/training/
symptoms.py), and which others it brings with it. Causes stand before their consequences: a run whose loss swings may
also have dead units, and it is the swinging that has to stop first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from lab.training import remedies, symptoms
from lab.training.config import Config
from lab.training.records import Record
from lab.training.remedies import Remedy
from lab.training.symptoms import Evidence, History


@dataclass(frozen=True)
class Rule:
    """One line of the table. brings: the keys of what is no finding of its own where this one fits."""

    key: str
    name: str
    find: Callable[[History], Evidence | None]
    remedy: Callable[[History], Remedy]
    instrument: str  # which plot shows it: "loss", "gap", "norms", "updates", "histogram" or "dead units"
    brings: frozenset[str] = frozenset()


Grade = Literal["seen", "suspected", "shown"]


@dataclass(frozen=True)
class Finding:
    """A rule that fits. evidence: sentences with the numbers; epoch: where it begins to show.

    grade: how sure it is. "seen": it is so, but does no harm; "suspected": the run does worse than it should, and this
    may be why; "shown": the remedy was tried, and helped.
    remedy: what to do, in a sentence; settings: the same as data, `replace(config, **settings)` is the run to try
    next, and empty where no setting helps. consequences: what else shows, and goes away with this.
    """

    key: str
    name: str
    evidence: tuple[str, ...]
    remedy: str
    instrument: str
    epoch: int
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    consequences: tuple[Finding, ...] = ()
    grade: Grade = "suspected"

    def __str__(self) -> str:
        brought = ", ".join(finding.name.lower() for finding in self.consequences)
        also = f" With it comes: {brought}." if brought else ""
        return f"{self.name}: {' '.join(self.evidence)} {self.remedy}{also}"

    @property
    def well(self) -> bool:
        """Is there nothing wrong, as far as can be told?"""
        return self.key in WELL


def diagnose(records: Sequence[Record], config: Config, own_loop: bool = False) -> list[Finding]:
    """What is wrong with a run, the cause first, with its consequences folded under it; never empty.

    The first is the verdict. More than one there is only where the others are no consequence of it.
    records: what `train.train` yields, from the first epoch on; at least one. Of the histograms the first and the last
    are enough. config: the settings of the run. own_loop: was it trained by a loop that somebody wrote, and that may
    itself be wrong?
    """
    if not records:
        raise ValueError("There is nothing to diagnose: train for at least one epoch.")
    history = History(records, _in_force(records, config))
    return examine(history, rules(own_loop)) or [
        next(finding for rule in NOTHING_WRONG if (finding := _finding(rule, history)))
    ]


def remarks(records: Sequence[Record], config: Config) -> list[Finding]:
    """What is unusual about a run, though the loss does well: it is no illness, and needs no remedy."""
    if not records:
        return []
    history = History(records, _in_force(records, config))
    ill = {rule.key for rule in RULES if rule.find(history)}
    found = (_finding(rule, history) for rule in SIGNS if rule.key not in ill)
    return [replace(finding, grade="seen") for finding in found if finding]


def _in_force(records: Sequence[Record], config: Config) -> Config:
    """The settings that the last epoch was trained with."""
    return config.at(records[-1]["epoch"] - 1)


def examine(history: History, table: Sequence[Rule]) -> list[Finding]:
    """What of a table fits, causes before consequences, which are folded under them; nothing where nothing does."""
    return _folded([(rule, finding) for rule in table if (finding := _finding(rule, history))])


def rules(own_loop: bool = False) -> tuple[Rule, ...]:
    """The table, causes before consequences."""
    return (*OF_A_LOOP, *RULES) if own_loop else RULES


def _finding(rule: Rule, history: History) -> Finding | None:
    evidence = rule.find(history)
    if evidence is None:
        return None
    remedy = rule.remedy(history)
    return Finding(
        rule.key, rule.name, evidence.sentences, remedy.text, rule.instrument, evidence.epoch, remedy.settings
    )


def _folded(found: list[tuple[Rule, Finding]]) -> list[Finding]:
    """Each under the first that brings it."""
    causes: list[Finding] = []
    while found:
        rule, first = found[0]
        rest = [(other, finding) for other, finding in found[1:] if other.key != rule.key]
        brought = tuple(finding for other, finding in rest if other.key in rule.brings)
        causes.append(replace(first, consequences=brought))
        found = [(other, finding) for other, finding in rest if other.key not in rule.brings]
    return causes


# ---------------------------------------------------------------- the table

STUCK = frozenset({"chance", "underfitting", "rate-low"})  # what comes of whatever stops a network from learning
WILD = frozenset({"rate-high", "exploding", "vanishing", "dying", "noise", "overfitting"}) | STUCK  # of huge steps

OF_A_LOOP = (
    Rule("climbing", "The loss climbs", symptoms.climbing, remedies.turn_round, "loss", WILD | {"overflow", "piling"}),
    Rule("piling", "Gradients pile up", symptoms.piling, remedies.zero_first, "norms", WILD | {"overflow"}),
    Rule("overflow", "The loss is no longer a number", symptoms.overflow, remedies.safe_numbers, "loss", WILD),
    Rule("chance", "It answers as if by chance", symptoms.at_chance, remedies.compare_shapes, "loss", STUCK),
)
RULES = (
    Rule(
        "flat",
        "No gradient reaches the hidden layers",
        symptoms.no_gradient,
        remedies.random_weights,
        "norms",
        STUCK | {"collapsed", "dying", "vanishing"},
    ),
    Rule(
        "collapsed",
        "The weights have collapsed",
        symptoms.collapsed,
        remedies.weaker_pull,
        "histogram",
        WILD,
    ),
    Rule("overflow", "The loss is no longer a number", symptoms.overflow, remedies.finite_loss, "loss", WILD),
    Rule("rate-high", "The learning rate is too high", symptoms.thrown, remedies.lower_rate, "loss", WILD),
    Rule("rate-high", "The learning rate is too high", symptoms.overshot, remedies.lower_rate, "loss", WILD),
    Rule(
        "dying",
        "A layer has died",
        symptoms.dead_layer,
        remedies.living_units,
        "dead units",
        STUCK | {"vanishing", "rate-high"},  # what swings then is the output's bias
    ),
    Rule("exploding", "Gradients explode", symptoms.badly_scaled, remedies.smaller_gradients, "norms", WILD),
    Rule("rate-high", "The learning rate is too high", symptoms.swinging, remedies.lower_rate, "loss", WILD),
    Rule("exploding", "Gradients explode", symptoms.exploding, remedies.smaller_gradients, "norms", WILD),
    Rule("vanishing", "Gradients vanish on their way back", symptoms.vanishing, remedies.carried_back, "norms", STUCK),
    Rule("clipped", "Clipping holds the training back", symptoms.held_back, remedies.looser_clip, "updates", STUCK),
    Rule("rate-low", "The learning rate is too low", symptoms.slow, remedies.larger_rate, "updates", STUCK),
    Rule(
        "noise",
        "The labels are noisy",
        symptoms.noise,
        remedies.right_labels,
        "gap",
        frozenset({"overfitting", "underfitting", "chance"}),
    ),
    Rule(
        "overfitting",
        "The network overfits",
        symptoms.overfitting,
        remedies.more_generality,
        "gap",
        frozenset({"underfitting"}),
    ),
    Rule(
        "underfitting",
        "Too small, or nothing to learn",
        symptoms.underfitting,
        remedies.larger_network,
        "loss",
        STUCK,
    ),
    Rule("chance", "It answers as if by chance", symptoms.at_chance, remedies.compare_labels, "loss"),
)
SIGNS = (  # remarks, where the rule of the same key finds no harm
    Rule("dying", "Units are off", symptoms.units_off, remedies.nothing, "dead units"),
    Rule("collapsed", "Weights lie near 0", symptoms.near_zero, remedies.nothing, "histogram"),
    Rule("exploding", "Gradient norms are large", symptoms.large_norms, remedies.nothing, "norms"),
)
NOTHING_WRONG = (
    Rule("few", "It has learned its samples", symptoms.few_to_check, remedies.hold_more_out, "loss"),
    Rule("unchecked", "It has learned its samples", symptoms.unchecked, remedies.hold_some_out, "loss"),
    Rule("healthy", "Healthy", symptoms.healthy, remedies.nothing, "loss"),
    Rule("unsettled", "Not settled yet", symptoms.unsettled, remedies.watch, "loss"),
    Rule("settled", "It has settled", symptoms.settled, remedies.separate_noise, "loss"),
    Rule("learning", "Still learning", symptoms.learning, remedies.more_epochs, "loss"),
    Rule("early", "Too early to say", symptoms.early, remedies.wait, "loss"),
)
WELL = frozenset(rule.key for rule in NOTHING_WRONG)
