"""Short expressions that reveal a fault of an engine, and programs that the healthy engine refuses."""

from __future__ import annotations

import numpy as np

from lab.traps.write_detection import detect_mutation
from model import Tensor, mse_loss
from nn import SGD

# ---------------------------------------------------------------- expressions that reveal a fault


def twice_used(a: Tensor, b: Tensor) -> Tensor:
    return a * b + a


def bias_on_rows(X: Tensor, b: Tensor) -> Tensor:
    return (X + b).tanh()


def shortcut(a: Tensor, b: Tensor) -> Tensor:
    h = a * b
    return h + h.tanh().exp()


def doublings(a: Tensor) -> Tensor:
    for _ in range(12):
        a = a + a
    return a


def few_doublings(a: Tensor) -> Tensor:
    for _ in range(3):
        a = a + a
    return a


def long_chain(a: Tensor) -> Tensor:
    for _ in range(1000):
        a = a * 0.999
    return a


def early_update(a: Tensor, b: Tensor) -> Tensor:
    y = a * b
    a.data = a.numpy() + 1.0  # what an optimizer step does, too early
    return y


def sum_of_two(a: Tensor, b: Tensor) -> Tensor:
    return a + b


def product_of_three(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return a * b * c


def hidden_layer(X: Tensor, W: Tensor) -> Tensor:
    return (X @ W).relu()


def mean_of_rows(X: Tensor) -> Tensor:
    return X.mean(axis=1)


def large_logits(x: Tensor) -> Tensor:
    return (x + 1000.0).softmax()


def sure_logits(x: Tensor) -> Tensor:
    return (x + np.array([0.0, 0.0, 800.0])).log_softmax()


def small_factor(x: Tensor) -> Tensor:
    return (x * 1e8) * 1e-8


# ---------------------------------------------------------------- programs that the healthy engine refuses


def write_between_the_passes() -> None:
    with detect_mutation() as Watched:
        a, b = Watched([1.0, 2.0], label="a"), Watched([3.0, 4.0], label="b")
        y = a * b
        a.data += 1.0
        y.backward([1.0, 1.0])


def second_backward() -> None:
    a = Tensor(2.0, label="a")
    loss = a * a
    loss.backward()
    loss.backward()


def loss_of_two_shapes() -> None:
    prediction = Tensor([[1.0], [2.0], [3.0]], label="prediction")
    mse_loss(prediction, np.array([1.0, 2.0, 3.0]))


def negative_rate() -> None:
    w = Tensor([1.0, 2.0], label="w")
    SGD([w], lr=-0.1)
