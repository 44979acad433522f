"""Graphs of small objects with a `back` method, and a checksum of every array that a rule will need."""

import numpy as np


def unbroadcast(grad, shape):
    lead = grad.ndim - len(shape)
    axes = [axis for axis in range(grad.ndim) if axis < lead or shape[axis - lead] == 1]
    for axis in sorted(axes, reverse=True):
        grad = np.sum(grad, axis)
    return np.reshape(grad, shape)


class Switch:
    on = True


class no_grad:
    def __init__(self):
        self.stack = []

    def __enter__(self):
        self.stack.append(Switch.on)
        Switch.on = False

    def __exit__(self, *_):
        Switch.on = self.stack.pop()


class Step:
    """An operation that was carried out: its operands and its result, each with a checksum of its numbers."""

    sign = property(lambda self: type(self).__name__.lower())

    def __init__(self, *operands):
        self.operands = operands
        self.sums = [hash(operand.data.tobytes()) for operand in operands]

    def close(self, result):
        out = Tensor(result)
        if Switch.on:
            out._step, out._children, out._op = self, self.operands, self.sign
            self.result_sum = hash(out.data.tobytes())
        return out

    def check(self, out):
        now = [hash(operand.data.tobytes()) for operand in self.operands]
        if now != self.sums or hash(out.data.tobytes()) != self.result_sum:
            raise RuntimeError("Somebody wrote to a tensor that this pass needs.")


class Add(Step):
    sign = "+"

    def back(self, g, a, b):
        return unbroadcast(g, a.shape), unbroadcast(g, b.shape)


class Mul(Step):
    sign = "*"

    def back(self, g, a, b):
        return unbroadcast(np.multiply(g, b), a.shape), unbroadcast(np.multiply(g, a), b.shape)


class MatMul(Step):
    def back(self, g, a, b):
        return np.tensordot(g, b, (1, 1)), np.tensordot(a, g, (0, 0))


