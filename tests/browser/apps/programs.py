"""What the pages of this folder compute: small programs with live inputs."""

import numpy as np

from lab.ui.player import Live
from model import mse_loss
from tests.programs import shared


def arrays(X, W, bias):
    return mse_loss((X @ W + bias).relu(), np.array([[1.0, 0.0], [0.5, 2.0], [0.0, 1.0]]))


def tree(nodes):
    """A program with about as many nodes: products of four live leaves, through sin, added up in pairs."""

    def build(a, b, c, d):
        leaves = [a, b, c, d]
        if nodes < 6:
            return a * b
        level = [(leaves[i % 4] * leaves[(i + 1 + i // 4) % 4]).sin() for i in range((nodes - 3) // 3)]
        while len(level) > 1:
            pairs = [x + y for x, y in zip(level[::2], level[1::2], strict=False)]
            level = pairs + ([level[-1]] if len(level) % 2 else [])
        return level[0]

    return build


def chain(a, b, c, d):
    x = a
    for i in range(296):
        x = x.tanh() if i % 2 else x + b
    return x * c * d


def wide(a, b, c, d):
    """A sum of 99 terms."""
    leaves = [a, b, c, d]
    return sum((leaves[i % 4].sin() * leaves[(i + 1) % 4] for i in range(1, 99)), start=a * b)


def iterate(a, b, c, d):
    """A function of a function of a function, as one writes it line by line."""
    h = d
    for i in range(74):
        h = (h * a + b).tanh() * c
        h.label = f"h{i + 1}"
    return h


def network(a, b, c, d):
    """Eight layers of four units, each of all units before it."""
    units = [a, b, c, d]
    for layer in range(1, 9):
        units = [
            ((units[i] + units[(i + 1) % 4]) * (units[(i + 2) % 4] + units[(i + 3) % 4]) * a * b * c * d).tanh()
            for i in range(4)
        ]
        for i, unit in enumerate(units):
            unit.label = f"u{layer}_{i}"
    return units[0] + units[1] + units[2] + units[3]


def tangle(a, b, c, d):
    """Each value from two that came at any time before."""
    rng, values = np.random.default_rng(0), [a, b, c, d]
    for _ in range(148):
        i, j = rng.integers(len(values), size=2)
        values.append((values[i] * values[-1 - j % 9]).sin())
    return sum(values[-3:], start=values[3])


SHAPES = {shape.__name__: shape for shape in (chain, wide, iterate, network, tangle)}  # of about 300 nodes each

CASES = {
    "shared": (shared, {"a": Live(2.0), "b": Live(3.0), "c": Live(4.0), "d": Live(5.0)}),
    "arrays": (
        arrays,
        {
            "X": Live([[1.0, 2.0, -1.0], [0.5, -1.5, 2.0], [1.0, 1.0, 1.0]]),
            "W": Live([[0.3, -0.2], [0.1, 0.4], [-0.5, 0.6]], -2.0, 2.0, 0.01),
            "bias": Live([0.1, -0.1], -2.0, 2.0, 0.01),
        },
    ),
    "nasty": (lambda **leaves: leaves["<img src=x onerror=alert(1)>"] * 2.0, {"<img src=x onerror=alert(1)>": Live(2.0)}),
    "unused": (lambda a, b: (a * 2.0).relu(), {"a": Live(-2.0), "b": Live(3.0)}),
}  # fmt: skip
