"""Find, for each cell of a gradient, the upstream cells that it sums and the factor of each.

To see where values went in the forward pass, number the cells of an operand, send these numbers through the same
broadcasting or indexing as the values, and read off which cell arrived where. In the backward pass, each cell sums over
all places where it arrived.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lab.operation_table import OPS

Shape = tuple[int, ...]
SIGNS = ("+", "-", "*", "/")
MAX_AXES, MAX_LENGTH = 3, 4  # of a shape that a learner types: axes, and cells along each


@dataclass(frozen=True)
class Summand:
    """One summand of a cell of a gradient: upstream[cell] * factor. Cells are counted in reading order.

    partner  the cell of the other operand that the factor comes from
    """

    cell: int
    factor: float = 1.0
    partner: int | None = None


Sources = list[list[Summand]]  # for each cell of an operand, the summands of its gradient


@dataclass(frozen=True)
class AxisFit:
    """One axis of two shapes that are broadcast, counted from the last; a length is None if a shape lacks the axis."""

    axis: int
    left: int | None
    right: int | None

    @property
    def length(self) -> int | None:
        """The length of the result's axis; None if the two do not fit."""
        left, right = self.left or 1, self.right or 1
        return max(left, right) if left == right or 1 in (left, right) else None

    def copies(self, side: Literal["left", "right"]) -> bool:
        """Return whether this operand is copied along the axis."""
        return self.length is not None and self.length > ((self.left if side == "left" else self.right) or 1)


def fit(left: Shape, right: Shape) -> list[AxisFit]:
    """Pair the axes of two shapes, the last one first, as broadcasting compares them."""
    return [
        AxisFit(-i, left[-i] if i <= len(left) else None, right[-i] if i <= len(right) else None)
        for i in range(1, max(len(left), len(right)) + 1)
    ]


def numbered(shape: Shape) -> np.ndarray:
    """Return an array of this shape whose cells hold their numbers in reading order."""
    return np.arange(np.prod(shape, dtype=int)).reshape(shape)


def destinations(origin: np.ndarray, size: int) -> list[list[int]]:
    """Invert a mapping: for each of `size` cells, list the places whose value came from it; origin: place -> cell."""
    places: list[list[int]] = [[] for _ in range(size)]
    for place, cell in enumerate(origin.ravel()):
        places[cell].append(place)
    return places


def broadcast(op: str, left: np.ndarray, right: np.ndarray) -> tuple[Sources, Sources]:
    """Return the summands of both gradients of `left op right`, with op one of SIGNS."""
    shape = np.broadcast_shapes(left.shape, right.shape)
    a, b = np.broadcast_to(left, shape), np.broadcast_to(right, shape)
    value = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op](a, b)
    origins = [np.broadcast_to(numbered(operand.shape), shape) for operand in (left, right)]
    both = []
    for number, operand in enumerate((left, right)):
        derivative = OPS[op].derivative(number).value
        assert derivative is not None
        factors = np.broadcast_to(derivative(a, b, value), shape).ravel()
        partners = origins[1 - number].ravel()
        both.append(
            [
                [Summand(place, float(factors[place]), int(partners[place])) for place in places]
                for places in destinations(origins[number], operand.size)
            ]
        )
    return both[0], both[1]


def matmul(left: np.ndarray, right: np.ndarray) -> tuple[Sources, Sources]:
    """Return the summands of both gradients of `left @ right`: left[i, k] reaches row i, times row k of `right`."""
    (n, inner), m = left.shape, right.shape[1]
    of_left = [
        [Summand(i * m + j, float(right[k, j]), k * m + j) for j in range(m)] for i in range(n) for k in range(inner)
    ]
    of_right = [
        [Summand(i * m + j, float(left[i, k]), i * inner + k) for i in range(n)] for k in range(inner) for j in range(m)
    ]
    return of_left, of_right


def reduction(op: str, value: np.ndarray, axis: int | None) -> Sources:
    """Return the summands for `value.op(axis)`, with op sum, mean or max: the cell that each was reduced into."""
    reduced = value.sum(axis, keepdims=True).shape
    targets = np.broadcast_to(numbered(reduced), value.shape).ravel()
    top = np.broadcast_to(value.max(axis, keepdims=True), value.shape)
    largest = value == top
    share = {
        "sum": np.ones(value.shape),
        "mean": np.full(value.shape, 1 / (value.size // np.prod(reduced, dtype=int))),
        "max": largest / np.broadcast_to(largest.sum(axis, keepdims=True), value.shape),
    }[op].ravel()
    return [[Summand(int(cell), float(factor))] if factor else [] for cell, factor in zip(targets, share, strict=True)]


def indexing(value: np.ndarray, index: Any) -> Sources:
    """Return the summands for `value[index]`: two for a cell that was taken twice, none for one that was not taken."""
    return [[Summand(place) for place in places] for places in destinations(numbered(value.shape)[index], value.size)]


def read_shape(text: str) -> Shape:
    """Read a shape that a learner typed: `3, 1`, `(3, 1)`, `3x1`, or "" for a number. Raises ValueError."""
    inside = text.strip().strip("()[]").strip()
    words = inside.replace("×", ",").replace("x", ",").replace("*", ",").removesuffix(",").split(",")
    lengths: Sequence[str] = [word.strip() for word in words] if inside else []
    if not all(length.isascii() and length.isdigit() for length in lengths):
        raise ValueError("Write the lengths of the axes with commas between them, such as 3, 1.")
    if len(lengths) > MAX_AXES:
        raise ValueError(f"Here a shape has at most {MAX_AXES} axes: with more, no cell could be seen.")
    if not all(len(length) < 4 and 1 <= int(length) <= MAX_LENGTH for length in lengths):
        raise ValueError(f"Here each axis has between 1 and {MAX_LENGTH} cells, so that each can be seen.")
    return tuple(map(int, lengths))
