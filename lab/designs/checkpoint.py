"""Gradient checkpointing: keep less between the passes, and recompute the rest.

A chain of layers is cut into segments. In the forward pass, only the last one records its graph; the others keep only
their input. In the backward pass, these run again, the last of them first, now recorded; each graph is freed before the
next one is built. Griewank 1992; Chen et al. 2016.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.designs.compare import kept_by
from model import Tensor, no_grad, topological_order
from nn import MLP


class LayerChain:
    """A chain of layers tanh(x @ W + b), all of one width; `runs` counts how often a layer runs forward."""

    def __init__(self, layers: int, width: int) -> None:
        made = MLP([width] * (layers + 1), "tanh", rng=0).layers
        self.weights = [(layer.weight, layer.bias) for layer in made]
        self.parameters = [parameter for pair in self.weights for parameter in pair]
        self.runs = 0

    def forward(self, x: Any, part: Iterable[int]) -> Any:
        """Run some of the layers."""
        for layer in part:
            self.runs += 1
            weight, bias = self.weights[layer]
            x = (x @ weight + bias).tanh()
        return x

    def gradients(self) -> list[np.ndarray]:
        """Return the gradients of all parameters, and reset them."""
        found = [np.asarray(parameter.grad) for parameter in self.parameters]
        for parameter in self.parameters:
            parameter.zero_grad()
        return found


@dataclass(frozen=True)
class Cost:
    """The cost of one forward and backward pass. kept: peak bytes of numbers, without parameters and their gradients;
    runs: layers run forward; difference: the largest difference from the gradients of a plain pass."""

    segments: int
    kept: int
    runs: int
    difference: float


def checkpointed(chain: LayerChain, inputs: np.ndarray, segments: int) -> int:
    """Run a pass with so many segments, and return the peak of the bytes kept. With one, it is a plain pass."""
    parts = np.array_split(np.arange(len(chain.weights)), segments)
    starts = [inputs]  # the input of each segment: all that is kept of those before the last
    with no_grad():
        for part in parts[:-1]:
            starts.append(chain.forward(Tensor(starts[-1]), part).numpy())
    upstream: Any = None
    most = 0
    for number in reversed(range(segments)):
        first = Tensor(starts.pop(), requires_grad=number > 0)
        out = chain.forward(first, parts[number])
        if number == segments - 1:
            out = (out**2).mean()  # the loss: its upstream gradient is 1
        most = max(most, _kept(chain, out) + sum(start.nbytes for start in starts))
        out.backward(upstream)
        upstream = first.grad
    return most


def costs(layers: int, width: int, rows: int) -> list[Cost]:
    """Run a plain pass, which is the first, and one with each number of segments from 2 to the number of layers."""
    inputs = np.random.default_rng(1).normal(size=(rows, width))
    chain = LayerChain(layers, width)
    found: list[Cost] = []
    due: list[np.ndarray] = []
    for segments in range(1, layers + 1):
        chain.runs = 0
        kept = checkpointed(chain, inputs, segments)
        gradients = chain.gradients()
        due = due or gradients
        difference = max(float(np.abs(a - b).max()) for a, b in zip(gradients, due, strict=True))
        found.append(Cost(segments, kept, chain.runs, difference))
    return found


def _kept(chain: LayerChain, result: Tensor) -> int:
    """Count the bytes of numbers that a result keeps alive, without the parameters of the chain."""
    parameters = set(chain.parameters)
    own = [parameter for parameter in topological_order(result) if parameter in parameters]
    return kept_by(result).numbers - kept_by(own).numbers
