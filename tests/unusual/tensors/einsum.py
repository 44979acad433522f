"""Sums by einsum and reshape; `data` counts its versions, and a rule that finds another version refuses to go on."""

import numpy as np

LETTERS = "abcdefgh"
no_recording = 0  # how many blocks of no_grad are open


def unbroadcast(grad, shape):
    grad = np.array(grad)
    aligned = (1,) * (grad.ndim - len(shape)) + tuple(shape)
    names = LETTERS[: grad.ndim]
    kept = "".join(name for name, size in zip(names, aligned, strict=True) if size != 1)
    return np.einsum(f"{names}->{kept}", grad).reshape(shape)


class no_grad:
    def __enter__(self):
        global no_recording
        no_recording += 1

    def __exit__(self, *error):
        global no_recording
        no_recording -= 1


def as_floats(values):
    values = np.array(values)
    return values if values.dtype == np.float32 else values.astype(np.float64)


class Tensor:
    __array_priority__ = 1000
    __array_ufunc__ = None

    def __init__(self, data, children=(), rule=None, op=""):
        self._array, self._version = as_floats(data), 0
        self.grad = None
        self._children = () if no_recording else tuple(children)
        self._rule, self._op = rule, op
        self._seen = [child._version for child in children]

    @property
    def data(self):
        view = self._array.view()
        view.flags.writeable = False
        return view

    @data.setter
    def data(self, values):
        self._array = np.array(values)
        self._version += 1

    def backward(self, upstream=None):
        order = []

        def visit(node, path=frozenset()):
            if node not in order:
                for child in node._children:
                    visit(child)
                order.append(node)

        visit(self)
        flowing = {self: np.ones(self._array.shape) if upstream is None else np.asarray(upstream, float)}
        for node in order[::-1]:
            grad = flowing[node].astype(node._array.dtype)
            if node._children:
                if node._version or node._seen != [child._version for child in node._children]:
                    raise RuntimeError("A tensor of this graph was written to after it was used.")
                node.grad = grad
                for child, message in zip(node._children, node._rule(grad), strict=True):
                    flowing[child] = flowing.get(child, 0) + np.asarray(message)
            else:
                node.grad = grad if node.grad is None else node.grad + grad

    def detach(self):
        return Tensor(self._array)

    def _pair(self, other):
        return self, other if isinstance(other, Tensor) else Tensor(np.array(other).astype(self._array.dtype))

    def __add__(self, other):
        a, b = self._pair(other)
        return Tensor(a.data + b.data, (a, b), lambda g: [unbroadcast(g, t.data.shape) for t in (a, b)], "+")

    def __sub__(self, other):
        a, b = self._pair(other)
        return Tensor(a.data - b.data, (a, b), lambda g: [unbroadcast(g, a.data.shape), -unbroadcast(g, b.data.shape)])

    def __mul__(self, other):
        a, b = self._pair(other)
        return Tensor(
            a.data * b.data,
            (a, b),
            lambda g: [unbroadcast(g * b.data, a.data.shape), unbroadcast(g * a.data, b.data.shape)],
            "*",
        )

    def __radd__(self, other):
        return self._pair(other)[1] + self

    def __rmul__(self, other):
        return self._pair(other)[1] * self

    def __rsub__(self, other):
        return self._pair(other)[1] - self

    def __neg__(self):
        return Tensor(-self.data, (self,), lambda g: [-g])

    def sum(self, axis=None, keepdims=False):
        x = self.data
        axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        axes = {number % x.ndim for number in axes}
        names = LETTERS[: x.ndim]
        kept = "".join(name for number, name in enumerate(names) if number not in axes)
        ones = tuple(1 if number in axes else size for number, size in enumerate(x.shape))
        total = np.einsum(f"{names}->{kept}", x)
        return Tensor(
            total.reshape(ones) if keepdims else total,
            (self,),
            lambda g: [np.multiply(g.reshape(ones), np.ones(x.shape))],
        )

    def mean(self, axis=None, keepdims=False):
        total = self.sum(axis, keepdims)
        count = self._array.size // total._array.size
        return Tensor(total.data / count, (total,), lambda g: [g / count])

    def __matmul__(self, other):
        a, b = self, other
        return Tensor(
            np.einsum("ij,jk->ik", a.data, b.data),
            (a, b),
            lambda g: [np.einsum("ik,jk->ij", g, b.data), np.einsum("ij,ik->jk", a.data, g)],
        )

    def relu(self):
        return Tensor(np.where(self.data > 0, self.data, 0), (self,), lambda g: [np.where(self.data > 0, g, 0)])

    def exp(self):
        return Tensor(np.exp(self.data), (self,), lambda g: [g * np.exp(self.data)])

    def log(self):
        return Tensor(np.log(self.data), (self,), lambda g: [g * self.data**-1])

    def softmax(self, axis=-1):
        """With the whole Jacobian of each row: diag(p) - p p'."""
        rows = np.moveaxis(self.data, axis, -1)
        p = np.exp(rows - np.max(rows, -1, keepdims=True))
        p /= np.einsum("...i->...", p)[..., None]
        jacobian = np.einsum("...i,ij->...ij", p, np.eye(p.shape[-1])) - np.einsum("...i,...j->...ij", p, p)

        def rule(g):
            return [np.moveaxis(np.einsum("...i,...ij->...j", np.moveaxis(g, axis, -1), jacobian), -1, axis)]

        return Tensor(np.moveaxis(p, -1, axis), (self,), rule)


