"""Layers, networks, initialisation and optimizers, built on the engine in model.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from model import Array, Tensor, leaf_gradient, linear

__all__ = ["ACTIVATIONS", "INITS", "MLP", "SGD", "Adam", "Linear", "Optimizer", "clip_grad_norm", "init_weight"]

# ---------------------------------------------------------------- layers and initialisation

ACTIVATIONS = ("relu", "leaky_relu", "tanh", "sigmoid", "softplus", "sin", "identity")
INITS = ("xavier", "he", "zeros", "normal", "uniform")


def init_weight(n_in: int, n_out: int, init: str, rng: Any = None) -> np.ndarray:
    """Draw a weight matrix (n_in, n_out) in float64.

    xavier   normal, std sqrt(2 / (n_in + n_out))   Glorot and Bengio 2010: keeps the variance in both directions
    he       normal, std sqrt(2 / n_in)             He et al. 2015: the same for relu, which halves the variance
    normal   normal, std 1                          far too large for wide layers: here to see why
    uniform  uniform in +-1 / sqrt(n_in)            LeCun et al. 1998
    zeros    0                                      every unit of a layer then learns the same: here to see why

    PyTorch also draws the biases (uniform, as above), and stores the matrix transposed.
    """
    _check_choice("initialisation", init, INITS)
    generator, shape = np.random.default_rng(rng), (n_in, n_out)
    if init == "zeros":
        return np.zeros(shape)
    if init == "uniform":
        return generator.uniform(-1.0, 1.0, shape) / math.sqrt(n_in)
    std = {"xavier": math.sqrt(2.0 / (n_in + n_out)), "he": math.sqrt(2.0 / n_in), "normal": 1.0}[init]
    return generator.normal(0.0, std, shape)


class Linear:
    """A layer x @ weight + bias: weight (n_in, n_out), bias (n_out,) starting at 0."""

    def __init__(self, n_in: int, n_out: int, init: str = "xavier", rng: Any = None, dtype: Any = float) -> None:
        if not all(isinstance(n, (int, np.integer)) and n >= 1 for n in (n_in, n_out)):
            raise ValueError(f"A layer has at least one input and one output, as integers: not {n_in!r} and {n_out!r}.")
        if np.dtype(dtype) not in (np.float64, np.float32):
            raise ValueError(f"The weights of a layer are float64 or float32: {np.dtype(dtype)} cannot be trained.")
        self.weight = Tensor(init_weight(n_in, n_out, init, rng).astype(dtype), label="weight")
        self.bias = Tensor(np.zeros(n_out, dtype), label="bias")

    def __call__(self, x: Any) -> Tensor:
        inputs: Tensor = x if isinstance(x, Tensor) else self.weight.constant(x)
        return linear(inputs, self.weight, self.bias) if inputs.ndim == 2 else inputs @ self.weight + self.bias

    def parameters(self) -> list[Tensor]:
        """Return what an optimizer updates: the weight, then the bias."""
        return [self.weight, self.bias]

    def __repr__(self) -> str:
        return f"Linear({self.weight.shape[0]}, {self.weight.shape[1]})"


class MLP:
    """Linear layers of the given sizes, inputs first, with an activation between them and none after the last.

    skip: add a hidden layer's input to its output where both have the same shape (a residual connection;
    He et al., "Deep Residual Learning for Image Recognition", 2016).
    """

    def __init__(
        self,
        sizes: Sequence[int],
        activation: str = "relu",
        init: str = "xavier",
        rng: Any = None,
        dtype: Any = float,
        skip: bool = False,
    ) -> None:
        if not isinstance(sizes, (Sequence, np.ndarray)) or len(sizes) < 2:
            raise ValueError(f"A network needs a list of at least two sizes, as in MLP([2, 8, 1]), not {sizes!r}.")
        _check_choice("activation", activation, ACTIVATIONS)
        rng = np.random.default_rng(rng)
        self.activation, self.skip = activation, skip
        self.layers = [Linear(n_in, n_out, init, rng, dtype) for n_in, n_out in pairwise(sizes)]
        for number, layer in enumerate(self.layers, start=1):
            layer.weight.label, layer.bias.label = f"W{number}", f"b{number}"

    def __call__(self, x: Any) -> Tensor:
        *_, logits = self.outputs(x)
        return logits

    def outputs(self, x: Any) -> Iterator[Tensor]:
        """Yield the output of each activation in turn, before a skip connection adds to it, then the logits."""
        for layer in self.layers[:-1]:
            output = layer(x)
            if self.activation != "identity":
                output = getattr(output, self.activation)()
            yield output
            x = output + x if self.skip and output.shape == np.shape(x) else output
        yield self.layers[-1](x)

    def parameters(self) -> list[Tensor]:
        """Return what an optimizer updates: the weight and the bias of each layer, from the first to the last."""
        return [parameter for layer in self.layers for parameter in layer.parameters()]

    def zero_grad(self) -> None:
        """Forget the gradients of all parameters, before the next backward pass."""
        for parameter in self.parameters():
            parameter.grad = None

    def __repr__(self) -> str:
        sizes = "-".join(str(n) for n in (self.layers[0].weight.shape[0], *(layer.bias.size for layer in self.layers)))
        return f"MLP({sizes}, {self.activation}, {sum(p.size for p in self.parameters()):,} parameters)"


# ---------------------------------------------------------------- optimizers


class Optimizer:
    """The base class of SGD and Adam. A parameter given twice is updated once; one without a gradient not at all."""

    def __init__(self, parameters: Iterable[Tensor], lr: float, weight_decay: float, *remembered: str) -> None:
        self.parameters = _leaves(parameters)
        self.lr, self.weight_decay = _number("lr", lr), _number("weight_decay", weight_decay)
        # State that is kept from step to step: name and parameter number -> an array shaped like the parameter
        self.memory: dict[str, Array] = {
            f"{name}{i}": np.zeros(p.shape, p.dtype) for name in remembered for i, p in enumerate(self.parameters)
        }

    def zero_grad(self) -> None:
        """Forget the gradients of all parameters, before the next backward pass."""
        for p in self.parameters:
            p.grad = None

    def step(self) -> None:
        """Update each parameter that has a gradient, in place."""
        decay = float(self.weight_decay)  # a NumPy number would turn float32 into float64
        for i, p in enumerate(self.parameters):
            gradient, values = leaf_gradient(p), p.read()
            if gradient is not None:
                update = self._update(i, gradient + decay * values if decay else gradient)
                # No other code has the array `update`, so the new values are written into it, not into a third one
                p.replace(np.subtract(values, update, update) if values.ndim else values - update)

    def _update(self, i: int, gradient: Array) -> Array:
        """Return what to subtract from parameter i, as an array of its own."""
        raise NotImplementedError


class SGD(Optimizer):
    """Stochastic gradient descent: v = momentum v + gradient; parameter -= lr v."""

    def __init__(
        self, parameters: Iterable[Tensor], lr: float, momentum: float = 0.0, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, lr, weight_decay, "velocity")
        self.momentum = _number("momentum", momentum)

    def _update(self, i: int, gradient: Array) -> Array:
        if self.momentum:
            self.memory[f"velocity{i}"] = gradient = float(self.momentum) * self.memory[f"velocity{i}"] + gradient
        return float(self.lr) * gradient


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015, algorithm 1): steps scaled by running means of the gradient and of its square."""

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, lr, weight_decay, "mean", "square")
        if np.shape(betas) != (2,):
            raise TypeError(f"Adam needs two betas, such as (0.9, 0.999), not {betas!r}.")
        self.betas, self.eps = tuple(_number("beta", beta) for beta in betas), _number("eps", eps)
        self.memory["steps"] = np.zeros(len(self.parameters), int)

    def _update(self, i: int, gradient: Array) -> Array:
        memory, (beta1, beta2) = self.memory, map(float, self.betas)
        memory["steps"] = memory["steps"].copy()  # as all memory, replaced: a dict(memory) of before stays as it is
        memory["steps"][i] += 1
        steps = int(memory["steps"][i])
        memory[f"mean{i}"] = mean = beta1 * memory[f"mean{i}"] + (1.0 - beta1) * gradient
        memory[f"square{i}"] = square = beta2 * memory[f"square{i}"] + (1.0 - beta2) * gradient * gradient
        # Both means start at 0; dividing by these factors corrects for it. eps stands outside the square root.
        mean = mean / (1.0 - beta1**steps)
        square = square / (1.0 - beta2**steps)
        return float(self.lr) * mean / (np.sqrt(square) + float(self.eps))


