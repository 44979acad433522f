"""The context is an object of the class itself, as some old engines had it; `backward` recurses, and counts users."""

from collections import Counter

import numpy as np


class Function:
    saved_tensors = ()

    def __init__(self, inputs):
        self.inputs = inputs

    def save_for_backward(self, *arrays):
        self.saved_tensors = arrays

    @classmethod
    def apply(cls, *inputs):
        self = cls(inputs)
        out = Tensor(cls.forward(self, *[x.data if hasattr(x, "grad_fn") else x for x in inputs]))
        out.grad_fn = self
        return out

    def parents(self):
        return [x for x in self.inputs if hasattr(x, "grad_fn")]


class Tensor:
    def __init__(self, data):
        self.data = np.array(data, copy=None)
        self.grad = self.grad_fn = None

    def backward(self, upstream=None):
        self._users = Counter()
        self._count(self._users, set())
        self.grad = None if self.grad_fn else self.grad
        self._receive(np.ones_like(self.data) if upstream is None else upstream, self._users, 0)

    def _count(self, users, seen):
        seen.add(self)
        if self.grad_fn:
            for x in self.grad_fn.parents():
                users[x] += 1
                if x not in seen:
                    if x.grad_fn:
                        x.grad = None
                    x._count(users, seen)

    def _receive(self, message, users, one=1):
        self.grad = sum([message] if self.grad is None else [self.grad, message], np.zeros_like(self.data))
        users[self] -= one
        if users[self] == 0 and self.grad_fn:
            messages = type(self.grad_fn).backward(self.grad_fn, self.grad)
            for x, each in zip(self.grad_fn.inputs, messages):
                if hasattr(x, "grad_fn"):
                    x._receive(each, users)


class Add(Function):
    def forward(self, a, b):
        return np.add(a, b)

    def backward(self, grad):
        return [grad] * 2


class Mul(Function):
    def forward(self, a, b):
        self.save_for_backward(b, a)
        return a * b

    def backward(self, grad):
        return [grad * factor for factor in self.saved_tensors]


class Pow(Function):
    def forward(self, a, n):
        self.slope = n * np.power(a, n - 1)
        return np.power(a, n)

    def backward(self, grad):
        return grad * self.slope, 0.0


class ReLU(Function):
    def forward(self, a):
        out = a.copy()
        out[out <= 0] = 0
        self.save_for_backward(out)
        return out

    def backward(self, grad):
        grad = grad.copy()
        grad[self.saved_tensors[0] == 0] = 0
        return [grad]


class Sigmoid(Function):
    def forward(self, a):
        self.save_for_backward(np.tanh(a / 2))
        return (1 + self.saved_tensors[0]) / 2

    def backward(self, grad):
        (t,) = self.saved_tensors
        return ((1 - t) * (1 + t) / 4 * grad,)


class MatMul(Function):
    def forward(self, a, b):
        self.save_for_backward(a, b)
        return np.einsum("nk,km->nm", a, b)

    def backward(self, grad):
        a, b = self.saved_tensors
        return np.einsum("nm,km->nk", grad, b), np.einsum("nk,nm->km", a, grad)


class AddRow(Add):
    def backward(self, grad):
        return grad, np.add.reduce(grad)


class Sum(Function):
    def forward(self, x):
        self.ones = np.ones_like(x)
        return np.add.reduce(x, axis=None)

    def backward(self, grad):
        return (grad * self.ones,)


def loss(x, y, w1, b1, w2, b2):
    for w, b, end in ((w1, b1, ReLU), (w2, b2, Sigmoid)):
        x = end.apply(AddRow.apply(MatMul.apply(x, w), b))
    difference = Add.apply(x, Tensor(-y))
    return Sum.apply(Mul.apply(difference, difference))