def cross_entropy(logits, labels):
    z = logits.data
    one_hot = np.eye(z.shape[1])[np.array(labels)]
    shift = z.max(axis=1)
    total = np.log(np.einsum("ij->i", np.exp(z - shift[:, None]))) + shift
    picked = np.einsum("ij,ij->i", z, one_hot.astype(z.dtype))
    p = np.exp(z - total[:, None])
    return Tensor((total - picked).mean(), (logits,), lambda g: [g * (p - one_hot) / z.shape[0]])


class Optimizer:
    def __init__(self, params):
        self.params, self.memory = params, {}

    def zero_grad(self):
        for param in self.params:
            param.grad = None

    def step(self):
        for param in self.params:
            if param.grad is not None:
                param.data = param.data - self.change(param).astype(param.data.dtype)


class SGD(Optimizer):
    def __init__(self, params, lr):
        super().__init__(params)
        self.lr = lr

    def change(self, param):
        return self.lr * param.grad


class Adam(Optimizer):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params)
        self.lr, self.betas, self.eps = lr, np.array(betas), eps

    def change(self, param):
        t, moments = self.memory.get(param, (0, [0, 0]))
        powers = [param.grad, param.grad * param.grad]
        moments = [old + (1 - beta) * (new - old) for beta, old, new in zip(self.betas, moments, powers, strict=True)]
        self.memory[param] = t + 1, moments
        first, second = (moment / (1 - beta ** (t + 1)) for moment, beta in zip(moments, self.betas, strict=True))
        return self.lr * first / (second**0.5 + self.eps)


class Linear:
    def __init__(self, n_in, n_out, rng):
        scale = 1 / np.sqrt(np.mean([n_in, n_out]))
        self.weight, self.bias = Tensor(rng.normal(size=(n_in, n_out)) * scale), Tensor(np.zeros([n_out]))

    def __call__(self, x):
        return self.bias + x @ self.weight

    def parameters(self):
        return [self.weight, self.bias]


class MLP(list):
    def __init__(self, sizes, rng):
        super().__init__(Linear(*sizes[i : i + 2], rng) for i in range(len(sizes[1:])))

    def __call__(self, x):
        for number, layer in enumerate(self):
            x = layer(x.relu() if number else x)
        return x

    def parameters(self):
        return [p for layer in self for p in (layer.weight, layer.bias)]


def network(params, x):
    hidden = (x @ params[0] + params[1]).relu()
    return hidden @ params[2] + params[3]


def fit(params, x, labels, optimizer, steps):
    losses, inputs = [], Tensor(x)
    while len(losses) < steps:
        for param in params:
            param.grad = None
        loss = cross_entropy(network(params, inputs), labels)
        loss.backward()
        losses += [float(loss.data)]
        optimizer.step()
    return losses


def train(images, labels):
    random = np.random.RandomState(3)
    params = [Tensor(random.uniform(-1, 1, size) / 6) for size in [(64, 20), 20, (20, 10), 10]]
    fit(params, images, labels, SGD(params, 1.0), 80)
    return params
