import contextlib

import numpy as np


class Tensor:
    """An array that remembers how it was computed.

    data        a NumPy array: float32 stays float32, everything else becomes float64
    grad        None before a backward pass; then an array of the shape and dtype of data
    _children   the tensors that this one was computed from: () for one that you made yourself
    _op         the name of the operation, for drawings
    _backward   passes self.grad on to the children; each operation gives its result one
    """

    __array_ufunc__ = None  # NumPy leaves `array + tensor` to the tensor's __radd__

    def _receive(self, message):
        """Add a message to the gradient, as an array of its own."""
        message = np.array(message, self.data.dtype)
        self.grad = message if self.grad is None else self.grad + message

    def backward(self, upstream=1.0):
        """Give every tensor that this one was computed from its gradient; those of leaves add up over passes."""
        order, seen, waiting = [], set(), [(self, False)]
        while waiting:  # depth first and without recursion, as graphs may be deep
            node, children_done = waiting.pop()
            if children_done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                waiting.append((node, True))
                waiting.extend((child, False) for child in node._children)
        for node in order:
            if node._children:
                node.grad = None
        self._receive(np.broadcast_to(upstream, self.data.shape))
        for node in reversed(order):
            if node._children:
                node._backward()

    def __init__(self, data, _children=(), _op=""):
        dtype = np.float32 if getattr(data, "dtype", None) == np.float32 else float
        self.data = np.asarray(data, dtype)
        self.grad = None
        self._op = _op
        self._children = _children
        # task: modes
        if not Tensor.recording:
            self._children = ()

    recording = True

    def detach(self):
        return Tensor(self.data)

    # task: elementwise
    def _operand(self, other):
        return other if isinstance(other, Tensor) else Tensor(np.asarray(other, self.data.dtype))

    def __add__(self, other):
        other = self._operand(other)
        a, b = self.data, other.data
        out = Tensor(a + b, (self, other), "+")

        def backward():
            self._receive(unbroadcast(out.grad, a.shape))
            other._receive(unbroadcast(out.grad, b.shape))

        out._backward = backward
        return out

    def __mul__(self, other):
        other = self._operand(other)
        a, b = self.data, other.data
        out = Tensor(a * b, (self, other), "*")

        def backward():
            self._receive(unbroadcast(out.grad * b, a.shape))
            other._receive(unbroadcast(out.grad * a, b.shape))

        out._backward = backward
        return out

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -self._operand(other)

    def __rsub__(self, other):
        return self._operand(other) + -self

    # task: reduce
    def sum(self, axis=None, keepdims=False):
        shape = self.data.shape
        out = Tensor(self.data.sum(axis=axis, keepdims=keepdims), (self,), "sum")

        def backward():
            grad = out.grad
            if axis is not None and not keepdims:
                grad = np.expand_dims(grad, axis)
            self._receive(np.broadcast_to(grad, shape))

        out._backward = backward
        return out

    def mean(self, axis=None, keepdims=False):
        total = self.sum(axis, keepdims)
        return total * (total.data.size / self.data.size)

    # task: matmul
    def __matmul__(self, other):
        a, b = self.data, other.data
        out = Tensor(a @ b, (self, other), "@")

        def backward():
            self._receive(out.grad @ b.T)
            other._receive(a.T @ out.grad)

        out._backward = backward
        return out

    # task: functions
    def relu(self):
        x = self.data
        out = Tensor(np.maximum(x, 0), (self,), "relu")

        def backward():
            self._receive(out.grad * (x > 0))

        out._backward = backward
        return out

    def exp(self):
        y = np.exp(self.data)
        out = Tensor(y, (self,), "exp")

        def backward():
            self._receive(out.grad * y)

        out._backward = backward
        return out

    def log(self):
        x = self.data
        out = Tensor(np.log(x), (self,), "log")

        def backward():
            self._receive(out.grad / x)

        out._backward = backward
        return out

    # task: softmax
    def softmax(self, axis=-1):
        powers = np.exp(self.data - self.data.max(axis=axis, keepdims=True))
        p = powers / powers.sum(axis=axis, keepdims=True)
        out = Tensor(p, (self,), "softmax")

        def backward():
            common = (out.grad * p).sum(axis=axis, keepdims=True)
            self._receive(p * (out.grad - common))

        out._backward = backward
        return out

    # task: guard
    @property
    def data(self):
        return self._data

    @data.setter
    def data(self, values):
        values = np.array(values)  # nobody else holds this copy
        values.flags.writeable = False
        self._data = values


# task: unbroadcast
def unbroadcast(grad, shape):
    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return grad.sum(axis=stretched, keepdims=True)


# task: cross-entropy
def cross_entropy(logits, labels):
    rows, labels = np.arange(len(labels)), np.array(labels)
    z = logits.data - logits.data.max(axis=1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    out = Tensor(-log_p[rows, labels].mean(), (logits,), "cross entropy")

    def backward():
        slope = np.exp(log_p)
        slope[rows, labels] -= 1
        logits._receive(out.grad * slope / len(labels))

    out._backward = backward
    return out


# task: modes
@contextlib.contextmanager
def no_grad():
    before = Tensor.recording
    Tensor.recording = False
    try:
        yield
    finally:
        Tensor.recording = before


# task: optimizers
class SGD:
    def __init__(self, params, lr):
        self.params, self.lr = list(params), lr

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def step(self):
        for p in self.params:
            if p.grad is not None:
                p.data = p.data - self.lr * p.grad


class Adam(SGD):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, lr)
        self.betas, self.eps, self.steps = betas, eps, 0
        self.m, self.v = [0.0] * len(self.params), [0.0] * len(self.params)

    def step(self):
        self.steps += 1
        b1, b2 = self.betas
        for i, p in enumerate(self.params):
            if p.grad is not None:
                self.m[i] = b1 * self.m[i] + (1 - b1) * p.grad
                self.v[i] = b2 * self.v[i] + (1 - b2) * p.grad**2
                m = self.m[i] / (1 - b1**self.steps)
                v = self.v[i] / (1 - b2**self.steps)
                p.data = p.data - self.lr * m / (np.sqrt(v) + self.eps)


# task: layers
class Linear:
    def __init__(self, n_in, n_out, rng):
        std = np.sqrt(2 / (n_in + n_out))
        self.weight = Tensor(rng.normal(0, std, (n_in, n_out)))
        self.bias = Tensor(np.zeros(n_out))

    def __call__(self, x):
        return x @ self.weight + self.bias

    def parameters(self):
        return [self.weight, self.bias]


class MLP:
    def __init__(self, sizes, rng):
        self.layers = [Linear(sizes[i], sizes[i + 1], rng) for i in range(len(sizes) - 1)]

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = layer(x).relu()
        return self.layers[-1](x)

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]


# task: digits
def network(params, x):
    w1, b1, w2, b2 = params
    return (x @ w1 + b1).relu() @ w2 + b2


def fit(params, x, labels, optimizer, steps):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = cross_entropy(network(params, Tensor(x)), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.data.item())
    return losses


def train(images, labels, hidden=32, deviation=0.2, lr=0.02, steps=60, seed=0):
    rng = np.random.default_rng(seed)
    w1, b1 = rng.normal(scale=deviation, size=(64, hidden)), np.zeros(hidden)
    w2, b2 = rng.normal(scale=deviation, size=(hidden, 10)), np.zeros(10)
    params = [Tensor(w1), Tensor(b1), Tensor(w2), Tensor(b2)]
    fit(params, images, labels, Adam(params, lr), steps)
    return params
