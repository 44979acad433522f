"""A dataclass whose order is found by counting: a value's turn comes when all who use it have had theirs. `grad` is a
property, the rules are lambdas, and the network is a matter of closures."""

import math
from collections import Counter, deque
from dataclasses import dataclass, field
from functools import partial, reduce


@dataclass(eq=False, repr=False)
class Value:
    data: float
    label: str = ""
    _children: tuple = ()
    _op: str = ""
    _backward: object = field(default=lambda: None)
    received: list = field(default_factory=list)

    @property
    def grad(self):
        return math.fsum(self.received)

    @grad.setter
    def grad(self, number):
        self.received = [number]

    def __repr__(self):
        return f"Value({self.data=}, {self.grad=})".replace("self.", "")

    def result(self, data, op, *children):
        out = Value(data, _children=children, _op=op)
        return out, lambda child, slope: child.received.append(slope() * out.grad)

    def __add__(self, other):
        other = constant(other)
        out, send = self.result(self.data + other.data, "+", self, other)
        out._backward = lambda: [send(child, lambda: 1) for child in (self, other)]
        return out

    def __mul__(self, other):
        other = constant(other)
        out, send = self.result(self.data * other.data, "*", self, other)
        out._backward = lambda: [send(self, lambda: other.data), send(other, lambda: self.data)]
        return out

    def __pow__(self, n):
        out, send = self.result(pow(self.data, n), "**", self)
        out._backward = partial(send, self, lambda: n * pow(self.data, n - 1))
        return out

    def __sub__(self, other):
        other = constant(other)
        out, send = self.result(self.data - other.data, "-", self, other)
        out._backward = lambda: [send(self, lambda: 1), send(other, lambda: -1)]
        return out

    def __truediv__(self, other):
        other = constant(other)
        out, send = self.result(self.data / other.data, "/", self, other)
        out._backward = lambda: [send(self, lambda: 1 / other.data), send(other, lambda: -out.data / other.data)]
        return out

    def __neg__(self):
        return 0 - self

    def __radd__(self, other):
        return constant(other) + self

    def __rmul__(self, other):
        return constant(other) * self

    def __rsub__(self, other):
        return constant(other) - self

    def __rtruediv__(self, other):
        return constant(other) / self

    def tanh(self):
        out, send = self.result(math.tanh(self.data), "tanh", self)
        out._backward = partial(send, self, lambda: (1 - out.data) * (1 + out.data))
        return out

    def relu(self):
        out, send = self.result(self.data * (self.data > 0), "relu", self)
        out._backward = partial(send, self, lambda: self.data > 0)
        return out

    def exp(self):
        out, send = self.result(math.e**self.data, "exp", self)
        out._backward = partial(send, self, lambda: out.data)
        return out

    def sin(self):
        out, send = self.result(math.sin(self.data), "sin", self)
        out._backward = partial(send, self, lambda: math.sin(self.data + math.pi / 2))
        return out

    def log(self):
        out, send = self.result(math.log2(self.data) * math.log(2), "log", self)
        out._backward = partial(send, self, lambda: self.data**-1)
        return out

    def sigmoid(self):
        return ((self * -1).exp() + 1) ** -1.0

    def backward(self):
        users, todo, reached = Counter(), deque([self]), {self}
        while todo:
            for child in todo.popleft()._children:
                users[child] += 1
                if child not in reached:
                    reached.add(child)
                    todo.append(child)
        for value in reached:
            if value._children != ():
                value.received.clear()
        self.received = [1.0]
        ready = [self]
        while ready:
            value = ready.pop()
            value._backward()
            for child in value._children:
                users[child] -= 1
                if users[child] == 0:
                    ready.append(child)


def constant(x):
    return x if type(x) is Value else Value(x)


def zero_grad(values):
    for value in values:
        value.received = []


def numerical_gradient(f, xs, h=1e-5):
    def at(i, step):
        return f([Value(x + step * (i == j)) for j, x in enumerate(xs)]).data

    return [at(i, h) / (2 * h) - at(i, -h) / (2 * h) for i in range(len(xs))]


def Neuron(inputs, rng):
    return Net([Value(rng.uniform(-1, 1)) for _ in range(inputs)] + [Value(0.0)], weigh)


def weigh(parts, xs):
    *weights, bias = parts
    return reduce(lambda total, pair: total + pair[0] * pair[1], zip(weights, xs), bias).tanh()


def Layer(inputs, neurons, rng):
    return Net([Neuron(inputs, rng) for _ in range(neurons)], lambda parts, xs: [part(xs) for part in parts])


def MLP(inputs, sizes, rng):
    widths = [inputs, *sizes]
    return Net(
        [Layer(width, size, rng) for width, size in zip(widths, sizes)],
        lambda parts, xs: reduce(lambda given, part: part(given), parts, xs),
    )


class Net:
    def __init__(self, parts, run):
        self.parts, self.run = parts, run

    def __call__(self, xs):
        return self.run(self.parts, xs)

    def parameters(self):
        if isinstance(self.parts[0], Value):
            return self.parts
        return [p for part in self.parts for p in part.parameters()]


def train(model, xs, ys, rate=0.9, steps=70):
    losses, parameters = [], model.parameters()
    while len(losses) < steps:
        zero_grad(parameters)
        errors = [model(x)[0] - y for x, y in zip(xs, ys)]
        loss = reduce(Value.__add__, [error**2 / len(xs) for error in errors])
        loss.backward()
        losses += [loss.data]
        for p in parameters:
            p.data += -rate * p.grad
    return losses
