"""Backward functions that recurse at once: `grad_fn`, without sorting the graph.

A result keeps a backward function, `grad_fn`, that knows the operands and their local derivatives. A tensor that
receives a gradient passes it on at once: a leaf adds it up, a result hands it to its `grad_fn`, which calls `backward`
of each operand with its message. Nothing is sorted and intermediate tensors need no `grad`. Derivatives are linear, so
passing messages on one by one gives the same sum as passing on their sum once: the gradients are right.

What it costs: one call for each path to the result instead of each operation. After x = x + x, done n times, that is
2^n - 1 calls. And Python lets functions nest only about 1,000 deep: a long chain of operations raises a RecursionError.
A second `backward()` adds the same gradients again.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class BackwardFunction:
    """The backward step of one operation: its operands, and the arrays that their local derivatives need."""

    def __init__(self, operands: tuple[Any, ...], *saved: Any) -> None:
        self.operands, self.saved = operands, saved

    def __call__(self, upstream: Any) -> None:
        for operand, message in zip(self.operands, self.backward(upstream, *self.saved), strict=True):
            if isinstance(operand, Tensor):
                operand.backward(message)  # recurses at once, all the way down to the leaves

    def backward(self, upstream: Any, *saved: Any) -> tuple[Any, ...]:
        raise NotImplementedError(f"{type(self).__name__} needs a backward: a gradient in, a message per operand out.")


# Close together, to be read side by side.
# fmt: off
class AddBackward(BackwardFunction):
    def backward(self, upstream: Any) -> tuple[Any, ...]:
        return upstream, upstream  # d(a + b)/da = d(a + b)/db = 1

class SubBackward(BackwardFunction):
    def backward(self, upstream: Any) -> tuple[Any, ...]:
        return upstream, -upstream  # d(a - b)/da = 1, d(a - b)/db = -1

class MulBackward(BackwardFunction):
    def backward(self, upstream: Any, a: Any, b: Any) -> tuple[Any, ...]:
        return upstream * b, upstream * a  # d(a * b)/da = b, d(a * b)/db = a

class DivBackward(BackwardFunction):
    def backward(self, upstream: Any, a: Any, b: Any) -> tuple[Any, ...]:
        return upstream / b, upstream * -a / b**2  # d(a / b)/da = 1 / b, d(a / b)/db = -a / b^2

class PowBackward(BackwardFunction):
    def backward(self, upstream: Any, a: Any, n: Any) -> tuple[Any, ...]:
        return (upstream * n * a ** (n - (n != 0)),)  # d(a^n)/da = n a^(n-1), and 0 for n = 0, also where a is 0

class MatMulBackward(BackwardFunction):
    def backward(self, upstream: Any, a: Any, b: Any) -> tuple[Any, ...]:
        rows, columns = np.atleast_2d(a), b.reshape(len(b), -1)  # a vector is one row on the left, one column right
        upstream = upstream.reshape(len(rows), columns.shape[1])
        return (upstream @ columns.T).reshape(a.shape), (rows.T @ upstream).reshape(b.shape)

class NegBackward(BackwardFunction):
    def backward(self, upstream: Any) -> tuple[Any, ...]:
        return (-upstream,)

class ExpBackward(BackwardFunction):
    def backward(self, upstream: Any, y: Any) -> tuple[Any, ...]:
        return (upstream * y,)

class LogBackward(BackwardFunction):
    def backward(self, upstream: Any, a: Any) -> tuple[Any, ...]:
        return (upstream / a,)

class TanhBackward(BackwardFunction):
    def backward(self, upstream: Any, y: Any) -> tuple[Any, ...]:
        return (upstream * (1 - y * y),)

class ReLUBackward(BackwardFunction):
    def backward(self, upstream: Any, y: Any) -> tuple[Any, ...]:
        return (upstream * (y > 0),)

class SumBackward(BackwardFunction):
    def backward(self, upstream: Any, shape: Any) -> tuple[Any, ...]:
        return (np.broadcast_to(upstream, shape),)

class Tensor:
    __array_ufunc__ = None  # so that `array * tensor` comes to `__rmul__` here, and not to NumPy

    def __init__(self, data: Any, grad_fn: Any = None) -> None:
        self.data, self.grad_fn = np.asarray(data, dtype=float), grad_fn
        self.grad: Any = None

    def backward(self, upstream: Any = None) -> None:
        if upstream is None and self.data.size != 1:
            raise RuntimeError("backward() starts from a single number: reduce the result first, with sum().")
        upstream = np.ones_like(self.data) if upstream is None else upstream
        added = upstream.ndim - self.data.ndim  # undo broadcasting: sum along the axes that were repeated
        axes = [i for i in range(upstream.ndim) if i < added or self.data.shape[i - added] == 1]
        upstream = upstream.sum(tuple(axes)).reshape(self.data.shape)
        if self.grad_fn:
            self.grad_fn(upstream)
        else:
            self.grad = upstream if self.grad is None else self.grad + upstream

    def __add__(self, other: Any) -> Tensor:
        return Tensor(self.data + value(other), AddBackward((self, other)))
    def __sub__(self, other: Any) -> Tensor:
        return Tensor(self.data - value(other), SubBackward((self, other)))
    def __mul__(self, other: Any) -> Tensor:
        return Tensor(self.data * value(other), MulBackward((self, other), self.data, value(other)))
    def __truediv__(self, other: Any) -> Tensor:
        return Tensor(self.data / value(other), DivBackward((self, other), self.data, value(other)))
    def __pow__(self, n: float) -> Tensor:
        return Tensor(self.data**n, PowBackward((self,), self.data, n))
    def __matmul__(self, other: Any) -> Tensor:
        return Tensor(self.data @ value(other), MatMulBackward((self, other), self.data, value(other)))
    def __neg__(self) -> Tensor:
        return Tensor(-self.data, NegBackward((self,)))
    def exp(self) -> Tensor:
        return Tensor(y := np.exp(self.data), ExpBackward((self,), y))
    def log(self) -> Tensor:
        return Tensor(np.log(self.data), LogBackward((self,), self.data))
    def tanh(self) -> Tensor:
        return Tensor(y := np.tanh(self.data), TanhBackward((self,), y))
    def relu(self) -> Tensor:
        return Tensor(y := np.maximum(self.data, 0.0), ReLUBackward((self,), y))
    def sum(self) -> Tensor:
        return Tensor(self.data.sum(), SumBackward((self,), self.data.shape))

    # For `2 - t`: a number does not know tensors, so Python asks the operand on the right.
    __radd__, __rmul__, __rsub__ = __add__, __mul__, (lambda b, a: Tensor(a) - b)
    __rtruediv__, __rmatmul__ = (lambda b, a: Tensor(a) / b), (lambda b, a: Tensor(a) @ b)

def value(operand: Any) -> Any:
    return operand.data if isinstance(operand, Tensor) else np.asarray(operand, dtype=float)

if __name__ == "__main__":
    x, w, b = Tensor([[1.0, 2.0], [3.0, -4.0]]), Tensor([[0.5], [-0.3]]), Tensor(0.1)
    loss = ((x @ w + b).tanh() ** 2).sum()
    loss.backward()
    print(loss.data, w.grad.ravel(), b.grad)
