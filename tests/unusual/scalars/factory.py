"""Each operator comes out of one factory that is given two or three formulas; the order is found by recursion."""

import math
import sys

sys.setrecursionlimit(20_000)


def operation(name, forward, *derivatives):
    """Make a method; `derivatives` take the operands' numbers and the result."""

    def method(self, *others):
        operands = (self, *(other if isinstance(other, Value) else Value(other) for other in others))
        numbers = [operand.data for operand in operands]
        result = Value(forward(*numbers), operands, name)

        def rule():
            for operand, derivative in zip(operands, derivatives):
                operand.grad += derivative(*numbers, result.data) * result.grad

        result._backward = rule
        return result

    return method


def turned(method):
    return lambda self, number: method(Value(number), self)


class Value:
    def __init__(self, data, children=(), op="", label=""):
        self.data, self.grad, self.label = data, 0.0, label
        self._children, self._op = children, op
        self._backward = self.nothing

    def nothing(self):
        pass

    def __repr__(self):
        return "Value(data=%s, grad=%s)" % (self.data, self.grad)  # noqa: UP031

    __add__ = operation("+", lambda a, b: a + b, lambda a, b, y: 1, lambda a, b, y: 1)
    __sub__ = operation("-", lambda a, b: a - b, lambda a, b, y: 1, lambda a, b, y: -1)
    __mul__ = operation("*", lambda a, b: a * b, lambda a, b, y: b, lambda a, b, y: a)
    __truediv__ = operation("/", lambda a, b: a / b, lambda a, b, y: 1 / b, lambda a, b, y: -y / b)
    __neg__ = operation("neg", lambda a: -a, lambda a, y: -1)
    __radd__, __rsub__, __rmul__, __rtruediv__ = map(turned, (__add__, __sub__, __mul__, __truediv__))

    def __pow__(self, n):
        return operation("**", lambda a: a**n, lambda a, y: n * a ** (n - 1))(self)

    tanh = operation("tanh", math.tanh, lambda a, y: 1 - y**2)
    relu = operation("relu", lambda a: a if a > 0 else 0.0, lambda a, y: 1.0 if a > 0 else 0.0)
    exp = operation("exp", math.exp, lambda a, y: y)
    sin = operation("sin", math.sin, lambda a, y: math.cos(a))
    log = operation("log", math.log, lambda a, y: 1 / a)

    def sigmoid(self):
        return (1 + (self * -1).exp()) ** -1

    def backward(self):
        found = {}  # a dict keeps the order of arrival

        def visit(value):
            for child in value._children:
                if child not in found:
                    visit(child)
            found[value] = None

        visit(self)
        zero_grad(value for value in found if value._children)
        self.grad = 1.0
        for value in reversed(found):
            value._backward()


def zero_grad(values):
    for value in values:
        value.grad = 0.0


def numerical_gradient(f, xs, h=1e-5):
    slopes, moved = [], list(xs)
    for i, x in enumerate(xs):
        moved[i] = x + h
        above = f([Value(y) for y in moved])
        moved[i] = x - h
        below = f([Value(y) for y in moved])
        moved[i] = x
        slopes.append(((above - below) / (2 * h)).data)
    return slopes


class Module:
    def parameters(self):
        return [p for part in self.parts for p in part.parameters()]


class Neuron(Module):
    def __init__(self, inputs, rng):
        self.numbers = [Value(rng.uniform(-1, 1)) for _ in range(inputs)] + [Value(0)]

    def __call__(self, xs):
        return sum(w * x for w, x in zip(self.numbers, [*xs, 1])).tanh()

    def parameters(self):
        return self.numbers


class Layer(Module):
    def __init__(self, inputs, neurons, rng):
        self.parts = [Neuron(inputs, rng) for _ in range(neurons)]

    def __call__(self, xs):
        return [part(xs) for part in self.parts]


class MLP(Module):
    def __init__(self, inputs, sizes, rng):
        self.parts = []
        for size in sizes:
            self.parts.append(Layer(inputs, size, rng))
            inputs = size

    def __call__(self, xs):
        for part in self.parts:
            xs = part(xs)
        return xs


def train(model, xs, ys, rate=1, steps=60):
    return [step(model, [*zip(xs, ys)], rate) for _ in range(steps)]


def step(model, points, rate):
    loss = sum((model(x)[0] - y) ** 2 for x, y in points) / len(points)
    loss.backward()
    for p in model.parameters():
        p.data = p.data - rate * p.grad
        p.grad = 0.0  # emptied after the step, which is as good as before the pass
    return loss.data
