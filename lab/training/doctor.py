"""The training doctor: diagnoses a run from its records, with evidence and a remedy.

`RULES` is its table: each rule has a symptom (symptoms.py), a remedy (remedies.py), the plot that shows it and the
other verdicts that it explains. Causes stand before their consequences: if the loss swings and units are dead, the
swinging has to stop first.
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
from lab.training.run_history import Evidence, History

Grade = Literal["seen", "suspected", "shown"]


@dataclass(frozen=True)
class Rule:
    """A rule of the doctor. brings: the keys of verdicts that count as its consequences."""

    key: str
    name: str
    find: Callable[[History], Evidence | None]
    remedy: Callable[[History], Remedy] | Remedy
    instrument: str  # which plot shows it: "loss", "gap", "norms", "updates", "histogram" or "dead units"
    brings: frozenset[str] = frozenset()
    grade: Grade = "suspected"  # "seen" if the name says no more than the records show


@dataclass(frozen=True)
class Finding:
    """A verdict on a run. evidence: sentences with numbers; epoch: where it first shows.

    grade: how sure it is. "seen": the records show it, and it may do no harm; "suspected": the run does worse than it
    should, and this may be why; "shown": the remedy was tried and helped.
    remedy: what to do, in a sentence; settings: the same as data. `replace(config, **settings)` is the run to try
    next; empty if no setting helps. consequences: other verdicts that this one explains.
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
        """Whether the verdict names no illness."""
        return self.key in WELL


def diagnose(records: Sequence[Record], config: Config, own_loop: bool = False) -> list[Finding]:
    """Diagnose a run: return its verdicts, causes first, each with its consequences; never an empty list.

    The first finding is the verdict. Others follow only if they are not its consequences.
    records: what `train.train` yields, from the first epoch on. Only the first and the last need histograms.
    own_loop: whether a learner's own training loop made them, which may itself be wrong.
    Raises ValueError if there are no records.
    """
    if not records:
        raise ValueError("There is nothing to diagnose: train for at least one epoch.")
    history = History(records, _in_force(records, config))
    return examine(history, rules(own_loop)) or [
        next(finding for rule in NOTHING_WRONG if (finding := _finding(rule, history)))
    ]


def remarks(records: Sequence[Record], config: Config) -> list[Finding]:
    """Return what is unusual about a run without doing harm: it needs no remedy."""
    if not records:
        return []
    history = History(records, _in_force(records, config))
    ill = {rule.key for rule in RULES if rule.find(history)}
    found = (_finding(rule, history) for rule in SIGNS if rule.key not in ill)
    return [replace(finding, grade="seen") for finding in found if finding]


def _in_force(records: Sequence[Record], config: Config) -> Config:
    """Return the settings of the last epoch."""
    return config.at(records[-1]["epoch"] - 1)


def examine(history: History, table: Sequence[Rule]) -> list[Finding]:
    """Return the findings of a table of rules, causes first, each with its consequences; an empty list if none fits."""
    return _folded([(rule, finding) for rule in table if (finding := _finding(rule, history))])


def rules(own_loop: bool = False) -> tuple[Rule, ...]:
    """Return the table of rules, causes before consequences."""
    return (*OF_A_LOOP, *RULES) if own_loop else RULES


def _finding(rule: Rule, history: History) -> Finding | None:
    """Apply a rule to a run; return None if its symptom does not show."""
    evidence = rule.find(history)
    if evidence is None:
        return None
    remedy = rule.remedy if isinstance(rule.remedy, Remedy) else rule.remedy(history)
    return Finding(
        rule.key,
        rule.name,
        evidence.sentences,
        remedy.text,
        rule.instrument,
        evidence.epoch,
        remedy.settings,
        grade=rule.grade,
    )


def _folded(found: list[tuple[Rule, Finding]]) -> list[Finding]:
    """Fold each finding under the first one that explains it; of several with one key, only the first counts."""
    left: dict[str, tuple[Rule, Finding]] = {}
    for rule, finding in found:
        left.setdefault(rule.key, (rule, finding))
    causes: list[Finding] = []
    while left:
        rule, first = left.pop(next(iter(left)))
        brought = [key for key in left if key in rule.brings]
        causes.append(replace(first, consequences=tuple(left.pop(key)[1] for key in brought)))
    return causes


# ---------------------------------------------------------------- the table

# Consequences of anything that stops a network from learning
STUCK = frozenset({"chance", "underfitting", "rate-low"})
# Consequences of huge steps
WILD = frozenset({"rate-high", "exploding", "vanishing", "dying", "noise", "overfitting"}) | STUCK

