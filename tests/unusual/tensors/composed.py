"""As few rules as possible: softmax, cross entropy and mean are made of others. Rules keep copies of what they need."""

from contextlib import ContextDecorator
from contextvars import ContextVar
from itertools import pairwise

import numpy as np

silent = ContextVar("silent", default=False)


def unbroadcast(grad, shape):
    while np.ndim(grad) > len(shape):
        grad = np.add.reduce(grad)
    for axis in range(len(shape)):
        if shape[axis] == 1 != grad.shape[axis]:
            grad = np.add.reduce(grad, axis, keepdims=True)
    return grad


class no_grad(ContextDecorator):
    def __enter__(self):
        self.token = silent.set(True)
        return self

    def __exit__(self, kind, error, trace):
        silent.reset(self.token)
        return False


def made(data, *messages, op=""):
    """Make a tensor with its parents, each with the function from the result's gradient to the parent's."""
    out = Tensor(data)
    if not silent.get():
        out._parents, out._op = messages, op
    return out


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data):
        self.data = np.array(data, getattr(data, "dtype", float), copy=True)
        if self.data.dtype != np.float32:
            self.data = self.data.astype(float)
        self.grad, self._parents, self._op = None, (), ""

    _children = property(lambda self: tuple(parent for parent, _ in self._parents))

    def backward(self, upstream=1):
        uses, waiting = {}, [self]
        while waiting:
            for child in waiting.pop()._children:
                uses[child] = uses.get(child, 0) + 1
                if uses[child] == 1:
                    waiting.append(child)
        arrived = {self: upstream * np.ones_like(self.data)}
        ready = [self]
        while ready:
            node = ready.pop(0)
            grad = np.array(arrived.pop(node), node.data.dtype)
            node.grad = grad if node._parents or node.grad is None else np.add(node.grad, grad)
            for parent, message in node._parents:
                arrived[parent] = arrived.get(parent, 0.0) + message(grad)
                uses[parent] -= 1
                if not uses[parent]:
                    ready.append(parent)

    def detach(self):
        return Tensor(self.data)

    def like(self, value):
        return value if isinstance(value, Tensor) else Tensor(np.array(value, self.data.dtype))

    def __add__(self, other):
        other = self.like(other)
        shapes = self.data.shape, other.data.shape
        return made(
            self.data + other.data,
            (self, lambda g: unbroadcast(g, shapes[0])),
            (other, lambda g: unbroadcast(g, shapes[1])),
            op="+",
        )

    def __mul__(self, other):
        other = self.like(other)
        a, b = self.data.copy(), other.data.copy()
        return made(
            a * b,
            (self, lambda g: unbroadcast(b * g, a.shape)),
            (other, lambda g: unbroadcast(a * g, b.shape)),
            op="*",
        )

    def power(self, exponent):
        x = self.data.copy()
        return made(x**exponent, (self, lambda g: g * exponent * x ** (exponent - 1)))

    __radd__ = lambda self, other: self + other  # noqa: E731
    __rmul__ = lambda self, other: self * other  # noqa: E731
    __neg__ = lambda self: self * -1.0  # noqa: E731
    __sub__ = lambda self, other: self + (-1.0) * self.like(other)  # noqa: E731
    __rsub__ = lambda self, other: -(self - other)  # noqa: E731

    def sum(self, axis=None, keepdims=False):
        shape = self.data.shape
        index = tuple(range(len(shape))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        total = self.data
        for one in index:
            total = total.sum(axis=one, keepdims=True)
        small = total.shape
        if not keepdims:
            total = np.squeeze(total, axis=index)
        return made(total, (self, lambda g: np.zeros(shape) + np.reshape(g, small)))

    def mean(self, axis=None, keepdims=False):
        ones = Tensor(np.ones_like(self.data)).sum(axis, True)
        return (self * (1 / ones.data.flat[0]).item()).sum(axis, keepdims)

    def __matmul__(self, other):
        """Sum (n, m, 1) * (1, m, k) over the middle axis."""
        a, b = self.data.copy(), other.data.copy()
        left = made(a[:, :, None], (self, lambda g: g[:, :, 0]))
        right = made(b[None], (other, lambda g: g[0]))
        return (left * right).sum(axis=1)

    def relu(self):
        keep = np.heaviside(self.data, 0).astype(self.data.dtype)
        return self * Tensor(keep).detach()

    def exp(self):
        x = self.data.copy()
        return made(np.exp(x), (self, lambda g: np.exp(x) * g))

    def log(self):
        x = self.data.copy()
        return made(np.log(x), (self, lambda g: np.divide(g, x)))

    def softmax(self, axis=-1):
        top = np.amax(self.data, axis=axis, keepdims=True)
        powers = (self - top).exp()
        return powers * powers.sum(axis=axis, keepdims=True).power(-1)


def cross_entropy(logits, labels):
    z = logits - logits.data.max(axis=-1, keepdims=True)
    chosen = (np.arange(z.data.shape[1]) == np.array(labels)[:, None]).astype(z.data.dtype)
    return ((z.exp().sum(axis=1)).log() - (z * chosen).sum(axis=1)).mean()


class SGD:
    def __init__(self, params, lr):
        self.params, self.lr = params, lr

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def step(self):
        for p in filter(lambda p: p.grad is not None, self.params):
            p.data -= self.lr * p.grad


class Adam:
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8):
        self.params, self.lr, self.eps = params, lr, eps
        self.b1, self.b2 = betas
        self.state = {id(p): [0, np.zeros(p.data.shape), np.zeros(p.data.shape)] for p in params}

    zero_grad = SGD.zero_grad

    def step(self):
        for p in self.params:
            if p.grad is None:
                continue
            state = self.state[id(p)]
            state[0] += 1
            state[1] *= self.b1
            state[1] += (1 - self.b1) * p.grad
            state[2] *= self.b2
            state[2] += (1 - self.b2) * np.square(p.grad)
            size = self.lr * np.sqrt(1 - self.b2 ** state[0]) / (1 - self.b1 ** state[0])
            p.data[...] -= size * state[1] / (np.sqrt(state[2]) + self.eps * np.sqrt(1 - self.b2 ** state[0]))


