"""Closures on tensors: the engine of this lab, reduced to what a first reading needs.

An operation does two things. It computes its result, and it leaves a small function behind, `_backward`, which passes
the gradient of the result on to the operands. That function is a closure: it captures the operands and the arrays that
the derivative needs. So a program records its graph as it runs. `backward()` puts the tensors in order, operands before
results, and calls the closures from the last one to the first:

    message to an operand = upstream gradient * local derivative        (the chain rule)
    gradient of a tensor  = the sum of the messages it receives         (the multivariate chain rule)

What it costs: one backward call for each operation, however often its result is used. Every captured array stays in
memory for as long as the result does. A second `backward()` adds the same gradients to the leaves again.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Tensor:
    """An array of floats that remembers what it was computed from. `grad` is None until a message arrives."""

    __array_ufunc__ = None  # so that `array * tensor` comes to `__rmul__` here, and not to NumPy

    def __init__(self, data: Any, children: tuple[Tensor, ...] = (), backward: Any = None) -> None:
        self.data, self._children, self._backward = np.asarray(data, dtype=float), children, backward
        self.grad: Any = None

    def _accumulate(self, message: np.ndarray) -> None:
        shape = self.data.shape  # undo broadcasting: sum along the axes that were repeated
        message = message.sum(axis=tuple(range(message.ndim - len(shape))))
        message = message.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)
        self.grad = message if self.grad is None else self.grad + message  # a tensor used twice gets two messages

    def backward(self) -> None:
        """Add the derivatives of this single number to the `grad` of each leaf that it was computed from."""
        if self.data.size != 1:
            raise RuntimeError("backward() starts from a single number: reduce the result first, with sum().")
        order = topological_order(self)
        for tensor in order:
            tensor.grad = None if tensor._backward else tensor.grad  # only leaves add up over several passes
        self.grad = np.ones_like(self.data)
        for tensor in reversed(order):
            if tensor._backward:
                tensor._backward(tensor.grad)  # complete: all results computed from it come after it in the order

    def __add__(self, other: Any) -> Tensor:
        def _backward(upstream):
            self._accumulate(upstream)  # d(a + b)/da = 1
            other._accumulate(upstream)  # d(a + b)/db = 1

        other = as_tensor(other)
        return Tensor(self.data + other.data, (self, other), _backward)

    def __sub__(self, other: Any) -> Tensor:
        def _backward(upstream):
            self._accumulate(upstream)  # d(a - b)/da = 1
            other._accumulate(-upstream)  # d(a - b)/db = -1

        other = as_tensor(other)
        return Tensor(self.data - other.data, (self, other), _backward)

    def __mul__(self, other: Any) -> Tensor:
        def _backward(upstream):
            self._accumulate(upstream * b)  # d(a * b)/da = b
            other._accumulate(upstream * a)  # d(a * b)/db = a

        other = as_tensor(other)
        a, b = self.data, other.data  # captured as they are now: assigning to `data` later changes no gradient
        return Tensor(a * b, (self, other), _backward)

    def __truediv__(self, other: Any) -> Tensor:
        def _backward(upstream):
            self._accumulate(upstream / b)  # d(a / b)/da = 1 / b
            other._accumulate(upstream * -a / b**2)  # d(a / b)/db = -a / b^2

        other = as_tensor(other)
        a, b = self.data, other.data
        return Tensor(a / b, (self, other), _backward)

    def __pow__(self, n: float) -> Tensor:
        a = self.data  # d(a^n)/da = n a^(n-1), and 0 for n = 0, also where a is 0
        return Tensor(a**n, (self,), lambda upstream: self._accumulate(upstream * n * a ** (n - (n != 0))))

    def __matmul__(self, other: Any) -> Tensor:
        def _backward(upstream):
            upstream = upstream.reshape(len(rows), columns.shape[1])
            self._accumulate((upstream @ columns.T).reshape(self.data.shape))
            other._accumulate((rows.T @ upstream).reshape(other.data.shape))

        other = as_tensor(other)
        a, b = self.data, other.data
        rows, columns = np.atleast_2d(a), b.reshape(len(b), -1)  # a vector is one row on the left, one column right
        return Tensor(a @ b, (self, other), _backward)

    def __neg__(self) -> Tensor:
        return Tensor(-self.data, (self,), lambda upstream: self._accumulate(-upstream))

    def exp(self) -> Tensor:
        y = np.exp(self.data)
        return Tensor(y, (self,), lambda upstream: self._accumulate(upstream * y))

    def log(self) -> Tensor:
        a = self.data
        return Tensor(np.log(a), (self,), lambda upstream: self._accumulate(upstream / a))

    def tanh(self) -> Tensor:
        y = np.tanh(self.data)
        return Tensor(y, (self,), lambda upstream: self._accumulate(upstream * (1 - y * y)))

    def relu(self) -> Tensor:
        y = np.maximum(self.data, 0.0)
        return Tensor(y, (self,), lambda upstream: self._accumulate(upstream * (y > 0)))

    def sum(self) -> Tensor:
        shape = self.data.shape  # each element counts once: each receives the whole upstream gradient
        return Tensor(self.data.sum(), (self,), lambda upstream: self._accumulate(np.broadcast_to(upstream, shape)))

    # For `2 - t`: a number does not know tensors, so Python asks the operand on the right.
    __radd__, __rmul__, __rsub__ = __add__, __mul__, (lambda b, a: as_tensor(a) - b)
    __rtruediv__, __rmatmul__ = (lambda b, a: as_tensor(a) / b), (lambda b, a: as_tensor(a) @ b)


def as_tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor(value)


def topological_order(root: Tensor) -> list[Tensor]:
    """List each tensor once, after its operands. Uses a stack: a graph may be too deep for a recursive function."""
    order: list[Tensor] = []
    seen, stack = set(), [(root, False)]
    while stack:
        tensor, operands_placed = stack.pop()
        if operands_placed:
            order.append(tensor)
        elif tensor not in seen:
            seen.add(tensor)
            stack += [(tensor, True), *((child, False) for child in tensor._children)]
    return order


if __name__ == "__main__":
    x, w, b = Tensor([[1.0, 2.0], [3.0, -4.0]]), Tensor([[0.5], [-0.3]]), Tensor(0.1)
    loss = ((x @ w + b).tanh() ** 2).sum()
    loss.backward()
    print(loss.data, w.grad.ravel(), b.grad)
