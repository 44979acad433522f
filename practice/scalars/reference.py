"""An engine for automatic differentiation on single numbers, and a network that learns with it."""

import math


# task: value
class Value:
    def __init__(self, data, children=(), op="", label=""):
        self.data = data
        self.grad = 0.0
        self.label = label
        self._children = tuple(children)
        self._op = op
        self._backward = lambda: None

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"

    # task: add
    def __add__(self, other):
        other = wrapped(other)
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __radd__(self, number):
        return self + number

    # task: arithmetic
    def __mul__(self, other):
        other = wrapped(other)
        out = Value(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def __pow__(self, n):
        out = Value(self.data**n, (self,), "**")

        def _backward():
            self.grad += n * self.data ** (n - 1) * out.grad

        out._backward = _backward
        return out

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + other * -1

    def __truediv__(self, other):
        return self * wrapped(other) ** -1

    def __rmul__(self, number):
        return self * number

    def __rsub__(self, number):
        return -self + number

    def __rtruediv__(self, number):
        return self**-1 * number

    # task: backward
    def backward(self):
        order = topological_order(self)
        for value in order:
            if value._children:
                value.grad = 0.0
        self.grad = 1.0
        for value in reversed(order):
            value._backward()

    # task: functions
    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,), "tanh")

        def _backward():
            self.grad += (1 - t * t) * out.grad

        out._backward = _backward
        return out

    def relu(self):
        out = Value(max(self.data, 0.0), (self,), "relu")

        def _backward():
            self.grad += (self.data > 0) * out.grad

        out._backward = _backward
        return out

    def exp(self):
        e = math.exp(self.data)
        out = Value(e, (self,), "exp")

        def _backward():
            self.grad += e * out.grad

        out._backward = _backward
        return out

    def sigmoid(self):
        return ((self * -1).exp() + 1) ** -1

    # task: gradcheck
    def sin(self):
        out = Value(math.sin(self.data), (self,), "sin")

        def _backward():
            self.grad += math.cos(self.data) * out.grad

        out._backward = _backward
        return out

    def log(self):
        out = Value(math.log(self.data), (self,), "log")

        def _backward():
            self.grad += 1 / self.data * out.grad

        out._backward = _backward
        return out


# task: add
def wrapped(x):
    return x if isinstance(x, Value) else Value(x)


# task: backward
def topological_order(root):
    """Every value that root was made from, each once and after its children; root is last."""
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        value, children_are_placed = stack.pop()
        if children_are_placed:
            order.append(value)
        elif value not in seen:
            seen.add(value)
            stack.append((value, True))
            stack.extend((child, False) for child in value._children)
    return order


# task: repeated
def zero_grad(values):
    for value in values:
        value.grad = 0.0


# task: gradcheck
def numerical_gradient(f, xs, h=1e-5):
    slopes = []
    for i, x in enumerate(xs):
        up, down = ([Value(other) for other in [*xs[:i], moved, *xs[i + 1 :]]] for moved in (x + h, x - h))
        slopes.append((f(up).data - f(down).data) / (2 * h))
    return slopes


# task: network
class Neuron:
    def __init__(self, inputs, rng):
        self.weights = [Value(rng.uniform(-1, 1)) for _ in range(inputs)]
        self.bias = Value(0.0)

    def __call__(self, xs):
        total = self.bias
        for w, x in zip(self.weights, xs):
            total = total + w * x
        return total.tanh()

    def parameters(self):
        return [*self.weights, self.bias]


class Layer:
    def __init__(self, inputs, neurons, rng):
        self.neurons = [Neuron(inputs, rng) for _ in range(neurons)]

    def __call__(self, xs):
        return [neuron(xs) for neuron in self.neurons]

    def parameters(self):
        return [p for neuron in self.neurons for p in neuron.parameters()]


class MLP:
    def __init__(self, inputs, sizes, rng):
        counts = [inputs, *sizes]
        self.layers = [Layer(counts[i], counts[i + 1], rng) for i in range(len(sizes))]

    def __call__(self, xs):
        for layer in self.layers:
            xs = layer(xs)
        return xs

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]


# task: train
def train(model, xs, ys, rate=0.5, steps=100):
    losses = []
    for _ in range(steps):
        loss = 0.0
        for x, y in zip(xs, ys):
            (out,) = model(x)
            loss = loss + (out - y) ** 2
        loss = loss / len(xs)
        zero_grad(model.parameters())
        loss.backward()
        for p in model.parameters():
            p.data -= rate * p.grad
        losses.append(loss.data)
    return losses
