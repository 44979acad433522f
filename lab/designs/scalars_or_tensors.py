"""Run one network in two designs: its parameters as scalar Values, and as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.designs.compare import DESIGNS, DesignRun, largest_difference, measure, of_graph
from model import Tensor


@dataclass(frozen=True)
class Both:
    """The network in both designs, from the same parameters."""

    scalars: DesignRun
    tensors: DesignRun

    @property
    def gradients(self) -> list[tuple[float, float]]:
        """The gradient of each parameter, from scalars and from tensors."""
        sides = (np.concatenate([np.ravel(g) for g in run.gradients.values()]) for run in (self.scalars, self.tensors))
        return list(zip(*(side.tolist() for side in sides), strict=True))

    @property
    def difference(self) -> float:
        """The largest difference between the gradients."""
        return largest_difference([self.scalars, self.tensors])

    @property
    def slower(self) -> float:
        """How many times slower the scalars are than the tensors."""
        return self.scalars.seconds / self.tensors.seconds


def both(arrays: Sequence[np.ndarray], inputs: np.ndarray, targets: np.ndarray, repeats: int = 5) -> Both:
    """Run the network forward and backward in both designs and measure it; its loss is the sum of the squared errors.

    arrays   weight and bias of each layer, in turn
    inputs   shape (samples, inputs of the first layer); targets: shape (samples, 1)
    """
    parameters = {f"parameter {at}": Tensor(array) for at, array in enumerate(arrays)}
    tensors: list[Tensor] = [*parameters.values()]
    x: Any = inputs
    for weight, bias in zip(tensors[::2], tensors[1::2], strict=True):
        x = (x @ weight + bias).tanh()
    run = of_graph(((x - targets) ** 2).sum(), parameters)
    return Both(*(measure(DESIGNS[key], run, repeats) for key in ("scalars", "closures")))
