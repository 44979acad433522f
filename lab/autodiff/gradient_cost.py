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
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lab.designs import duals
from lab.gradcheck.finite_differences import differences
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


def counted_differences(point: Sequence[float]) -> tuple[list[float], int]:
    """Return the gradient of x**2 + y**2 + ... by central differences, and how often they called the function."""
    squares = _Counted(lambda values: (values**2).sum())
    return [*differences(squares, np.array(point), STEP)], squares.calls


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
        self._work = self._parts()

    def advance(self, seconds: float) -> None:
        """Continue for about this many seconds, unless all is done."""
        end = time.perf_counter() + seconds
        while not self.done and time.perf_counter() < end:
            self.done = next(self._work, True)

    def _parts(self) -> Iterator[bool]:
        """Compute all gradients, yielding False after each part, so that `advance` can pause."""
        for method in METHODS:  # warm up, so that slow first calls are not timed
            yield from (False for _ in _slopes(method, *self._functions[self.sizes[0]]))
        for size in self.sizes:
            point = CostPoint(size)
            for _ in range(MAX_ATTEMPTS):
                yield from self._attempt(point)
                if not point.contradictory:
                    break
            self.points.append(point)

    def _attempt(self, point: CostPoint) -> Iterator[bool]:
        """Time all methods for one size. Seconds of an earlier attempt are kept where they are fewer."""
        done = _all_passes(size for size in self.sizes if size < point.parameters)
        gradients: dict[str, np.ndarray] = {}
        for method in reversed([*METHODS]):  # reverse mode first: the others are compared with it
            timed = 0
            for _ in range(MAX_REPEATS):
                arrays, function = self._functions[point.parameters]
                counted, seconds, parts = _Counted(function), [], []
                start = time.perf_counter()
                for part in _slopes(method, arrays, counted):
                    seconds.append(time.perf_counter() - start)
                    parts.append(part)
                    self.share = max(self.share, (done + counted.calls) / _all_passes(self.sizes))
                    yield False
                    start = time.perf_counter()
                whole = len(seconds) * statistics.median(seconds)  # no pause lengthens a median
                point.seconds[method] = min(whole, point.seconds.get(method, math.inf))
                timed += len(seconds)
                if timed >= ENOUGH_PARTS:
                    break
            gradients[method] = np.ravel(parts)
            point.passes[method] = counted.calls, int(method == "reverse")
            point.max_abs_diff[method] = float(np.abs(gradients[method] - gradients["reverse"]).max())
            done += sum(point.passes[method])


class _Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *inputs: Any) -> Any:
        self.calls += 1
        return self.function(*inputs)


def _all_passes(sizes: Iterable[int]) -> int:
    return sum(sum(passes(method, size)) for size in sizes for method in METHODS)


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
