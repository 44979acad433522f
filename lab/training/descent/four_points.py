"""A complete training on four points: a small network, and all of its numbers after any step."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from model import mse_loss
from nn import MLP, SGD

HIDDEN = 4  # units in each of the two hidden layers
# Four points in three dimensions and their targets: the first task of many courses.
POINTS = np.array([[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]])
TARGETS = np.array([[1.0], [-1.0], [-1.0], [1.0]])
SIZES = (POINTS.shape[1], HIDDEN, HIDDEN, 1)
PARAMETERS = sum(n_in * n_out + n_out for n_in, n_out in pairwise(SIZES))
MAX_STEPS = 100
RATE = 0.1
LEARNED_LIMIT = 0.01  # the points count as learned when the loss is below it


@dataclass(frozen=True)
class Moment:
    """The network at a step: the loss, the predictions (4,), and name, value and gradient of each parameter."""

    loss: float
    predictions: np.ndarray
    parameters: list[tuple[str, float, float]]


def initial(hidden: int, seed: int) -> list[np.ndarray]:
    """Draw weights (n_in, n_out) and biases (n_out,) for each layer in turn, uniform from -1 to 1."""
    rng = np.random.default_rng(seed)
    layers = pairwise((3, hidden, hidden, 1))
    shapes = [shape for n_in, n_out in layers for shape in ((n_in, n_out), (n_out,))]
    return [rng.uniform(-1, 1, shape) for shape in shapes]


def train(rate: float, seed: int, steps: int) -> list[Moment]:
    """Train the network on the four points; return its moments before the first step and after each step."""
    network = MLP(SIZES, "tanh", rng=seed)
    optimizer = SGD(network.parameters(), lr=rate)
    moments = []
    with np.errstate(all="ignore"):
        for _ in range(steps + 1):
            optimizer.zero_grad()
            predictions = network(POINTS)
            loss = mse_loss(predictions, TARGETS)
            loss.backward()
            moments.append(Moment(loss.item(), predictions.numpy()[:, 0], _parameters(network)))
            optimizer.step()
    return moments


def _parameters(network: MLP) -> list[tuple[str, float, float]]:
    return [
        (f"{p.label}[{', '.join(map(str, at))}]", float(p.data[at]), np.nan if p.grad is None else float(p.grad[at]))
        for p in network.parameters()
        for at in np.ndindex(p.shape)
    ]
