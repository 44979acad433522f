"""Shapes of arrays: how two are broadcast, axis by axis, and how a learner writes one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Shape = tuple[int, ...]
MAX_AXES, MAX_LENGTH = 3, 4  # of a shape that a learner types: axes, and cells along each


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
