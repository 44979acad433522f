"""Forward mode: dual numbers carry the derivative along, and no graph is kept.

A Dual is a value and its tangent: how fast the value changes as the inputs move in one direction. Each operation
computes both at once, the tangent by the usual rules of calculus. Set the tangent of one input element to 1 and all
others to 0, and the tangent of the result is the derivative with respect to that element. A result of many numbers
gets all its derivatives in the same pass: one column of the Jacobian.

What it costs: a pass for each input element, where reverse mode takes one backward pass for all of them. Nothing is
kept for later: there is no graph, no order, no backward call, and a second run gives the same result, because nothing
adds up. It wins if there are few inputs and many outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np


class Dual:
    """An array of floats, and a tangent of the same shape: how fast each float changes."""

    __array_ufunc__ = None  # so that `array * dual` comes to `__rmul__` here, and not to NumPy

    def __init__(self, value: Any, tangent: Any = 0.0) -> None:
        self.value = np.asarray(value, dtype=float)
        self.tangent = np.broadcast_to(np.asarray(tangent, dtype=float), self.value.shape)  # 0 for a constant

    def __add__(self, other: Any) -> Dual:
        other = as_dual(other)
        return Dual(self.value + other.value, self.tangent + other.tangent)

    def __sub__(self, other: Any) -> Dual:
        other = as_dual(other)
        return Dual(self.value - other.value, self.tangent - other.tangent)

    def __mul__(self, other: Any) -> Dual:
        other = as_dual(other)
        return Dual(self.value * other.value, self.tangent * other.value + self.value * other.tangent)

    def __truediv__(self, other: Any) -> Dual:
        other = as_dual(other)
        y = self.value / other.value
        return Dual(y, (self.tangent - y * other.tangent) / other.value)

    def __pow__(self, n: float) -> Dual:
        # n a^(n-1), and 0 for n = 0, also where a is 0
        return Dual(self.value**n, n * self.value ** (n - (n != 0)) * self.tangent)

    def __matmul__(self, other: Any) -> Dual:
        other = as_dual(other)
        return Dual(self.value @ other.value, self.tangent @ other.value + self.value @ other.tangent)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.tangent)

    def exp(self) -> Dual:
        y = np.exp(self.value)
        return Dual(y, y * self.tangent)

    def log(self) -> Dual:
        return Dual(np.log(self.value), self.tangent / self.value)

    def tanh(self) -> Dual:
        y = np.tanh(self.value)
        return Dual(y, (1 - y * y) * self.tangent)

    def relu(self) -> Dual:
        return Dual(np.maximum(self.value, 0.0), (self.value > 0) * self.tangent)

    def sum(self) -> Dual:
        return Dual(self.value.sum(), self.tangent.sum())

    # For `2 - d`: a number does not know Duals, so Python asks the operand on the right.
    __radd__, __rmul__, __rsub__ = __add__, __mul__, (lambda b, a: as_dual(a) - b)
    __rtruediv__, __rmatmul__ = (lambda b, a: as_dual(a) / b), (lambda b, a: as_dual(a) @ b)


def as_dual(value: Any) -> Dual:
    return value if isinstance(value, Dual) else Dual(value)


def columns(f: Callable[..., Dual], inputs: Sequence[Any]) -> Iterator[np.ndarray]:
    """Yield how fast f(*inputs) changes with each element of the inputs in turn, in the shape of the result: a column
    of the Jacobian, by one pass."""
    for number, value in enumerate(inputs):
        for index in np.ndindex(np.shape(value)):
            direction = np.zeros(np.shape(value))
            direction[index] = 1.0
            yield f(*(Dual(each, direction if at == number else 0.0) for at, each in enumerate(inputs))).tangent


def gradient(f: Callable[..., Dual], inputs: Sequence[Any]) -> list[np.ndarray]:
    """Compute the gradient of f(*inputs), a single number, for each input, with one pass for each of their elements."""
    slopes = columns(f, inputs)
    return [np.array([next(slopes) for _ in range(np.size(value))]).reshape(np.shape(value)) for value in inputs]


if __name__ == "__main__":
    x, inputs = np.array([[1.0, 2.0], [3.0, -4.0]]), [np.array([[0.5], [-0.3]]), 0.1]

    def loss(w: Any, b: Any) -> Dual:
        return ((x @ w + b).tanh() ** 2).sum()

    w_grad, b_grad = gradient(loss, inputs)
    print(loss(*map(Dual, inputs)).value, w_grad.ravel(), b_grad)
