"""Scalar Values: an object for each single number, and no arrays.

A Value holds one float, its gradient, the Values it was computed from, and a closure that passes its gradient on to
them. Every rule is one from a first calculus course, because nothing has a shape: no broadcasting to undo, no transpose
in a matrix product. A vector is a list of Values, a matrix is a list of rows, and `sum` and `matmul` are loops over
them. What an engine does with arrays can be checked here number by number.

What it costs: an object, a closure and two calls for each number that is computed; an array needs them once. A
recursive function finds the order, so a chain of about 1,000 operations raises a RecursionError. Gradients start at 0
and are never reset: in a second `backward()` those of the intermediate results are still there and pass on too much,
so the gradients of the leaves more than double.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


class Value:
    """A float that remembers what it was computed from."""

    def __init__(self, data: float, children: tuple[Value, ...] = ()) -> None:
        self.data, self.grad = float(data), 0.0
        self._children = children
        self._backward = lambda upstream: None  # a leaf has no operands to pass a gradient on to

    def backward(self) -> None:
        """Add the derivatives of this Value to the `grad` of every Value that it was computed from."""
        order: list[Value] = []
        seen = set()

        def build_topo(value: Value) -> None:
            if value not in seen:
                seen.add(value)
                for child in value._children:
                    build_topo(child)
                order.append(value)  # after its children

        build_topo(self)
        self.grad = 1.0
        for value in reversed(order):
            value._backward(value.grad)

    def __add__(self, other: Value | float) -> Value:
        other = as_value(other)
        out = Value(self.data + other.data, (self, other))

        def _backward(upstream):
            self.grad += upstream  # d(a + b)/da = 1
            other.grad += upstream  # d(a + b)/db = 1

        out._backward = _backward
        return out

    def __mul__(self, other: Value | float) -> Value:
        other = as_value(other)
        out = Value(self.data * other.data, (self, other))

        def _backward(upstream):  # reads `data` only now: a write since the forward pass gives a wrong gradient
            self.grad += upstream * other.data  # d(a * b)/da = b
            other.grad += upstream * self.data  # d(a * b)/db = a

        out._backward = _backward
        return out

    def __sub__(self, other: Value | float) -> Value:
        other = as_value(other)
        out = Value(self.data - other.data, (self, other))

        def _backward(upstream):
            self.grad += upstream  # d(a - b)/da = 1
            other.grad -= upstream  # d(a - b)/db = -1

        out._backward = _backward
        return out

    def __truediv__(self, other: Value | float) -> Value:
        other = as_value(other)
        out = Value(self.data / other.data, (self, other))

        def _backward(upstream):
            self.grad += upstream / other.data  # d(a / b)/da = 1 / b
            other.grad -= upstream * self.data / other.data**2  # d(a / b)/db = -a / b^2

        out._backward = _backward
        return out

    def __pow__(self, n: float) -> Value:
        # d(a^n)/da = n a^(n-1), and 0 for n = 0, also where a is 0
        return self._of_one(math.pow(self.data, n), n * math.pow(self.data, n - 1) if n else 0.0)

    def __neg__(self) -> Value:
        return self._of_one(-self.data, -1.0)

    def exp(self) -> Value:
        y = math.exp(self.data)
        return self._of_one(y, y)

    def log(self) -> Value:
        return self._of_one(math.log(self.data), 1 / self.data)

    def tanh(self) -> Value:
        y = math.tanh(self.data)
        return self._of_one(y, 1 - y * y)

    def relu(self) -> Value:
        return self._of_one(max(0.0, self.data), 1.0 if self.data > 0 else 0.0)

    def _of_one(self, result: float, derivative: float) -> Value:
        """Return the result of an operation on this Value alone, whose local derivative is one number."""
        out = Value(result, (self,))

        def _backward(upstream):
            self.grad += upstream * derivative

        out._backward = _backward
        return out

    # For `2 - v`: a number does not know Values, so Python asks the operand on the right.
    __radd__, __rmul__ = __add__, __mul__
    __rsub__, __rtruediv__ = (lambda b, a: as_value(a) - b), (lambda b, a: as_value(a) / b)


def as_value(number: Value | float) -> Value:
    return number if isinstance(number, Value) else Value(number)


def sum(values: Sequence[Value]) -> Value:
    """Add up a list of Values, one addition after the other."""
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def matmul(left: list[list[Value]], right: list[list[Value]]) -> list[list[Value]]:
    """Multiply each row of the left matrix by each column of the right one."""
    columns = list(zip(*right, strict=True))
    return [[sum([a * b for a, b in zip(row, column, strict=True)]) for column in columns] for row in left]


if __name__ == "__main__":
    x, w, b = [[1.0, 2.0], [3.0, -4.0]], [[Value(0.5)], [Value(-0.3)]], Value(0.1)
    rows = matmul([[Value(number) for number in row] for row in x], w)
    loss = sum([(row[0] + b).tanh() ** 2 for row in rows])
    loss.backward()
    print(loss.data, [row[0].grad for row in w], b.grad)
