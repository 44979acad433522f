"""Measure what one gradient costs as parameters grow: by finite differences, forward mode and reverse mode.

The number of passes is known without running anything: `passes`. Time is not: `measure` really computes the gradients
of a small network and counts its passes. The network is written once, in operations that both the Tensors of model.py
and the dual numbers of lab/designs/duals.py have.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lab.designs import duals
from lab.gradcheck.finite_differences import differences
from model import Tensor

MAX_COUNTED = 10**12  # parameters whose passes are counted without running them
SIZES = (1, 3, 10, 30, 100, 300, 1000)  # numbers of parameters that are timed, about
STEP = 1e-5  # of finite differences
ENOUGH_PARTS, MAX_REPEATS = 100, 20  # a gradient is repeated until one is reached; the fastest counts
MAX_ATTEMPTS = 3  # to time a size whose times contradict its passes
MAX_UNEVEN = 10  # times as long a pass of one method may take as a pass of another
METHODS: Mapping[str, str] = {"finite": "Finite differences", "forward": "Forward mode", "reverse": "Reverse mode"}
Case = tuple[list[np.ndarray], Callable[..., Any]]  # arrays, and a function of a Tensor or Dual for each


def passes(method: str, parameters: int) -> tuple[int, int]:
    """Return the numbers of forward and backward passes that one gradient takes."""
    return {"finite": (2 * parameters, 0), "forward": (parameters, 0), "reverse": (1, 1)}[method]


def counted_differences(point: Sequence[float]) -> tuple[list[float], int]:
    """Return the gradient of x**2 + y**2 + ... by central differences, and how often they called the function."""
    squares = _Counted(lambda values: (values**2).sum())
    return [*differences(squares, np.array(point), STEP)], squares.calls


def network(count: int) -> Case:
    """Return the parameters of a network with one hidden layer, at most `count` if it can be, and its loss."""
    samples, features = 8, 4
    hidden = max(1, count // (features + 2))
    numbers = np.sin(1.0 + np.arange(hidden * (features + 2)))  # between -1 and 1, the same ones each time
    x = np.sin(1.0 + np.arange(samples * features)).reshape(samples, features)
    w, b, v = np.split(numbers, [features * hidden, (features + 1) * hidden])
    return [w.reshape(features, hidden), b, v / hidden], lambda w, b, v: (((x @ w + b).tanh() @ v) ** 2).sum()


# ---------------------------------------------------------------- timed


@dataclass
class CostPoint:
    """The cost of one gradient for one number of parameters, by method: seconds (of its median part, times their
    number), passes, and the largest difference from the gradient of reverse mode."""

    parameters: int
    seconds: dict[str, float] = field(default_factory=dict)
    passes: dict[str, tuple[int, int]] = field(default_factory=dict)
    max_abs_diff: dict[str, float] = field(default_factory=dict)

    def ratio(self, method: str) -> float:
        """Return how many times as long as reverse mode the method takes."""
        return self.seconds[method] / self.seconds["reverse"]

    def more_passes(self, method: str) -> float:
        """Return how many times as many passes as reverse mode the method makes."""
        return sum(self.passes[method]) / sum(self.passes["reverse"])

    @property
    def contradictory(self) -> bool:
        """True if a pass of one method seems to take far longer than a pass of another: the machine was busy."""
        uneven = [self.ratio(method) / self.more_passes(method) for method in METHODS]
        return max(uneven) > MAX_UNEVEN * min(uneven)


def measure(sizes: Sequence[int] = SIZES, case: Callable[[int], Case] = network) -> list[CostPoint]:
    """Compute the gradient for each number of parameters by each method, and time it; about half a second in all."""
    cases = {sum(array.size for array in arrays): (arrays, function) for arrays, function in map(case, sizes)}
    for method in METHODS:  # warm up, so that slow first calls are not timed
        list(_slopes(method, *cases[min(cases)]))
    points = [CostPoint(parameters) for parameters in sorted(cases)]
    for point in points:
        for _ in range(MAX_ATTEMPTS):
            _measure_point(point, *cases[point.parameters])
            if not point.contradictory:
                break
    return points


def _measure_point(point: CostPoint, arrays: list[np.ndarray], function: Callable[..., Any]) -> None:
    """Time all methods for one size. Seconds of an earlier attempt are kept where they are fewer."""
    reverse = np.array([])
    for method in reversed([*METHODS]):  # reverse mode first: the others are compared with it
        timed = repeats = 0
        while timed < ENOUGH_PARTS and repeats < MAX_REPEATS:
            counted, seconds, parts = _Counted(function), [], []
            start = time.perf_counter()
            for part in _slopes(method, arrays, counted):
                seconds.append(time.perf_counter() - start)
                parts.append(part)
                start = time.perf_counter()
            whole = len(seconds) * statistics.median(seconds)  # no pause lengthens a median
            point.seconds[method] = min(whole, point.seconds.get(method, math.inf))
            timed += len(seconds)
            repeats += 1
        gradient = np.ravel(parts)
        reverse = gradient if method == "reverse" else reverse
        point.passes[method] = counted.calls, int(method == "reverse")
        point.max_abs_diff[method] = float(np.abs(gradient - reverse).max())


class _Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *inputs: Any) -> Any:
        self.calls += 1
        return self.function(*inputs)


def _slopes(method: str, arrays: Sequence[np.ndarray], function: Callable[..., Any]) -> Iterator[Any]:
    """Yield a gradient in equal parts: an element at a time, or all of it by reverse mode."""
    if method == "forward":
        yield from duals.columns(function, arrays)
    elif method == "reverse":
        leaves = [Tensor(array) for array in arrays]
        function(*leaves).backward()
        yield np.concatenate([np.ravel(np.asarray(leaf.grad)) for leaf in leaves])
    else:
        inputs = [Tensor(array, requires_grad=False) for array in arrays]
        for at, array in enumerate(arrays):

            def value(moved: np.ndarray, at: int = at) -> float:
                return float(function(*inputs[:at], Tensor(moved, requires_grad=False), *inputs[at + 1 :]).item())

            yield from differences(value, array, STEP)
