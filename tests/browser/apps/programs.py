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
    "nasty": (
        lambda **leaves: leaves["<img src=x onerror=alert(1)>"] * 2.0,
        {"<img src=x onerror=alert(1)>": Live(2.0)},
    ),
    "unused": (lambda a, b: (a * 2.0).relu(), {"a": Live(-2.0), "b": Live(3.0)}),
}
