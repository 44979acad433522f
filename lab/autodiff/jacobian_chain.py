"""Multiply a chain of Jacobians from either end, and count the multiplications.

The Jacobian of h(g(f(x))) is a product of three matrices. The order of multiplying does not change the product, but it
changes the work: a matrix (a, b) times a matrix (b, c) takes a·b·c multiplications. From the left, each product has one
row for each of the m outputs: reverse mode. From the right, it has one column for each of the n inputs: forward mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

End = Literal["left", "right"]
MAX_RUN = 5_000_000  # multiplications that are run; longer products are only counted


def sizes(inputs: int, width: int, outputs: int, length: int) -> list[int]:
    """Return the sizes between the functions of a chain of `length` Jacobians, from inputs to outputs."""
    return [inputs, *[width] * (length - 1), outputs]


def multiplications(chain: Sequence[int], end: End) -> int:
    """Count the multiplications for the product of a chain with these sizes, starting at one end."""
    n, m = chain[0], chain[-1]
    pairs = list(zip(chain[1:], chain[:-1], strict=True))  # (rows, columns), the first function's Jacobian first
    if end == "left":
        return sum(m * rows * columns for rows, columns in pairs[:-1])
    return sum(rows * columns * n for rows, columns in pairs[1:])


def min_multiplications(chain: Sequence[int]) -> int:
    """Count the multiplications in the best order, found by dynamic programming from short stretches to long ones."""
    count = len(chain) - 1
    best = {(i, i): 0 for i in range(count)}
    for stretch in range(1, count):
        for i in range(count - stretch):
            j = i + stretch
            best[i, j] = min(best[i, k] + best[k + 1, j] + chain[i] * chain[k + 1] * chain[j + 1] for k in range(i, j))
    return best[0, count - 1]


@dataclass(frozen=True)
class Product:
    """A product of Jacobians, and the number of multiplications that it took."""

    matrix: np.ndarray
    multiplications: int


def multiply(jacobians: Sequence[np.ndarray], end: End) -> Product:
    """Multiply Jacobians, given in written order (the outermost function's first), starting at one end."""
    count = 0
    ordered = list(jacobians) if end == "left" else list(jacobians)[::-1]
    product = ordered[0]
    for jacobian in ordered[1:]:
        left, right = (product, jacobian) if end == "left" else (jacobian, product)
        count += left.shape[0] * left.shape[1] * right.shape[1]
        product = left @ right
    return Product(product, count)


def example(chain: Sequence[int]) -> list[np.ndarray]:
    """Draw random Jacobians of these sizes, the outermost function's first; the same ones each time."""
    rng = np.random.default_rng(0)
    pairs = zip(chain[1:], chain[:-1], strict=True)
    return [rng.standard_normal((rows, columns)) / np.sqrt(columns) for rows, columns in pairs][::-1]
