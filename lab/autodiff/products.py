"""A chain of Jacobians, multiplied from either end.

The Jacobian of h(g(f(x))) is the product of three. A product of matrices is the same in any order of multiplying, but
not the work: a matrix (a, b) times a matrix (b, c) takes a·b·c multiplications. From the left, the first product has as
many rows as the result has numbers, m: reverse mode. From the right, as many columns as there are inputs, n: forward.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

End = Literal["left", "right"]
MAX_RUN = 5_000_000  # multiplications that are really made; more are counted only


def sizes(inputs: int, width: int, outputs: int, length: int) -> list[int]:
    """The numbers between the functions of a chain, the inputs first: `length` Jacobians lie between them."""
    return [inputs, *[width] * (length - 1), outputs]


def multiplications(chain: Sequence[int], end: End) -> int:
    """Of all Jacobians of a chain with these sizes, beginning at one end."""
    n, m = chain[0], chain[-1]
    pairs = list(zip(chain[1:], chain[:-1], strict=True))  # (rows, columns), the first function's Jacobian first
    if end == "left":
        return sum(m * rows * columns for rows, columns in pairs[:-1])
    return sum(rows * columns * n for rows, columns in pairs[1:])


def fewest(chain: Sequence[int]) -> int:
    """In the best order of all: the smallest sum for each stretch of the chain, the short ones first."""
    count = len(chain) - 1
    best = {(i, i): 0 for i in range(count)}
    for stretch in range(1, count):
        for i in range(count - stretch):
            j = i + stretch
            best[i, j] = min(best[i, k] + best[k + 1, j] + chain[i] * chain[k + 1] * chain[j + 1] for k in range(i, j))
    return best[0, count - 1]


@dataclass(frozen=True)
class Product:
    """The product, and the multiplications that were counted on the way."""

    matrix: np.ndarray
    multiplications: int


def multiply(jacobians: Sequence[np.ndarray], end: End) -> Product:
    """The product of Jacobians, the outermost function's first, as it is written; `end` says where to begin."""
    count = 0
    ordered = list(jacobians) if end == "left" else list(jacobians)[::-1]
    product = ordered[0]
    for jacobian in ordered[1:]:
        left, right = (product, jacobian) if end == "left" else (jacobian, product)
        count += left.shape[0] * left.shape[1] * right.shape[1]
        product = left @ right
    return Product(product, count)


def example(chain: Sequence[int]) -> list[np.ndarray]:
    """Jacobians of these sizes, the outermost function's first; the same ones each time."""
    rng = np.random.default_rng(0)
    pairs = zip(chain[1:], chain[:-1], strict=True)
    return [rng.standard_normal((rows, columns)) / np.sqrt(columns) for rows, columns in pairs][::-1]
