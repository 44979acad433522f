"""Count the multiplications for the product of a chain of Jacobians, from either end.

The Jacobian of h(g(f(x))) is a product of three matrices. The order of multiplying does not change the product, but it
changes the work: a matrix (a, b) times a matrix (b, c) takes a·b·c multiplications. From the left, each product has one
row for each of the m outputs: reverse mode. From the right, it has one column for each of the n inputs: forward mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

End = Literal["left", "right"]


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
