"""Cases for *Spot the fault*, one for each number: the hidden fault, the suspects, and the evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from lab.gradcheck import Outcome
from lab.traps.faults.broken_training import LessonTrainer, Setup
from lab.traps.faults.catalogue import BY_KEY, FAULTS, Fault
from lab.traps.faults.healthy_and_broken import STEPS, check

NOTHING = "nothing"  # the suspect that stands for a healthy run
SUSPECTS = 5  # in each case, besides "nothing"
START = 10  # points at the beginning
WRONG = 3  # points that a wrong accusation costs
COSTS = MappingProxyType({"norms": 1, "weights": 1, "step": 2, "check": 3})
_HEALTHY_SHARE = 0.1  # of all cases
_SKIPPED = 4  # random seeds, so that the first case has curves to read and evidence of every kind
CURVES = ("norms", "weights")  # evidence that needs a completed epoch


@dataclass(frozen=True)
class SuspectCase:
    """A case. culprit: the key of a fault, or NOTHING. suspects: keys in the order shown, the culprit among them."""

    number: int
    culprit: str
    suspects: tuple[str, ...]

    @property
    def fault(self) -> Fault | None:
        return BY_KEY.get(self.culprit)

    @property
    def setup(self) -> Setup:
        return self.fault.broken if self.fault else Setup()


def open_case(number: int) -> SuspectCase:
    """Draw the case for a number; the same number always gives the same case."""
    rng = np.random.default_rng(number + _SKIPPED)
    keys = [str(key) for key in rng.permutation([fault.key for fault in FAULTS])]
    culprit = NOTHING if rng.random() < _HEALTHY_SHARE else keys[0]
    shown = [str(key) for key in rng.permutation(keys[:SUSPECTS])]
    return SuspectCase(number, culprit, (*shown, NOTHING))


def score(seen: Iterable[str], mistakes: int) -> int:
    """Compute the points left after this evidence and so many wrong accusations."""
    return max(0, START - sum(COSTS[name] for name in seen) - WRONG * mistakes)


# ---------------------------------------------------------------- evidence that is not in the records


@dataclass(frozen=True)
class CheckedExpression:
    """The gradient check of one expression: its lines, how it ended, and the verdict."""

    expression: str
    outcome: Outcome
    verdict: str

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


def gradient_checks(case: SuspectCase) -> list[CheckedExpression]:
    """Check the gradients of the hidden engine on the expression of every engine fault, without training."""
    checks = []
    for fault in FAULTS:
        if fault.example:
            report = check(fault, case.setup.engine, case.number)
            checks.append(CheckedExpression(fault.in_a_line, report.outcome, report.verdict))
    return checks


@dataclass(frozen=True)
class TracedStep:
    """The third training step of one parameter: norms of its gradient, and its first element before and after."""

    parameter: str
    left_over: float  # norm of the gradient after zero_grad(), before backward()
    gradient: float  # norm after backward()
    before: float  # the first element; slope: its gradient; after: its new value
    slope: float
    after: float


def traced_step(case: SuspectCase) -> tuple[float | None, list[TracedStep], str]:
    """Run three training steps; return the learning rate, the third step of each parameter, and the error, or ""."""
    trainer = LessonTrainer(case.setup, case.number)
    training = trainer.steps()
    steps, error = [], ""
    try:
        for _ in range(STEPS - 1):
            next(training)
        trainer.optimizer.zero_grad()  # the step itself calls it again, which changes nothing
        parameters = trainer.model.parameters()
        left = [_norm(p.grad) for p in parameters]
        before = [p.numpy() for p in parameters]
        next(training)
        for p, left_over, old in zip(parameters, left, before, strict=True):
            gradient = np.zeros(1) if p.grad is None else p.grad
            first = (old.flat[0], gradient.flat[0], p.numpy().flat[0])
            steps.append(TracedStep(p.label, left_over, _norm(p.grad), *map(float, first)))
    except Exception as raised:  # any error of a broken engine is evidence
        error = f"{type(raised).__name__}: {raised}"
    return trainer.config.lr, steps, error


def _norm(gradient: np.ndarray | None) -> float:
    return 0.0 if gradient is None else float(np.linalg.norm(gradient))
