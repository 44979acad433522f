"""Run one network in two designs: its 41 parameters as 41 scalar Values, and as six arrays."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.designs import closures, scalars
from lab.designs.compare import DESIGNS, Retained, calls_of, kept_by, matching


@dataclass(frozen=True)
class NetworkRun:
    """The network in one design: the loss, the gradients of all parameters in one array, and the cost of a pass.

    nodes, calls, kept  as in lab.designs.compare.DesignRun
    seconds             forward and backward together, the best of several
    """

    loss: float
    gradients: np.ndarray
    nodes: int
    calls: int
    kept: Retained
    seconds: float


@dataclass(frozen=True)
class Both:
    """The network in both designs, from the same parameters.

    difference  the largest difference between the gradients
    slower      how many times slower the scalars are than the tensors
    """

    parameters: int
    scalars: NetworkRun
    tensors: NetworkRun

    @property
    def difference(self) -> float:
        return float(np.abs(self.scalars.gradients - self.tensors.gradients).max())

    @property
    def slower(self) -> float:
        return self.scalars.seconds / self.tensors.seconds


def loss_of_tensors(parameters: Sequence[Any], inputs: np.ndarray, targets: np.ndarray) -> Any:
    """Compute the sum of the squared errors with parameters that are closures.Tensor objects."""
    x: Any = inputs
    for weight, bias in zip(parameters[::2], parameters[1::2], strict=True):
        x = (x @ weight + bias).tanh()
    return ((x - targets) ** 2).sum()


def loss_of_scalars(parameters: Sequence[Any], inputs: np.ndarray, targets: np.ndarray) -> Any:
    """Compute the same loss with parameters that are (nested) lists of Values."""
    x = inputs.tolist()
    for weight, bias in zip(parameters[::2], parameters[1::2], strict=True):
        x = [[(z + b).tanh() for z, b in zip(row, bias, strict=True)] for row in scalars.matmul(x, weight)]
    errors = [row[0] - target for row, target in zip(x, targets[:, 0].tolist(), strict=True)]
    return scalars.sum([error**2 for error in errors])


def both(arrays: Sequence[np.ndarray], inputs: np.ndarray, targets: np.ndarray, repeats: int = 5) -> Both:
    """Run the network forward and backward in both designs and measure it. The timed runs alternate.

    arrays   weight and bias of each layer, in turn
    inputs   shape (samples, inputs of the first layer); targets: shape (samples, 1)
    """

    def in_tensors() -> tuple[Any, list[Any]]:
        parameters = [closures.Tensor(array) for array in arrays]
        return loss_of_tensors(parameters, inputs, targets), parameters

    def in_scalars() -> tuple[Any, list[Any]]:
        parameters = [np.frompyfunc(scalars.Value, 1, 1)(array) for array in arrays]
        numbers = [number for each in parameters for number in each.flat]
        return loss_of_scalars([each.tolist() for each in parameters], inputs, targets), numbers

    ways = {"closures": in_tensors, "scalars": in_scalars}
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(repeats):
        for key, way in ways.items():
            best[key] = min(best[key], _seconds(way))
    tensors, values = (_side(key, way, best[key]) for key, way in ways.items())
    return Both(sum(array.size for array in arrays), values, tensors)


def _seconds(way: Callable[[], Any]) -> float:
    start = time.perf_counter()
    way()[0].backward()
    return time.perf_counter() - start


def _side(key: str, way: Callable[[], Any], seconds: float) -> NetworkRun:
    design = DESIGNS[key]
    loss, leaves = way()
    kept = kept_by(loss)
    loss.backward()
    gradients = np.concatenate([np.ravel(leaf.grad) for leaf in leaves])
    calls = calls_of(design.module, lambda: way()[0].backward())
    return NetworkRun(
        float(loss.data), gradients, matching(calls, design.makes), matching(calls, design.rules), kept, seconds
    )
