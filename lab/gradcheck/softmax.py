"""Check five backward rules of softmax, four of them wrong, by the sum and by a random cotangent.

The elements of a softmax always add up to 1. So the derivative of their sum is 0, whatever the input, and any rule that
sends 0 for an upstream gradient of ones passes a check by `softmax().sum()`, however wrong it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.gradcheck import Report, gradcheck
from model import Tensor


def wrong_sign(result: np.ndarray, upstream: np.ndarray) -> np.ndarray:
    return result * ((upstream * result).sum(-1, keepdims=True) - upstream)


def plain_mean(result: np.ndarray, upstream: np.ndarray) -> np.ndarray:
    return result * (upstream - upstream.mean(-1, keepdims=True))


def nothing(result: np.ndarray, upstream: np.ndarray) -> np.ndarray:
    return np.zeros_like(result)


def diagonal(result: np.ndarray, upstream: np.ndarray) -> np.ndarray:
    return upstream * result * (1.0 - result)


@dataclass(frozen=True)
class SoftmaxRule:
    """A backward rule of softmax: its title, and a function that computes the message; None for the engine's own."""

    title: str
    message: Callable[[np.ndarray, np.ndarray], np.ndarray] | None

    @property
    def source(self) -> str:
        return inspect.getsource(self.message or inspect.unwrap(Tensor.softmax)).strip()

    def engine(self) -> type[Tensor]:
        """Return the engine with this backward rule."""
        message = self.message
        if message is None:
            return Tensor

        def softmax(self: Any, axis: Any = -1) -> Tensor:
            result = Tensor.softmax(self.detach(), axis).numpy()

            def _backward(upstream: np.ndarray) -> None:
                self.accumulate(message(result, upstream))

            return self.node(result, (self,), "softmax", _backward)

        return type("WithAnotherSoftmax", (Tensor,), {"__slots__": (), "softmax": softmax})


RULES = {
    "wrong-sign": SoftmaxRule("The sign is wrong", wrong_sign),
    "plain-mean": SoftmaxRule("A plain mean in place of the weighted sum", plain_mean),
    "nothing": SoftmaxRule("It sends nothing but zeros", nothing),
    "diagonal": SoftmaxRule("Each element alone, as for sigmoid", diagonal),
    "right": SoftmaxRule("The rule of this engine", None),
}


def by_sum(rule: SoftmaxRule, logits: Any) -> Report:
    """Check the rule as most people do first, by the derivative of softmax(x).sum()."""
    return gradcheck(lambda x: x.softmax().sum(), {"x": logits}, tensor=rule.engine())


def by_cotangent(rule: SoftmaxRule, logits: Any, seed: int = 0) -> Report:
    """Check the rule with a random weight for each element of the result."""
    return gradcheck(lambda x: x.softmax(), {"x": logits}, tensor=rule.engine(), seed=seed)
