"""What rounding does on the way: to the value of a function, and to the gradient that backward() gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from model import Tensor

TRIES = 5


@np.errstate(all="ignore")  # what is not finite says nothing
def sensitivity(nodes: Iterable[tuple[object, object]]) -> float:
    """How far f moves, in units of eps, when each value inside it is rounded: the values times their gradients, as
    independent errors add up. nodes: result and gradient of each operation; one without a gradient does not count."""
    pairs = [(np.asarray(value), np.asarray(gradient)) for value, gradient in nodes if gradient is not None]
    size = math.hypot(*(float(np.linalg.norm(v * g)) for v, g in pairs if v.shape == g.shape))
    return size if math.isfinite(size) else 0.0


@np.errstate(all="ignore")
def spread(run: Callable[[type[Tensor]], Any], tensor: type[Tensor] = Tensor) -> np.ndarray:
    """How far each element of a gradient moves when all values and messages are rounded another way: the range of some
    tries (Monte Carlo arithmetic: Parker, Pierce and Eggert, 2000).

    run: makes both passes with leaves of the class that it gets, and returns the gradient
    tensor: the class of the engine that gave the gradient
    """
    return np.ptp([np.asarray(run(_rounded_otherwise(tensor, seed)), float) for seed in range(TRIES)], axis=0)


def _rounded_otherwise(tensor: type[Tensor], seed: int) -> type[Tensor]:
    """An engine whose every number is off by up to one unit in the last place."""
    rng = np.random.default_rng(seed)

    def other(numbers: Any) -> Any:
        eps = np.finfo(numbers.dtype).eps
        return (numbers * (1 + eps * rng.uniform(-1.0, 1.0, numbers.shape))).astype(numbers.dtype)

    class Rounded(tensor):  # type: ignore[misc, valid-type]
        __slots__ = ()

        def _node(self, data: Any, *rest: Any) -> Tensor:
            return super()._node(other(data), *rest)

        def _accumulate(self, message: Any) -> None:
            super()._accumulate(other(message))

    return Rounded
