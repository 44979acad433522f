"""Values are numbered as they are made, as on a tape: sorted by number, those that a result was made from are in
order. Slots in place of a dict, and NumPy's scalars for the numbers."""

import itertools

import numpy as np

numbers = itertools.count()


class Value:
    __slots__ = ("_backward", "_children", "_op", "data", "grad", "label", "number")

    def __init__(self, data, label="", *, made_from=(), by=""):
        self.data = np.float64(data)
        self.grad = np.float64(0)
        self.label = label
        self._children = made_from
        self._op = by
        self._backward = lambda *args: None
        self.number = next(numbers)

    def __repr__(self):
        return f"{type(self).__name__}(data={self.data!s}, grad={self.grad!s})"

    def made(self, data, by, *messages):
        """Make a result of this value; `messages` has a pair for each child: the child and its local derivative."""
        out = Value(data, made_from=tuple(child for child, _ in messages), by=by)

        def pass_on():
            for child, slope in messages:
                child.grad = child.grad + slope * out.grad

        out._backward = pass_on
        return out

    def __add__(self, other):
        other = as_value(other)
        return self.made(self.data + other.data, "+", (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        other = as_value(other)
        return self.made(self.data * other.data, "*", (self, other.data), (other, self.data))

    def __pow__(self, n):
        return self.made(self.data**n, "**", (self, n * self.data ** (n - 1.0)))

    def __neg__(self):
        return -1 * self

    def __sub__(self, other):
        return self + -as_value(other)

    def __rsub__(self, other):
        return as_value(other) - self

    def __truediv__(self, other):
        return self * as_value(other) ** -1.0

    def __rtruediv__(self, other):
        return as_value(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        t = np.tanh(self.data)
        return self.made(t, "tanh", (self, 1 - t**2))

    def relu(self):
        return self.made(np.maximum(self.data, 0), "relu", (self, np.float64(self.data > 0)))

    def exp(self):
        e = np.exp(self.data)
        return self.made(e, "exp", (self, e))

    def sin(self):
        return self.made(np.sin(self.data), "sin", (self, np.cos(self.data)))

    def log(self):
        return self.made(np.log(self.data), "log", (self, 1 / self.data))

    def sigmoid(self):
        e = self.exp()
        return e * (e + 1) ** -1

    def backward(self):
        found, todo = {self.number: self}, [self]
        for value in todo:  # which grows while it is walked
            new = {child.number: child for child in value._children if child.number not in found}
            found |= new
            todo += new.values()
        for value in todo:
            if value._children:
                value.grad = np.float64(0)
        self.grad = np.float64(1)
        for number in sorted(found, reverse=True):
            found[number]._backward()


def as_value(x):
    if not isinstance(x, Value):
        x = Value(x)
    return x


def zero_grad(values):
    list(map(lambda value: setattr(value, "grad", 0.0), values))  # noqa: C417


def numerical_gradient(f, xs, h=1e-5):
    steps = h * np.eye(len(xs))
    up, down = (np.array([f([Value(x) for x in row]).data for row in xs + s]) for s in (steps, -steps))
    return ((up - down) / h / 2).tolist()


class Neuron:
    def __init__(self, inputs, rng):
        self.w = np.array([Value(rng.uniform(-1, 1)) for _ in range(inputs)])
        self.b = Value(0)

    def __call__(self, xs):
        return (self.w @ np.array([as_value(x) for x in xs]) + self.b).tanh()  # object arrays call * and + of Value

    def parameters(self):
        return [*self.w, self.b]


class Layer(list):
    def __init__(self, inputs, neurons, rng):
        super().__init__(Neuron(inputs, rng) for _ in range(neurons))

    def __call__(self, xs):
        return [neuron(xs) for neuron in self]

    def parameters(self):
        return list(itertools.chain.from_iterable(neuron.parameters() for neuron in self))


class MLP(Layer):
    def __init__(self, inputs, sizes, rng):
        list.__init__(self, (Layer(*pair, rng) for pair in itertools.pairwise([inputs, *sizes])))

    def __call__(self, xs):
        return self[-1](xs) if len(self) == 1 else self[-1](MLP.__call__(self[:-1], xs))

    def __getitem__(self, place):
        part = super().__getitem__(place)
        if isinstance(place, slice):
            rest = MLP(0, [], None)
            rest.extend(part)
            return rest
        return part


def train(model, xs, ys, rate=0.8, steps=80):
    losses = np.empty(steps)
    for i in range(steps):
        loss = as_value(0)
        for x, y in zip(xs, ys):
            difference = model(x)[0] - y
            loss += difference * difference
        loss *= 1 / len(xs)
        zero_grad(model.parameters())
        loss.backward()
        for p in model.parameters():
            p.data -= rate * p.grad
        losses[i] = loss.data
    return losses.tolist()
