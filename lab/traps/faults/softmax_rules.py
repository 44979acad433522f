"""Check five backward rules of softmax, four of them wrong, by the sum and by a random cotangent.

The elements of a softmax always add up to 1. So the derivative of their sum is 0, whatever the input, and any rule that
sends 0 for an upstream gradient of ones passes a check by `softmax().sum()`, however wrong it is.
"""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass
from typing import Any

from lab.gradcheck import Report, gradcheck
from lab.traps.faults.broken_engines import SoftmaxDiagonal, SoftmaxNothing, SoftmaxPlainMean, SoftmaxWrongSign
from model import Tensor


@dataclass(frozen=True)
class SoftmaxRule:
    """A backward rule of softmax: its title, and the engine that has it."""

    title: str
    engine: type[Tensor]

    @property
    def source(self) -> str:
        return textwrap.dedent(inspect.getsource(inspect.unwrap(self.engine.softmax))).strip()


RULES = {
    "wrong-sign": SoftmaxRule("The sign is wrong", SoftmaxWrongSign),
    "plain-mean": SoftmaxRule("A plain mean in place of the weighted sum", SoftmaxPlainMean),
    "nothing": SoftmaxRule("It sends nothing but zeros", SoftmaxNothing),
    "diagonal": SoftmaxRule("Each element alone, as for sigmoid", SoftmaxDiagonal),
    "right": SoftmaxRule("The rule of this engine", Tensor),
}


def by_sum(rule: SoftmaxRule, logits: Any) -> Report:
    """Check the rule as most people do first, by the derivative of softmax(x).sum()."""
    return gradcheck(lambda x: x.softmax().sum(), {"x": logits}, tensor=rule.engine)


def by_cotangent(rule: SoftmaxRule, logits: Any, seed: int = 0) -> Report:
    """Check the rule with a random weight for each element of the result."""
    return gradcheck(lambda x: x.softmax(), {"x": logits}, tensor=rule.engine, seed=seed)
