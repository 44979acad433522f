"""Few rules, and the rest made of them: a power as repeated products, a row as a matrix product with ones. The order
comes from the standard library's own topological sort."""

from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from types import SimpleNamespace
from typing import Any

import numpy as np


class Function:
    def __init_subclass__(cls):
        cls.apply = staticmethod(lambda *inputs: applied(cls, inputs))


def applied(cls, inputs):
    ctx = SimpleNamespace(function=cls, inputs=inputs, saved_tensors=())

    def save_for_backward(*arrays):
        ctx.saved_tensors = tuple(arrays)

    ctx.save_for_backward = save_for_backward
    arguments = []
    for x in inputs:
        arguments.append(x.data if isinstance(x, Tensor) else x)  # noqa: PERF401
    out = Tensor(cls.forward(ctx, *arguments))
    out.grad_fn = ctx
    return out


@dataclass(eq=False)
class Tensor:
    data: Any
    grad: Any = field(default=None, init=False)
    grad_fn: Any = field(default=None, init=False)

    def __post_init__(self):
        self.data = np.asanyarray(self.data)

    @property
    def parents(self):
        return [x for x in (self.grad_fn.inputs if self.grad_fn else ()) if isinstance(x, Tensor)]

    def backward(self, upstream=None):
        graph, todo = {}, [self]
        while todo:
            tensor = todo.pop()
            if tensor not in graph:
                graph[tensor] = tensor.parents
                todo += tensor.parents
                if tensor.parents:
                    tensor.grad = None
        self.grad = np.ones_like(self.data) if upstream is None else np.array(upstream)
        for tensor in [*TopologicalSorter(graph).static_order()][::-1]:
            if tensor.grad_fn is not None:
                messages = tensor.grad_fn.function.backward(tensor.grad_fn, tensor.grad)
                pairs = [pair for pair in zip(tensor.grad_fn.inputs, messages) if isinstance(pair[0], Tensor)]
                for x, message in pairs:
                    if x.grad is None:
                        x.grad = np.array(message)  # a copy of its own, which may be added to in place
                    else:
                        x.grad = np.asarray(x.grad + message)


class Add(Function):
    forward = staticmethod(lambda ctx, a, b: a + b)
    backward = staticmethod(lambda ctx, grad: (grad, grad))


class Mul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.a, ctx.b = a, b  # the context takes any name
        return a * b

    @staticmethod
    def backward(ctx, grad):
        yield grad * ctx.b
        yield grad * ctx.a


class Inverse(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(1 / a)
        return 1 / a

    @staticmethod
    def backward(ctx, grad):
        return (-grad * ctx.saved_tensors[0] * ctx.saved_tensors[0],)


class Pow:
    @staticmethod
    def apply(a, n):
        factor = a if n > 0 else Inverse.apply(a)
        out = factor
        for _ in range(abs(n) - 1):
            out = Mul.apply(out, factor)
        return Mul.apply(out, 1)


class ReLU:
    @staticmethod
    def apply(a):
        return Mul.apply(a, np.heaviside(a.data, a.data.dtype.type(0)))


class Exp(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(np.exp(a))
        return np.exp(a)

    @staticmethod
    def backward(ctx, grad):
        return [grad * ctx.saved_tensors[0]]


class Sigmoid:
    @staticmethod
    def apply(a):
        return Inverse.apply(Add.apply(Exp.apply(Mul.apply(a, -1)), 1))


class MatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a.dot(b)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad.dot(b.transpose()), a.transpose().dot(grad)


class Reshape(Function):
    @staticmethod
    def forward(ctx, a, *shape):
        ctx.shape = a.shape
        return a.reshape(shape)

    @staticmethod
    def backward(ctx, grad):
        return (grad.reshape(ctx.shape), *[None] * len(ctx.inputs[1:]))


class AddRow:
    @staticmethod
    def apply(x, row):
        return Add.apply(x, MatMul.apply(np.ones((len(x.data), 1)), Reshape.apply(row, 1, -1)))


class Sum:
    @staticmethod
    def apply(x):
        size = x.data.size
        return Reshape.apply(MatMul.apply(np.ones((1, size)), Reshape.apply(x, size, 1)))


def loss(x, y, w1, b1, w2, b2):
    hidden = ReLU.apply(AddRow.apply(MatMul.apply(x, w1), b1))
    out = Sigmoid.apply(AddRow.apply(MatMul.apply(hidden, w2), b2))
    error = Add.apply(out, np.negative(y))
    return Sum.apply(Pow.apply(error, 2))
