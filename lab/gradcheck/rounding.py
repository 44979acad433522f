"""Estimate how much rounding changes the value of a function, and the gradient that backward() computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from model import Tensor

TRIES = 5  # reruns with other rounding


@np.errstate(all="ignore")  # an estimate that is not finite is discarded
def sensitivity(nodes: Iterable[tuple[object, object]]) -> float:
    """Estimate how far f moves, in units of eps, when each value inside it is rounded: the norm of all values times
    their gradients, because errors are independent. nodes: result and gradient (None if it has none) of each operation.
    """
    pairs = [(np.asarray(value), np.asarray(gradient)) for value, gradient in nodes if gradient is not None]
    size = math.hypot(*(float(np.linalg.norm(v * g)) for v, g in pairs if v.shape == g.shape))
    return size if math.isfinite(size) else 0.0


@np.errstate(all="ignore")
def spread(run: Callable[[type[Tensor]], Any], tensor: type[Tensor] = Tensor) -> np.ndarray:
    """Measure how far each element of a gradient moves when all values and messages are rounded another way.

    The result is the range over TRIES reruns (Monte Carlo arithmetic: Parker, Pierce and Eggert, 2000).

    run: runs both passes with leaves of the class that it is given, and returns the gradient
    tensor: the class of the engine that computed the gradient
    """
    return np.ptp([np.asarray(run(_with_random_rounding(tensor, seed)), float) for seed in range(TRIES)], axis=0)


def _with_random_rounding(tensor: type[Tensor], seed: int) -> type[Tensor]:
    """Derive an engine whose every number is off by up to one unit in the last place."""
    rng = np.random.default_rng(seed)

    def perturbed(numbers: Any) -> Any:
        eps = np.finfo(numbers.dtype).eps
        return (numbers * (1 + eps * rng.uniform(-1.0, 1.0, numbers.shape))).astype(numbers.dtype)

    class Rounded(tensor):  # type: ignore[misc, valid-type]
        __slots__ = ()

        def node(self, data: Any, *rest: Any) -> Tensor:
            return super().node(perturbed(data), *rest)

        def accumulate(self, message: Any) -> None:
            super().accumulate(perturbed(message))

    return Rounded
