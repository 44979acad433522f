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
from lab.traps.faults.broken_engines import broken
from model import Tensor


@dataclass(frozen=True)
class SoftmaxRule:
    """A backward rule of softmax: its title, and the engine that has it."""

    title: str
    engine: type[Tensor]

    @property
    def source(self) -> str:
        return textwrap.dedent(inspect.getsource(inspect.unwrap(self.engine.softmax))).strip()


SENT = "result * (upstream - (upstream * result).sum(axis=axes, keepdims=True))"  # by the engine's own rule


_WRONG = {  # name in the address -> title, and what is sent instead
    "wrong-sign": ("The sign is wrong", "result * ((upstream * result).sum(axis=axes, keepdims=True) - upstream)"),
    "plain-mean": (
        "A plain mean in place of the weighted sum",
        "result * (upstream - upstream.mean(axis=axes, keepdims=True))",
    ),
    "nothing": ("It sends nothing but zeros", "np.zeros_like(result)"),
    "diagonal": ("Each element alone, as for sigmoid", "upstream * result * (1.0 - result)"),
}
RULES = {
    name: SoftmaxRule(title, broken(f"Softmax_{name.replace('-', '_')}", softmax={SENT: sent}))
    for name, (title, sent) in _WRONG.items()
} | {"right": SoftmaxRule("The rule of this engine", Tensor)}


def by_sum(rule: SoftmaxRule, logits: Any) -> Report:
    """Check the rule as most people do first, by the derivative of softmax(x).sum()."""
    return gradcheck(lambda x: x.softmax().sum(), {"x": logits}, tensor=rule.engine)


def by_cotangent(rule: SoftmaxRule, logits: Any, seed: int = 0) -> Report:
    """Check the rule with a random weight for each element of the result."""
    return gradcheck(lambda x: x.softmax(), {"x": logits}, tensor=rule.engine, seed=seed)
