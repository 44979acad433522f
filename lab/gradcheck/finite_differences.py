"""Estimate a derivative by moving one number a little and watching the output.

forward   (f(x + h) - f(x)) / h
central   (f(x + h) - f(x - h)) / (2 h)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from model import Tensor

Method = Literal["forward", "central"]


@dataclass(frozen=True)
class ElementName:
    """One element of one input. `str` writes it as Python does: `W[0, 2]`, `a` for an input that is one number."""

    name: str
    index: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.name + (f"[{', '.join(map(str, self.index))}]" if self.index else "")


def elements_of(arrays: Mapping[str, Any]) -> list[ElementName]:
    """List the elements of all arrays, each in reading order."""
    return [ElementName(name, index) for name, array in arrays.items() for index in np.ndindex(np.shape(array))]


@dataclass(frozen=True)
class Difference:
    """One difference quotient with all the numbers in it, computed in one precision.

    left   x - h, or x itself for a forward difference; below is the value of f there
    right  x + h; above is the value of f there
    width  the divisor of the difference of the two values: h, or 2 h
    exact  the derivative by backward(), in float64; nan if it is not known
    """

    method: Method
    h: float
    x: float
    left: float
    right: float
    below: float
    above: float
    width: float
    difference: float
    quotient: float
    exact: float = math.nan

    @property
    def error(self) -> float:
        return abs(self.quotient - self.exact)

    @property
    def digits_lost(self) -> float:
        """How many leading digits the two values share and the subtraction loses; inf if the values are equal."""
        size = max(abs(self.above), abs(self.below))
        if not self.difference:
            return math.inf
        return max(0.0, math.log10(size / abs(self.difference))) if math.isfinite(size) else math.nan

    @property
    def stuck(self) -> bool:
        """Whether h is so small that adding it to x changes nothing."""
        return self.right == self.x


def difference(
    f: Callable[[Any], Any], x: Any, h: float, method: Method = "central", exact: float = math.nan
) -> Difference:
    """Compute one difference quotient of a function of one number, in the precision of x and f(x)."""
    step = type(x)(h)
    left, right = (x - step if method == "central" else x), x + step
    below, above = f(left), f(right)
    width = 2 * step if method == "central" else step
    numbers = (x, left, right, below, above, width, above - below, (above - below) / width, exact)
    return Difference(method, h, *map(float, numbers))


def differences(
    f: Callable[[np.ndarray], Any], point: np.ndarray, h: float | None = None, method: Method = "central"
) -> Iterator[float]:
    """Yield the difference quotient of f for each element of a point, in reading order. Each calls f twice."""
    for index in np.ndindex(point.shape):
        x = point[index]
        step = best_step(method, x) if h is None else h
        yield difference(lambda moved: f(replaced(point, index, moved)), x, step, method).quotient  # noqa: B023


def best_step(method: Method, x: Any, dtype: Any = np.float64) -> float:
    """Predict the best step: sqrt(eps) for forward and cbrt(eps) for central differences, times max(1, |x|)."""
    eps = float(np.finfo(dtype).eps)
    return float(eps ** (1 / 2 if method == "forward" else 1 / 3) * max(1.0, abs(float(x))))


def replaced(point: np.ndarray, index: tuple[int, ...], value: Any) -> np.ndarray:
    """Return a copy of a point with another number as one element."""
    copy = point.copy()
    copy[index] = value
    return copy


def float_copy(value: object) -> np.ndarray:
    """Copy an array, a number or a Tensor: float32 stays float32, everything else becomes float64."""
    array = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
    return np.array(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)


@np.errstate(all="ignore")
def numerical_gradient(
    f: Callable[[Any], Any], x: object, h: float | None = None, method: Method = "central"
) -> np.ndarray:
    """Estimate the gradient of f at x by finite differences: a float64 array of x's shape.

    f: maps an array, or a Tensor, to one number (a float, or an array or Tensor of one element). If x is a Tensor, f is
        called with Tensors. If x is an array or a number, f is called with arrays, or with Tensors if it needs a method
        that only Tensors have, such as x.relu().
    h: the step; by default cbrt(eps) * max(1, |x|) for central and sqrt(eps) * max(1, |x|) for forward differences.
    method: "central" is (f(x+h) - f(x-h)) / 2h, "forward" is (f(x+h) - f(x)) / h.

    x is only read. Raises ValueError for another method, a bad step, or an f that returns more than one number.
    """
    if method not in ("central", "forward"):
        raise ValueError(f'The method must be "central" or "forward", not {method!r}.')
    if h is not None and not 0 < h < np.inf:
        raise ValueError(f"The step h must be a positive number, not {h}.")
    point = float_copy(x).astype(np.float64)

    def value(argument: object) -> np.float64:
        result = f(argument)
        number = result.numpy() if hasattr(result, "numpy") else np.asarray(result)
        if number.size != 1:
            raise ValueError(f"f must return one number; it returned an array of shape {number.shape}.")
        return np.float64(number.reshape(()))

    def at_tensor(moved: np.ndarray) -> np.float64:
        return value((type(x) if isinstance(x, Tensor) else Tensor)(moved, requires_grad=False))

    evaluate: Callable[[np.ndarray], np.float64] = value
    if isinstance(x, Tensor):
        evaluate = at_tensor
    else:
        try:
            value(point.copy())
        except (AttributeError, TypeError):
            evaluate = at_tensor
    return np.array([*differences(evaluate, point, h, method)]).reshape(point.shape)