OF_A_LOOP = (
    Rule("climbing", "The loss climbs", symptoms.climbing, remedies.TURN_ROUND, "loss", WILD | {"overflow", "piling"}),
    Rule("piling", "Gradients pile up", symptoms.piling, remedies.ZERO_FIRST, "norms", WILD | {"overflow"}),
    Rule("overflow", "The loss is no longer a number", symptoms.overflow, remedies.safe_numbers, "loss", WILD),
    Rule("chance", "It answers as if by chance", symptoms.at_chance_in_a_loop, remedies.COMPARE_SHAPES, "loss", STUCK),
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
    Rule("collapsed", "The weights have collapsed", symptoms.collapsed, remedies.weaker_penalty, "histogram", WILD),
    Rule("overflow", "The loss is no longer a number", symptoms.overflow, remedies.finite_loss, "loss", WILD),
    Rule(
        "rate-high", "The learning rate is too high", symptoms.first_steps_too_large, remedies.lower_rate, "loss", WILD
    ),
    Rule("rate-high", "The learning rate is too high", symptoms.overshot, remedies.lower_rate, "loss", WILD),
    Rule(
        "dying",
        "A layer has died",
        symptoms.dead_layer,
        remedies.living_units,
        "dead units",
        STUCK | {"vanishing", "rate-high"},  # only the output's bias swings then
    ),
    Rule("exploding", "Gradients explode", symptoms.badly_scaled, remedies.smaller_gradients, "norms", WILD),
    Rule("rate-high", "The learning rate is too high", symptoms.swinging_in_vain, remedies.lower_rate, "loss", WILD),
    Rule("rate-high", "The loss swings", symptoms.swinging, remedies.slightly_lower_rate, "loss", WILD, "seen"),
    Rule("exploding", "Gradients explode", symptoms.exploding, remedies.smaller_gradients, "norms", WILD),
    Rule("vanishing", "Gradients vanish on their way back", symptoms.vanishing, remedies.carried_back, "norms", STUCK),
    Rule("clipped", "Clipping holds the training back", symptoms.held_back, remedies.looser_clip, "updates", STUCK),
    Rule("rate-low", "The learning rate is too low", symptoms.slow, remedies.larger_rate, "updates", STUCK),
    Rule(
        "noise",
        "The labels are noisy",
        symptoms.noise,
        remedies.RIGHT_LABELS,
        "gap",
        frozenset({"overfitting", "underfitting", "chance"}),
    ),
    Rule(
        "chance",
        "It answers as if by chance",
        symptoms.never_helped,
        remedies.off_the_plateau,
        "loss",
        frozenset({"overfitting", "underfitting"}),
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
        "underfitting", "Too small, or nothing to learn", symptoms.underfitting, remedies.larger_network, "loss", STUCK
    ),
    Rule("chance", "It answers as if by chance", symptoms.at_chance, remedies.off_the_plateau, "loss"),
)
SIGNS = (  # remarks, made if the rule of the same key finds no harm
    Rule("dying", "Units are off", symptoms.units_off, remedies.nothing, "dead units"),
    Rule("collapsed", "Weights lie near 0", symptoms.near_zero, remedies.nothing, "histogram"),
    Rule("exploding", "Gradient norms are large", symptoms.large_norms, remedies.nothing, "norms"),
)
NOTHING_WRONG = (
    Rule("few", "It has learned its samples", symptoms.few_to_check, remedies.HOLD_MORE_OUT, "loss"),
    Rule("unchecked", "It has learned its samples", symptoms.unchecked, remedies.HOLD_SOME_OUT, "loss"),
    Rule("healthy", "Healthy", symptoms.healthy, remedies.nothing, "loss"),
    Rule("unsettled", "Not settled yet", symptoms.unsettled, remedies.watch, "loss"),
    Rule("unsettled", "It has learned, with a gap", symptoms.small_gap, remedies.watch_gap, "gap"),
    Rule("unsettled", "The loss jumps", symptoms.jumping, remedies.watch, "loss"),
    Rule("settled", "It has settled", symptoms.settled, remedies.separate_noise, "loss"),
    Rule("settled", "It no longer gets better", symptoms.no_better, remedies.separate_noise, "loss"),
    Rule("learning", "Still learning", symptoms.learning, remedies.more_epochs, "loss"),
    Rule("early", "Too early to say", symptoms.early, remedies.WAIT, "loss"),
)
WELL = frozenset(rule.key for rule in NOTHING_WRONG)