def Linear(n_in, n_out, rng):
    return Stack([Tensor((2 / (n_in + n_out)) ** 0.5 * rng.standard_normal((n_in, n_out))), Tensor([0.0] * n_out)])


def MLP(sizes, rng):
    return Stack([Linear(*pair, rng) for pair in pairwise(sizes)])


class Stack:
    def __init__(self, parts):
        self.parts = parts
        if isinstance(parts[0], Tensor):
            self.weight, self.bias = parts

    def __call__(self, x):
        first, *others = self.parts
        if first is getattr(self, "weight", None):
            return x @ first + self.bias
        x = first(x)
        for part in others:
            x = part(x.relu())
        return x

    def parameters(self):
        return [p for part in self.parts for p in ([part] if isinstance(part, Tensor) else part.parameters())]


def network(params, x):
    layers = zip(params[::2], params[1::2], strict=True)
    for number, (weights, bias) in enumerate(layers):
        x = (x if number == 0 else x.relu()) @ weights + bias
    return x


def fit(params, x, labels, optimizer, steps):
    def one():
        loss = cross_entropy(network(params, Tensor(x)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.data.tolist()

    return [one() for _ in range(steps)]


def train(images, labels):
    rng = np.random.default_rng(5)
    params = [
        Tensor(rng.standard_normal(shape) / np.sqrt(shape[0])) for shape in [(64, 16), (1, 16), (16, 10), (1, 10)]
    ]
    optimizer = Adam(params, 0.05)
    for _ in range(100):
        part = rng.choice(len(images), 250, replace=False)
        fit(params, images[part], labels[part], optimizer, 1)
    return params
