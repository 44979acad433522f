"""Function objects: an operation is a class, with its way forward and its way backward side by side."""

import numpy as np


# task: context
class Context:
    def __init__(self, function, inputs):
        self.function, self.inputs = function, inputs
        self.saved_tensors = ()

    def save_for_backward(self, *arrays):
        self.saved_tensors = arrays


class Function:
    @classmethod
    def apply(cls, *inputs):
        ctx = Context(cls, inputs)
        out = Tensor(cls.forward(ctx, *(x.data if isinstance(x, Tensor) else x for x in inputs)))
        out.grad_fn = ctx
        return out


class Tensor:
    def __init__(self, data):
        self.data = np.asarray(data)
        self.grad = None
        self.grad_fn = None

    # task: graph
    def backward(self, upstream=None):
        order = topological_order(self)
        for tensor in order:
            if tensor.grad_fn:
                tensor.grad = None
        self.grad = np.ones_like(self.data) if upstream is None else upstream
        for tensor in reversed(order):
            if tensor.grad_fn:
                ctx = tensor.grad_fn
                for x, message in zip(ctx.inputs, ctx.function.backward(ctx, tensor.grad)):
                    if isinstance(x, Tensor):
                        x.grad = message if x.grad is None else x.grad + message


def topological_order(root):
    """Every tensor that root was made from, each once and after its inputs; root is last."""
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        tensor, inputs_are_placed = stack.pop()
        if inputs_are_placed:
            order.append(tensor)
        elif tensor not in seen:
            seen.add(tensor)
            stack.append((tensor, True))
            if tensor.grad_fn:
                stack.extend((x, False) for x in tensor.grad_fn.inputs if isinstance(x, Tensor))
    return order


# task: add
class Add(Function):
    @staticmethod
    def forward(ctx, a, b):
        return a + b

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


# task: mul
class Mul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b, grad * a


# task: pow
class Pow(Function):
    @staticmethod
    def forward(ctx, a, n):
        ctx.save_for_backward(a, n)
        return a**n

    @staticmethod
    def backward(ctx, grad):
        a, n = ctx.saved_tensors
        return grad * n * a ** (n - 1), None


# task: relu
class ReLU(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a > 0)
        return np.maximum(a, 0)

    @staticmethod
    def backward(ctx, grad):
        (mask,) = ctx.saved_tensors
        return (grad * mask,)


# task: sigmoid
class Sigmoid(Function):
    @staticmethod
    def forward(ctx, a):
        s = 1 / (1 + np.exp(-a))
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, grad):
        (s,) = ctx.saved_tensors
        return (grad * s * (1 - s),)


# task: matmul
class MatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad @ b.T, a.T @ grad


# task: network
class AddRow(Function):
    @staticmethod
    def forward(ctx, x, row):
        return x + row

    @staticmethod
    def backward(ctx, grad):
        return grad, grad.sum(axis=0)


class Sum(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.shape)
        return x.sum()

    @staticmethod
    def backward(ctx, grad):
        (shape,) = ctx.saved_tensors
        return (np.broadcast_to(grad, shape),)


def loss(x, y, w1, b1, w2, b2):
    hidden = ReLU.apply(AddRow.apply(MatMul.apply(x, w1), b1))
    out = Sigmoid.apply(AddRow.apply(MatMul.apply(hidden, w2), b2))
    return Sum.apply(Pow.apply(Add.apply(out, Mul.apply(y, -1)), 2))
