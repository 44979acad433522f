"""Loss surfaces: functions of two parameters x and y, computed by the engine at a point or over a whole grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from model import Tensor, mse_loss
from nn import MLP, Adam

REACH = 2.0  # every surface is drawn from -2 to 2, in both directions
CELLS = 81  # grid points in each direction

Function: TypeAlias = Callable[[Any, Any], Tensor]  # two Tensors of one shape -> a Tensor of this shape


@dataclass(frozen=True)
class Surface:
    """A function of x and y, and good settings to descend it with.

    names    of the two parameters
    lowest   the only minimum, if the surface has exactly one and it is known
    start    an instructive starting point
    rates    learning rates of SGD, momentum and Adam that descend from there
    """

    title: str
    formula: str
    function: Function
    start: tuple[float, float]
    rates: tuple[float, float, float]
    lowest: tuple[float, float] | None = None
    names: tuple[str, str] = ("x", "y")

    def heights(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute the values (rows, columns) over the grid ys x xs; return them with xs and ys."""
        ends = np.linspace(-REACH, REACH, CELLS)
        x, y = (Tensor(along, requires_grad=False) for along in np.meshgrid(ends, ends))
        return self.function(x, y).numpy(), ends, ends


# Two weights of a network that was trained on seven points of a sine
POINTS = np.linspace(-2.0, 2.0, 7).reshape(-1, 1)
TARGETS = np.sin(1.5 * POINTS)


@cache
def trained() -> tuple[np.ndarray, ...]:
    """Train a 1-3-1 network on the points and return its parameters, as read-only arrays."""
    network = MLP((1, 3, 1), "tanh", rng=1)
    optimizer = Adam(network.parameters(), lr=0.03)
    for _ in range(400):
        optimizer.zero_grad()
        mse_loss(network(POINTS), TARGETS).backward()
        optimizer.step()
    values = tuple(np.array(parameter.data) for parameter in network.parameters())
    for value in values:
        value.setflags(write=False)
    return values


def network_loss(x: Tensor, y: Tensor) -> Tensor:
    """Compute the loss with x added to W1[0, 1] and y to W2[1, 0]; the axes of x and y precede the parameters'."""
    weight1, bias1, weight2, bias2 = trained()
    x, y = (by.reshape(*by.shape, 1, 1) for by in (x, y))
    hidden = (POINTS @ (weight1 + x * np.array([[0.0, 1.0, 0.0]])) + bias1).tanh()
    errors: Tensor = hidden @ (weight2 + y * np.array([[0.0], [1.0], [0.0]])) + bias2 - TARGETS
    return (errors**2).mean(axis=(-2, -1))


# Declarations, read by rows
# fmt: off
SURFACES = {
    "bowl": Surface("Bowl", "x² + y²", lambda x, y: x * x + y * y, (-1.8, 1.2), (0.1, 0.05, 0.1), lowest=(0.0, 0.0)),
    "ravine": Surface("Ravine", "x²/2 + 10 y²", lambda x, y: 0.5 * x * x + 10.0 * y * y,
        (-1.8, 0.8), (0.09, 0.02, 0.1), lowest=(0.0, 0.0)),
    "rosenbrock": Surface("Rosenbrock’s valley", "(1 − x)² + 100 (y − x²)²",
        lambda x, y: (1.0 - x) ** 2 + 100.0 * (y - x * x) ** 2,
        (-1.2, 1.0), (0.001, 0.001, 0.2), lowest=(1.0, 1.0)),
    "saddle": Surface("Saddle", "x² − y² + y⁴/4", lambda x, y: x * x - y * y + 0.25 * y**4,
        (-1.8, 0.0), (0.1, 0.05, 0.1)),
    "network": Surface("Two weights of a network", "the loss, with two weights moved by Δ from their trained values",
        network_loss, (-1.0, -1.6), (0.05, 0.01, 0.1), names=("ΔW1[0, 1]", "ΔW2[1, 0]")),
}
