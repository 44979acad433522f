"""A complete training on four points: a network of 41 parameters, and all of its numbers after any step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.designs.network import HIDDEN, POINTS, TARGETS
from model import MLP, SGD, mse_loss

SIZES = (POINTS.shape[1], HIDDEN, HIDDEN, 1)
MAX_STEPS = 100
RATE = 0.1
LEARNED_LIMIT = 0.01  # the points count as learned when the loss is below it


@dataclass(frozen=True)
class Moment:
    """The network at a step: the loss, the predictions (4,), and name, value and gradient of each parameter."""

    loss: float
    predictions: np.ndarray
    parameters: list[tuple[str, float, float]]


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
        (
            f"{p.label}[{', '.join(map(str, place))}]",
            float(p.data[place]),
            float("nan") if p.grad is None else float(p.grad[place]),
        )
        for p in network.parameters()
        for place in np.ndindex(p.shape)
    ]
