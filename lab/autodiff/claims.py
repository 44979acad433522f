"""Numbers that a tutorial prints, and what comes out when they are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.autodiff.steps import METHODS, Difference, Place, Point
from lab.expression.builder import parse


@dataclass(frozen=True)
class Claim:
    """What a tutorial says of an expression at a point.

    words      the sentence
    gradients  the elements that it speaks of, each with the gradient that it prints
    h          the step at which it says that the difference is 0; None where it says nothing of differences
    """

    words: str
    expression: str
    values: Mapping[str, float | Sequence[float]]
    gradients: Mapping[Place, float]
    h: float | None = None

    def measure(self, h: float) -> dict[Place, list[Difference]]:
        """Forward and central difference at each element."""
        point = Point(parse(self.expression), self.values)
        return {place: [point.difference(place, h, method) for method in METHODS] for place in self.gradients}

    def holds(self, place: Place, exact: float) -> bool:
        """Is the gradient that it prints the right one, as far as it is printed?"""
        return bool(np.isclose(self.gradients[place], exact, rtol=0, atol=5e-4))


CLAIMS = {
    "zero": Claim(
        "At x = 2 the gradient of x² sin x + eˣ is 6.1411. With h = 1e-15 the numerical gradient is 0.",
        "x**2 * sin(x) + exp(x)",
        {"x": 2.0},
        {Place("x"): 6.1411},
        1e-15,
    ),
    "alone": Claim(
        "The same, if only x² sin x was meant: the gradient is 6.1411, and with h = 1e-15 the numerical one is 0.",
        "x**2 * sin(x)",
        {"x": 2.0},
        {Place("x"): 6.1411},
        1e-15,
    ),
    "two": Claim(
        "At x = [2, 3] the gradient of x₀² sin x₁ + exp x₀ is [11.0901, 3.9216].",
        "x[0]**2 * sin(x[1]) + exp(x[0])",
        {"x": [2.0, 3.0]},
        {Place("x", (0,)): 11.0901, Place("x", (1,)): 3.9216},
    ),
}