def clip_grad_norm(parameters: Iterable[Tensor], max_norm: float) -> float:
    """Scale all gradients together so that their joint norm is at most `max_norm`; return the norm before. If that is
    inf or nan, the gradients stay as they are: no scaling can save them."""
    max_norm = _number("max_norm", max_norm)
    gradients = {p: gradient for p in _leaves(parameters) if (gradient := leaf_gradient(p)) is not None}
    largest = max([float(np.abs(g).max(initial=0.0)) for g in gradients.values()], default=0.0)
    unit = largest if 0.0 < largest < math.inf else 1.0  # squares of large numbers overflow, of small ones vanish
    norm = unit * math.sqrt(sum(float(np.square(np.float64(g) / unit).sum()) for g in gradients.values()))
    if max_norm < norm < math.inf:
        for p, gradient in gradients.items():
            p.grad = gradient * (max_norm / norm)
    return norm


def _leaves(parameters: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Return the parameters, each once; raise TypeError unless all are leaves."""
    listed = isinstance(parameters, Iterable) and not isinstance(parameters, Tensor)
    leaves: list[Any] = [*parameters] if listed else [None]
    if not leaves:
        raise TypeError("The list of parameters is empty: there is nothing to train.")
    if not all(isinstance(p, Tensor) and not p.op for p in leaves):
        raise TypeError(
            "Give parameters as a list of leaf Tensors, such as network.parameters(): results of operations are none."
        )
    return tuple(dict.fromkeys(leaves))


def _check_choice(what: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise ValueError(f"There is no {what} '{given}'; choose one of {', '.join(known)}.")


# What each numeric setting must be, in words and as a test
_RULES: dict[str, tuple[str, Callable[[float], bool]]] = {
    "lr": ("The learning rate must be a positive number", lambda number: 0 < number < math.inf),
    "max_norm": ("The largest gradient norm must be a positive number", lambda number: number > 0),
    "weight_decay": ("The weight decay must be a finite number from 0", lambda number: 0 <= number < math.inf),
    "momentum": ("The momentum must be a finite number from 0", lambda number: 0 <= number < math.inf),
    "eps": ("eps must be a finite number from 0", lambda number: 0 <= number < math.inf),
    "beta": ("Each of the betas must be a number from 0 to below 1", lambda number: 0 <= number < 1),
}


def _number(setting: str, value: Any) -> float:
    """Check a setting against its rule and return it as a Python float: a NumPy one would turn float32 into float64."""
    sentence, holds = _RULES[setting]
    if not isinstance(value, (float, int, np.floating, np.integer)):
        raise TypeError(f"{sentence}, not a {type(value).__name__}.")
    if not holds(float(value)):
        raise ValueError(f"{sentence}, not {value}.")
    return float(value)
