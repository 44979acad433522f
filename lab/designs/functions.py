"""Function objects: an operation is a class, with its forward and backward methods side by side.

`apply` makes an object of the class for each use, the `creator` of the result. `forward` computes with plain arrays;
`backward` takes the upstream gradient and the saved arrays, and returns a message for each argument. The pass goes from
the highest `generation` to the lowest; a Function's is one more than the highest among its arguments' creators.

What it costs: one more object for each operation, and one backward call. The pass releases the saved arrays: memory is
freed early, and a second `backward()` is an error. Numbers among the arguments are not nodes.
"""

from typing import Any

import numpy as np


class Function:
    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.arguments = arguments
        self.saved_tensors: Any = ()
        self.generation: int = 1 + max([x.creator.generation for x in arguments if getattr(x, "creator", None)] or [0])

    @classmethod
    def apply(cls, *arguments: Any) -> Any:
        function = cls(arguments)
        return Tensor(function.forward(*(x.data if isinstance(x, Tensor) else x for x in arguments)), function)

    def save_for_backward(self, *arrays: Any) -> Any:
        self.saved_tensors = arrays
        return arrays[0]

    def forward(self, *arrays: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} needs a forward: arrays in, one array out.")

    def backward(self, upstream: Any, *saved: Any) -> tuple[Any, ...]:
        raise NotImplementedError(f"{type(self).__name__} needs a backward: a gradient in, a message per argument out.")


# Close together, to be read side by side.
# fmt: off
class Add(Function):
    def forward(self, a: Any, b: Any) -> Any:
        return a + b
    def backward(self, upstream: Any) -> tuple[Any, ...]:
        return upstream, upstream

class Sub(Function):
    def forward(self, a: Any, b: Any) -> Any:
        return a - b
    def backward(self, upstream: Any) -> tuple[Any, ...]:
        return upstream, -upstream

class Mul(Function):
    def forward(self, a: Any, b: Any) -> Any:
        self.save_for_backward(a, b)
        return a * b
    def backward(self, upstream: Any, a: Any, b: Any) -> tuple[Any, ...]:
        return upstream * b, upstream * a

class Div(Function):
    def forward(self, a: Any, b: Any) -> Any:
        self.save_for_backward(a, b)
        return a / b
    def backward(self, upstream: Any, a: Any, b: Any) -> tuple[Any, ...]:
        return upstream / b, upstream * -a / b**2

class Pow(Function):
    def forward(self, a: Any, n: Any) -> Any:
        self.save_for_backward(a, n)
        return a**n
    def backward(self, upstream: Any, a: Any, n: Any) -> tuple[Any, ...]:
        return upstream * n * a ** (n - (n != 0)), None  # n is a number: no message to it

class MatMul(Function):
    def forward(self, a: Any, b: Any) -> Any:
        self.save_for_backward(a, b)
        return a @ b
    def backward(self, upstream: Any, a: Any, b: Any) -> tuple[Any, ...]:
        rows, columns = np.atleast_2d(a), b.reshape(len(b), -1)  # a vector is one row on the left, one column right
        upstream = upstream.reshape(len(rows), columns.shape[1])
        return (upstream @ columns.T).reshape(a.shape), (rows.T @ upstream).reshape(b.shape)

class Exp(Function):
    def forward(self, a: Any) -> Any:
        return self.save_for_backward(np.exp(a))
    def backward(self, upstream: Any, y: Any) -> tuple[Any, ...]:
        return (upstream * y,)

class Log(Function):
    def forward(self, a: Any) -> Any:
        return np.log(self.save_for_backward(a))
    def backward(self, upstream: Any, a: Any) -> tuple[Any, ...]:
        return (upstream / a,)

class Tanh(Function):
    def forward(self, a: Any) -> Any:
        return self.save_for_backward(np.tanh(a))
    def backward(self, upstream: Any, y: Any) -> tuple[Any, ...]:
        return (upstream * (1 - y * y),)

class ReLU(Function):
    def forward(self, a: Any) -> Any:
        return self.save_for_backward(np.maximum(a, 0.0))
    def backward(self, upstream: Any, y: Any) -> tuple[Any, ...]:
        return (upstream * (y > 0),)

class Sum(Function):
    def forward(self, a: Any) -> Any:
        self.save_for_backward(a.shape)
        return a.sum()
    def backward(self, upstream: Any, shape: Any) -> tuple[Any, ...]:
        return (np.broadcast_to(upstream, shape),)

class Tensor:
    __array_ufunc__ = None  # so that `array * tensor` comes to `__rmul__` here, and not to NumPy
    __add__, __radd__ = (lambda a, b: Add.apply(a, b)), (lambda b, a: Add.apply(a, b))
    __sub__, __rsub__ = (lambda a, b: Sub.apply(a, b)), (lambda b, a: Sub.apply(a, b))
    __mul__, __rmul__ = (lambda a, b: Mul.apply(a, b)), (lambda b, a: Mul.apply(a, b))
    __truediv__, __rtruediv__ = (lambda a, b: Div.apply(a, b)), (lambda b, a: Div.apply(a, b))
    __matmul__, __rmatmul__ = (lambda a, b: MatMul.apply(a, b)), (lambda b, a: MatMul.apply(a, b))
    __pow__, __neg__ = (lambda a, n: Pow.apply(a, n)), (lambda a: Mul.apply(a, -1.0))
    exp, log, sum = (lambda a: Exp.apply(a)), (lambda a: Log.apply(a)), (lambda a: Sum.apply(a))
    tanh, relu = (lambda a: Tanh.apply(a)), (lambda a: ReLU.apply(a))

    def __init__(self, data: Any, creator: Function | None = None) -> None:
        self.data, self.creator = np.asarray(data, dtype=float), creator
        self.grad: Any = None

    def backward(self) -> None:
        if self.data.size != 1 or self.creator is None:
            raise RuntimeError("backward() starts from a result that is a single number: reduce it first, with sum().")
        pending: dict[Any, Any] = {self.creator: np.ones_like(self.data)}  # Function: gradient of its result so far
        while pending:
            function = max(pending, key=lambda each: each.generation)  # no later one adds to its gradient
            if function.saved_tensors is None:
                raise RuntimeError("backward() has already gone through this graph: run the forward pass again.")
            messages = function.backward(pending.pop(function), *function.saved_tensors)
            function.saved_tensors = None
            for x, message in zip(function.arguments, messages, strict=True):
                if isinstance(x, Tensor):
                    added = message.ndim - x.data.ndim  # undo broadcasting: sum along the axes that were repeated
                    axes = [i for i in range(message.ndim) if i < added or x.data.shape[i - added] == 1]
                    x.grad = message.sum(tuple(axes)).reshape(x.data.shape) + (0.0 if x.grad is None else x.grad)
                    if x.creator:
                        pending[x.creator], x.grad = x.grad + pending.get(x.creator, 0.0), None

if __name__ == "__main__":
    x, w, b = Tensor([[1.0, 2.0], [3.0, -4.0]]), Tensor([[0.5], [-0.3]]), Tensor(0.1)
    loss = ((x @ w + b).tanh() ** 2).sum()
    loss.backward()
    print(loss.data, w.grad.ravel(), b.grad)
