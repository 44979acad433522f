"""Study finite differences: how far they are from the derivative at each step h, and why.

    forward   (f(x + h) - f(x)) / h            bends away from the slope by about h f'' / 2        (truncation)
    central   (f(x + h) - f(x - h)) / (2 h)    bends away by about h^2 f''' / 6

    both lose digits when they subtract: about eps f / h, and this grows as h shrinks              (cancellation)

The two meet where the error is least: near h = sqrt(eps) for forward, near cbrt(eps) for central differences, times the
size of x. Where h is so small that x + h is x, the difference is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lab.gradcheck.check import random_cotangent
from lab.gradcheck.finite_differences import (
    Difference,
    ElementName,
    Method,
    best_step,
    difference,
    elements_of,
    replaced,
)
from model import Tensor

METHODS: tuple[Method, ...] = ("forward", "central")
PRECISIONS: dict[str, type[np.floating[Any]]] = {"float64": np.float64, "float32": np.float32}
EXPONENTS = tuple(range(0, -18, -1))
STEPS = tuple(float(f"1e{exponent}") for exponent in EXPONENTS)
Regime = Literal["best", "truncation", "cancellation"]
MAX_BRANCH_STEP = 0.1  # with larger steps, higher powers of h spoil the straight line of the truncation branch
BEST_FACTOR = 10.0  # a step whose error is at most this multiple of the smallest counts as good as the best
MAX_ROUNDING = 2.0  # times what rounding the two values can cost: a larger error has another cause
REACH, SAMPLES = 1.6, 17  # the curve around x: how many steps h on both sides, and how many points on each


@dataclass(frozen=True)
class Branch:
    """A straight line through the errors on one side of the best step, both axes logarithmic: error = scale h^slope."""

    slope: float
    scale: float
    ends: tuple[float, float]

    def points(self) -> list[tuple[float, float]]:
        return [(h, self.scale * h**self.slope) for h in self.ends]


@dataclass(frozen=True)
class Sweep:
    """The differences at each step, the smallest step last; `best` is the one with the smallest error.

    rule          the step that the rule of thumb predicts
    truncation    the branch above the best step; None if it has fewer than three errors
    cancellation  the branch below the best step; None likewise
    """

    method: Method
    precision: str
    differences: Sequence[Difference]
    best: Difference | None
    rule: float
    truncation: Branch | None
    cancellation: Branch | None

    def regime(self, found: Difference) -> Regime:
        """Return what causes the error of a difference: the bend of the curve, or the digits that were lost."""
        least = self.best.error if self.best else 0.0
        if found.error <= BEST_FACTOR * least or not found.error:
            return "best"
        eps = float(np.finfo(PRECISIONS[self.precision]).eps)
        rounding = eps * max(abs(found.above), abs(found.below)) / found.width  # that of the two values
        bends = self.best is not None and found.h > self.best.h and found.error > MAX_ROUNDING * rounding
        return "truncation" if bends else "cancellation"


class CheckPoint:
    """A function at a point in one precision, and its derivatives there by backward(), in float64.

    f          called with a Tensor for each name, as keywords; returns a Tensor of any shape
    values     name -> number or array
    precision  the precision in which f is computed: "float64" or "float32"
    cotangent  the weights that turn the result's elements into one number; 1 if it is one number already

    Errors of f and of backward() pass through.
    """

    def __init__(
        self,
        f: Callable[..., Tensor],
        values: Mapping[str, Any],
        precision: str = "float64",
        *,
        tensor: type[Tensor] = Tensor,
    ) -> None:
        dtype = PRECISIONS[precision]
        self.precision, self._f, self._tensor = precision, f, tensor
        self.values = {name: np.array(value, dtype) for name, value in values.items()}
        with np.errstate(all="ignore"):
            leaves = {name: tensor(value.astype(np.float64), label=name) for name, value in self.values.items()}
            result = f(**leaves)
            self.cotangent = np.ones(result.shape) if result.size == 1 else random_cotangent(result.numpy())[0]
            result.backward(self.cotangent)
        self.gradients = {
            name: np.zeros(leaf.shape) if leaf.grad is None else np.array(leaf.grad) for name, leaf in leaves.items()
        }

    def places(self) -> list[ElementName]:
        return elements_of(self.values)

    def value(self, place: ElementName, moved: Any) -> Any:
        """Compute sum(cotangent * f) with one element replaced by `moved`, in this precision."""
        arrays = self.values | {place.name: replaced(self.values[place.name], place.index, moved)}
        result = self._f(**{str(n): self._tensor(array, requires_grad=False) for n, array in arrays.items()}).numpy()
        return result.reshape(()) if result.size == 1 else np.sum(self.cotangent.astype(result.dtype) * result)

    @np.errstate(all="ignore")
    def difference(self, place: ElementName, h: float, method: Method = "central") -> Difference:
        """Compute one difference quotient, all of it in this precision, h included; nan if f has no value."""
        x, exact = (arrays[place.name][place.index] for arrays in (self.values, self.gradients))
        return difference(lambda moved: self.value(place, moved), x, h, method, exact)

    @np.errstate(all="ignore")
    def around(self, place: ElementName, h: float) -> list[tuple[float, float]]:
        """Sample f near x in this precision: pairs (distance from x in steps h, f there minus f(x)).

        Each number of the precision occurs once; points without a finite value are left out."""
        x = self.values[place.name][place.index]
        moved = np.unique((x + np.linspace(-REACH, REACH, 2 * SAMPLES - 1) * h).astype(x.dtype))
        here = float(self.value(place, x))
        found = [((float(at) - float(x)) / h, float(self.value(place, at)) - here) for at in moved]
        return [(steps, change) for steps, change in found if math.isfinite(change)]

    def sweep(self, place: ElementName, method: Method, steps: Sequence[float] = STEPS) -> Sweep:
        """Compute the differences at all steps, given from large to small, and fit both branches of the error."""
        found = [self.difference(place, h, method) for h in steps]
        finite = [one for one in found if np.isfinite(one.error)]
        best = min((one for one in finite if not one.stuck), key=lambda one: one.error, default=None)
        truncation = [one for one in finite if best and 10 * best.h <= one.h <= MAX_BRANCH_STEP]
        cancellation = [one for one in finite if best and one.h <= best.h / 10 and not one.stuck]
        return Sweep(
            method,
            self.precision,
            found,
            best,
            best_step(method, self.values[place.name][place.index], PRECISIONS[self.precision]),
            _branch(truncation),
            _branch(cancellation),
        )


def _branch(differences: Sequence[Difference]) -> Branch | None:
    points = [(one.h, one.error) for one in differences if one.error > 0]
    if len(points) < 3:
        return None
    h, error = np.log10(np.array(points)).T
    slope, height = np.polyfit(h, error, 1)
    return Branch(float(slope), float(10**height), (min(points)[0], max(points)[0]))
