"""Measure what one gradient costs as parameters grow: by finite differences, forward mode and reverse mode.

The number of passes is known without running anything: `passes`. Time is not: a `Timing` really computes the gradients,
a slice at a time, and counts its passes. Each function is written once, in operations that both the Tensors of model.py
and the dual numbers of lab/designs/duals.py have.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lab.designs.duals import Dual
from model import Tensor

MAX_COUNTED = 10**12  # parameters whose passes are counted without running them
SIZES = (1, 3, 10, 30, 100, 300, 1000)  # numbers of parameters that are timed
STEP = 1e-5  # of finite differences
ENOUGH_PARTS, MAX_REPEATS = 100, 20  # a gradient is repeated until one is reached; the fastest counts
MAX_ATTEMPTS = 3  # to time a size whose times contradict its passes
MAX_UNEVEN = 10  # times as long a pass of one method may take as a pass of another
METHODS: Mapping[str, str] = {"finite": "Finite differences", "forward": "Forward mode", "reverse": "Reverse mode"}


def passes(method: str, parameters: int) -> tuple[int, int]:
    """Return the numbers of forward and backward passes that one gradient takes."""
    return {"finite": (2 * parameters, 0), "forward": (parameters, 0), "reverse": (1, 1)}[method]


def brute_force(function: Callable[[list[float]], float], parameters: Sequence[float], h: float = STEP) -> list[float]:
    """Return one central difference for each parameter: the gradient of a function that is only called."""
    gradient = []
    for i in range(len(parameters)):
        above, below = list(parameters), list(parameters)
        above[i] += h
        below[i] -= h
        gradient.append((function(above) - function(below)) / (2 * h))
    return gradient


def counted_brute_force(parameters: Sequence[float]) -> tuple[list[float], int]:
    """Return the gradient of x**2 + y**2 + ... by `brute_force`, and how often that called the function."""
    calls = 0

    def squares(values: list[float]) -> float:
        nonlocal calls
        calls += 1
        return sum(value * value for value in values)

    return brute_force(squares, parameters), calls


# ---------------------------------------------------------------- functions of any number of parameters


@dataclass(frozen=True)
class FunctionFamily:
    """A function that exists for any number of parameters.

    at  number of parameters -> arrays with about that many elements in all, and the function: it takes a Tensor or a
        Dual for each array and returns a single number
    """

    title: str
    at: Callable[[int], tuple[list[np.ndarray], Callable[..., Any]]]


def _numbers(count: int) -> np.ndarray:
    """Return `count` numbers between -1 and 1, the same ones each time."""
    return np.sin(1.0 + np.arange(count, dtype=float))


def _sum(count: int) -> tuple[list[np.ndarray], Callable[..., Any]]:
    """Return one array of weights, and the sum of tanh of each weight times a fixed number."""
    x = np.cos(np.arange(count, dtype=float))
    return [_numbers(count)], lambda w: (w * x).tanh().sum()


def _chain(count: int) -> tuple[list[np.ndarray], Callable[..., Any]]:
    """Return single weights, and a chain in which each multiplies the last result, then tanh."""

    def function(*weights: Any) -> Any:
        h: Any = 1.0
        for w in weights:
            h = (w * h).tanh()
        return h

    return [np.array(1.0 + 0.1 * number) for number in _numbers(count)], function


def _network(count: int) -> tuple[list[np.ndarray], Callable[..., Any]]:
    """Return the weights of a network with one hidden layer, and its loss."""
    samples, features = 8, 4
    hidden = max(1, count // (features + 2))
    x = _numbers(samples * features).reshape(samples, features)
    w, b, v = np.split(_numbers(hidden * (features + 2)), [features * hidden, (features + 1) * hidden])
    return [w.reshape(features, hidden), b, v / hidden], lambda w, b, v: (((x @ w + b).tanh() @ v) ** 2).sum()


FAMILIES: Mapping[str, FunctionFamily] = {
    "sum": FunctionFamily("sum of tanh(wᵢ·xᵢ)", _sum),
    "chain": FunctionFamily("chain h ← tanh(wᵢ·h)", _chain),
    "network": FunctionFamily("network, one hidden layer", _network),
}


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


class Timing:
    """Times one family in slices: `advance` runs for a while, `points` holds the results so far."""

    def __init__(self, family: FunctionFamily, sizes: Sequence[int] = SIZES) -> None:
        functions = [family.at(size) for size in sizes]
        self._functions = {sum(array.size for array in arrays): (arrays, run) for arrays, run in functions}
        self.sizes = sorted(self._functions)
        self.points: list[CostPoint] = []
        self.share = 0.0  # of all passes, how many are done
        self.done = False
        self._work = self._passes()

    def advance(self, seconds: float) -> None:
        """Continue for about this many seconds, unless all is done."""
        end = time.perf_counter() + seconds
        while not self.done and time.perf_counter() < end:
            self.done = next(self._work, True)

    def _passes(self) -> Iterator[bool]:
        """Compute all gradients, yielding False after each part, so that `advance` can pause."""
        for method in METHODS:  # warm up, so that slow first calls are not timed
            yield from (False for _ in getattr(_Gradient(*self._functions[self.sizes[0]]), method)())
        for size in self.sizes:
            point = CostPoint(size)
            for _ in range(MAX_ATTEMPTS):
                yield from self._attempt(point)
                if not point.contradictory:
                    break
            self.points.append(point)

    def _attempt(self, point: CostPoint) -> Iterator[bool]:
        """Time all methods for one size. Seconds of an earlier attempt are kept where they are fewer."""
        made = _all_passes(size for size in self.sizes if size < point.parameters)
        gradients: dict[str, np.ndarray] = {}
        for method in reversed([*METHODS]):  # reverse mode first: the others are compared with it
            timed = 0
            for _ in range(MAX_REPEATS):
                run = _Gradient(*self._functions[point.parameters])
                for _ in getattr(run, method)():
                    self.share = max(self.share, (made + sum(run.passes)) / _all_passes(self.sizes))
                    yield False
                seconds = len(run.seconds) * statistics.median(run.seconds)  # no pause lengthens a median
                point.seconds[method] = min(seconds, point.seconds.get(method, math.inf))
                timed += len(run.seconds)
                if timed >= ENOUGH_PARTS:
                    break
            gradients[method], point.passes[method] = run.gradient, run.passes
            point.max_abs_diff[method] = float(np.abs(run.gradient - gradients["reverse"]).max())
            made += sum(run.passes)


def _all_passes(sizes: Iterable[int]) -> int:
    return sum(sum(passes(method, size)) for size in sizes for method in METHODS)


class _Gradient:
    """Computes one gradient in equal parts, and times each."""

    def __init__(self, arrays: Sequence[np.ndarray], function: Callable[..., Any]) -> None:
        self._function, self._arrays = function, arrays
        self.gradient = np.zeros(sum(array.size for array in arrays))
        self.passes = (0, 0)
        self.seconds: list[float] = []

    def finite(self) -> Iterator[None]:
        """Compute it by two forward passes for each parameter, with a little more and a little less of it."""
        tensors = [Tensor(array, requires_grad=False) for array in self._arrays]
        for place, (number, index) in enumerate(self._elements()):
            with self._clock():
                ends = []
                for by in (STEP, -STEP):
                    moved = self._arrays[number].copy()
                    moved[index] += by
                    inputs = [*tensors[:number], Tensor(moved, requires_grad=False), *tensors[number + 1 :]]
                    ends.append(self._forward(inputs).item())
                self.gradient[place] = (ends[0] - ends[1]) / (2 * STEP)
            yield

    def forward(self) -> Iterator[None]:
        """Compute it by one pass with dual numbers for each parameter, whose tangent is 1, all others 0."""
        duals = [Dual(array) for array in self._arrays]
        for place, (number, index) in enumerate(self._elements()):
            with self._clock():
                tangent = np.zeros(self._arrays[number].shape)
                tangent[index] = 1.0
                inputs = [*duals[:number], Dual(self._arrays[number], tangent), *duals[number + 1 :]]
                self.gradient[place] = self._forward(inputs).tangent.item()
            yield

    def reverse(self) -> Iterator[None]:
        """Compute it by one forward pass and one backward pass."""
        with self._clock():
            leaves = [Tensor(array) for array in self._arrays]
            self._forward(leaves).backward()
            self.passes = self.passes[0], self.passes[1] + 1
            self.gradient = np.concatenate([np.ravel(np.asarray(leaf.grad)) for leaf in leaves])
        yield

    def _forward(self, inputs: Sequence[Any]) -> Any:
        self.passes = self.passes[0] + 1, self.passes[1]
        return self._function(*inputs)

    def _elements(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        return ((number, index) for number, array in enumerate(self._arrays) for index in np.ndindex(array.shape))

    @contextmanager
    def _clock(self) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds.append(time.perf_counter() - start)
