"""Time forward and reverse mode on all derivatives of one function."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lab.autodiff.passes import FunctionGraph
from lab.designs import duals
from lab.designs.compare import DesignProgram, apply
from model import Tensor

MAX_SECONDS = 0.1  # for both modes together
MAX_REPEATS = 20


@dataclass(frozen=True)
class Race:
    """The seconds of the fastest run of each mode; max_abs_diff: the largest difference between their Jacobians."""

    forward: float
    reverse: float
    max_abs_diff: float


def race(graph: FunctionGraph) -> Race:
    """Time both modes: dual numbers (lab/designs/duals.py) with a pass for each input, and model.py with one forward
    pass and a backward pass for each output. Raises compare.UnsuitableError if dual numbers lack an operation."""
    run = graph.program()
    begun, forward, reverse = time.perf_counter(), float("inf"), float("inf")
    for _ in range(MAX_REPEATS):
        seconds, columns = _timed(lambda: _columns(run))
        forward = min(forward, seconds)
        seconds, rows = _timed(lambda: _rows(run))
        reverse = min(reverse, seconds)
        if time.perf_counter() - begun > MAX_SECONDS:
            break
    with np.errstate(invalid="ignore"):
        return Race(forward, reverse, float(np.max(np.abs(columns - rows))))


def _timed(work: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    start = time.perf_counter()
    with np.errstate(all="ignore"):
        result = work()
    return time.perf_counter() - start, result


def _columns(run: DesignProgram) -> np.ndarray:
    inputs = [np.asarray(value) for value in run.leaves.values()]
    found = []
    for number, value in enumerate(inputs):
        for index in np.ndindex(value.shape):
            direction = [np.zeros(other.shape) for other in inputs]
            direction[number][index] = 1.0
            found.append(np.ravel(duals.derivative(lambda *x: run.run(x, apply), inputs, direction)))
    return np.stack(found, axis=1)


def _rows(run: DesignProgram) -> np.ndarray:
    leaves = [Tensor(value) for value in run.leaves.values()]
    result = run.run(leaves, apply)
    found = []
    for index in np.ndindex(result.shape):
        for leaf in leaves:
            leaf.grad = None
        upstream = np.zeros(result.shape)
        upstream[index] = 1.0
        result.backward(upstream, retain_graph=True)
        found.append(np.concatenate([np.ravel(np.asarray(leaf.grad)) for leaf in leaves]))
    return np.stack(found)