class Sum(Step):
    def back(self, g, x):
        return (np.tile(g.reshape(self.kept), [n // k for n, k in zip(x.shape, self.kept, strict=True)]),)


class Relu(Step):
    def back(self, g, x):
        answer = np.array(g)
        answer[x <= 0] = 0
        return (answer,)


class Exp(Step):
    def back(self, g, x):
        return (g * np.exp(x),)


class Log(Step):
    def back(self, g, x):
        return (g / x,)


class Softmax(Step):
    def back(self, g, x):
        p = soft(x, self.axis)
        weighted = g * p
        return (weighted - p * weighted.sum(self.axis, keepdims=True),)


class CrossEntropy(Step):
    def back(self, g, x):
        p = soft(x, 1)
        p[range(len(x)), self.labels] -= 1
        return (p * (g / len(x)),)


def soft(x, axis):
    top = np.exp(x - x.max(axis=axis, keepdims=True))
    return top / top.sum(axis=axis, keepdims=True)


class Tensor:
    __array_ufunc__ = None
    _step, _children, _op, grad = None, (), "", None

    def __init__(self, data):
        self.data = np.array(data, np.float32 if getattr(data, "dtype", "") == "float32" else np.float64)

    def detach(self):
        twin = Tensor.__new__(Tensor)
        twin.data = np.copy(self.data)
        return twin

    def backward(self, upstream=1.0):
        order, done = [], set()

        def visit(node):
            done.add(id(node))
            for child in node._children:
                if id(child) not in done:
                    visit(child)
            order.insert(0, node)

        visit(self)
        for node in order:
            if node._step:
                node._step.check(node)
                node.grad = None
        self.grad = np.full_like(self.data, 1) * upstream + (0 if self.grad is None else self.grad)
        for node in order:
            if node._step:
                messages = node._step.back(node.grad, *[child.data for child in node._children])
                for child, message in zip(node._children, messages, strict=True):
                    before = np.zeros_like(child.data) if child.grad is None else child.grad
                    child.grad = (before + message).astype(child.data.dtype)

    def _tensor(self, other):
        if isinstance(other, Tensor):
            return other
        return Tensor(np.array(other).astype(self.data.dtype))

    def __add__(self, other):
        other = self._tensor(other)
        return Add(self, other).close(self.data + other.data)

    def __mul__(self, other):
        other = self._tensor(other)
        return Mul(self, other).close(self.data * other.data)

    def __radd__(self, other):
        return self._tensor(other).__add__(self)

    def __rmul__(self, other):
        return self._tensor(other).__mul__(self)

    def __neg__(self):
        return 0 - self

    def __sub__(self, other):
        return self + self._tensor(other) * -1

    def __rsub__(self, other):
        return self._tensor(other) + self * -1

    def sum(self, axis=None, keepdims=False):
        step = Sum(self)
        step.kept = np.sum(self.data, axis, keepdims=True).shape
        return step.close(np.sum(self.data, axis, keepdims=keepdims))

    def mean(self, axis=None, keepdims=False):
        share = np.mean(np.ones_like(self.data), axis) / np.sum(np.ones_like(self.data), axis)
        return self.sum(axis, keepdims) * np.ravel(share)[0]

    def __matmul__(self, other):
        return MatMul(self, other).close(np.dot(self.data, other.data))

    def relu(self):
        return Relu(self).close((self.data + abs(self.data)) / 2)

    def exp(self):
        return Exp(self).close(np.exp(self.data))

    def log(self):
        return Log(self).close(np.log(self.data))

    def softmax(self, axis=-1):
        step = Softmax(self)
        step.axis = axis
        return step.close(soft(self.data, axis))


def cross_entropy(logits, labels):
    step = CrossEntropy(logits)
    step.labels = [int(label) for label in labels]
    losses = []
    for row, label in zip(logits.data, step.labels, strict=True):
        losses.append(np.logaddexp.reduce(row) - row[label])
    return step.close(np.mean(losses, dtype=logits.data.dtype))


class SGD:
    def __init__(self, params, lr):
        self.params = tuple(params)
        self.lr = lr

    def zero_grad(self):
        [setattr(p, "grad", None) for p in self.params]

    def step(self):
        for p in self.params:
            if p.grad is not None:
                p.data = np.subtract(p.data, self.lr * p.grad)


class Adam(SGD):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, lr)
        self.betas, self.eps = betas, eps
        for p in self.params:
            p.adam = (0, 0.0, 0.0)

    def step(self):
        beta, gamma = self.betas
        for p in self.params:
            if p.grad is not None:
                t, mean, square = p.adam
                t, mean, square = t + 1, beta * mean + (1 - beta) * p.grad, gamma * square + (1 - gamma) * p.grad**2
                p.adam = t, mean, square
                root = np.sqrt(square / (1 - gamma**t)) + self.eps
                p.data = p.data - self.lr * mean / (1 - beta**t) / root


class Linear:
    def __init__(self, n_in, n_out, rng):
        self.weight = Tensor(rng.normal(scale=np.hypot(1, 1) / np.sqrt(n_in + n_out), size=[n_in, n_out]))
        self.bias = Tensor(0 * np.arange(n_out))
        self.parameters = lambda: (self.weight, self.bias)

    def __call__(self, x):
        return x @ self.weight + self.bias


class MLP:
    def __init__(self, sizes, rng):
        if len(sizes) > 2:
            self.first, self.rest = Linear(sizes[0], sizes[1], rng), MLP(sizes[1:], rng)
        else:
            self.first, self.rest = Linear(*sizes, rng), None

    def __call__(self, x):
        return self.rest(self.first(x).relu()) if self.rest else self.first(x)

    def parameters(self):
        return [*self.first.parameters(), *(self.rest.parameters() if self.rest else ())]


def network(params, x):
    w1, b1, w2, b2 = params
    x = Tensor.__matmul__(x, w1) + b1
    return x.relu().__matmul__(w2) + b2


def fit(params, x, labels, optimizer, steps):
    losses = np.zeros(steps)
    for step in range(steps):
        loss = cross_entropy(network(params, Tensor(x)), labels)
        for p in params:
            p.grad = None
        loss.backward()
        losses[step] = loss.data
        optimizer.step()
    return list(losses)


def train(images, labels):
    rng = np.random.default_rng(1)
    params = [
        Tensor(rng.normal(0, (2 / sum(shape)) ** 0.5, shape).astype(np.float32))
        for shape in [(64, 24), (24,), (24, 10), (10,)]
    ]
    optimizer = Adam(params, lr=0.03)
    fit(params, images.astype(np.float32), labels, optimizer, 40)
    return params
