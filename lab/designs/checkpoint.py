"""Gradient checkpointing: keep less between the passes, and recompute the rest.

A chain of layers is cut into segments. In the forward pass, only the last one records its graph; the others keep only
their input. In the backward pass, these run again, the last of them first, now recorded; each graph is freed before the
next one is built. Griewank 1992; Chen et al. 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
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
        self.parameters = {parameter for pair in self.weights for parameter in pair}
        self.runs = 0

    def forward(self, x: Any, weights: Sequence[tuple[Tensor, Tensor]]) -> Any:
        for weight, bias in weights:
            self.runs += 1
            x = (x @ weight + bias).tanh()
        return x

    def gradients(self) -> list[np.ndarray]:
        """Return the gradients of all parameters, and reset them."""
        found = []
        for parameter in (parameter for pair in self.weights for parameter in pair):
            assert parameter.grad is not None, "a backward pass has been here"
            found.append(parameter.grad)
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


def full_pass(chain: LayerChain, inputs: np.ndarray) -> tuple[Cost, list[np.ndarray]]:
    """Run a plain pass, which keeps everything; return its cost and its gradients."""
    chain.runs = 0
    loss = (chain.forward(Tensor(inputs, requires_grad=False), chain.weights) ** 2).mean()
    kept = _kept(chain, loss)
    loss.backward()
    return Cost(0, kept, chain.runs, 0.0), chain.gradients()


def checkpointed(chain: LayerChain, inputs: np.ndarray, segments: int, due: list[np.ndarray]) -> Cost:
    """Run a checkpointed pass with so many segments; due: the gradients of the plain pass."""
    chain.runs = 0
    parts = np.array_split(np.arange(len(chain.weights)), segments)
    starts = [inputs]  # the input of each segment: all that is kept of those before the last
    with no_grad():
        for part in parts[:-1]:
            starts.append(chain.forward(Tensor(starts[-1]), _some(chain, part)).numpy())
    upstream: Any = None
    most = 0
    for number in reversed(range(segments)):
        first = Tensor(starts.pop(), requires_grad=number > 0)
        out = chain.forward(first, _some(chain, parts[number]))
        if number == segments - 1:
            out = (out**2).mean()  # the loss: its upstream gradient is 1
        most = max(most, _kept(chain, out) + sum(start.nbytes for start in starts))
        out.backward(upstream)
        upstream = first.grad
    found = chain.gradients()
    difference = max(float(np.abs(a - b).max()) for a, b in zip(found, due, strict=True))
    return Cost(segments, most, chain.runs, difference)


def costs(layers: int, width: int, rows: int) -> tuple[Cost, list[Cost]]:
    """Run a plain pass, and one with each number of segments from 2 to the number of layers."""
    inputs = np.random.default_rng(1).normal(size=(rows, width))
    chain = LayerChain(layers, width)
    full, due = full_pass(chain, inputs)
    return full, [checkpointed(chain, inputs, segments, due) for segments in range(2, layers + 1)]


def _some(chain: LayerChain, part: np.ndarray) -> list[tuple[Tensor, Tensor]]:
    return [chain.weights[i] for i in part]


def _kept(chain: LayerChain, result: Tensor) -> int:
    """Count the bytes of numbers that a result keeps alive, without the parameters of the chain."""
    own = [parameter for parameter in topological_order(result) if parameter in chain.parameters]
    return kept_by(result).numbers - kept_by(own).numbers
