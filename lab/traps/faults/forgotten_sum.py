"""Show a broadcasting fault in training: a bias whose gradient is not summed as it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lab.traps.faults.broken_engines import SkipsUnbroadcast, SumsTheWrongAxis
from model import Tensor

BROKEN: dict[str, type[Tensor]] = {"forgets the sum": SkipsUnbroadcast, "sums the wrong axis": SumsTheWrongAxis}
UPDATES = ("b = b - lr * b.grad", "b.data -= lr * b.grad")
OUTPUTS = 3  # of the layer
RATE = 0.1
STEPS_BEFORE, AFTER = 5, 2  # the change of batch size; the second step after it shows the first one's effect on b


@dataclass(frozen=True)
class Training:
    """A layer x @ w + b, trained for some steps. losses: one for each step that began; misled: how many came to their
    end with a gradient of b that is not the sum over the rows; error: what stopped it, or "".

    gradient: that of the bias in the first step; bias: its final value; upstream: the gradient of x @ w + b.
    """

    losses: list[float]
    misled: int
    error: str
    gradient: np.ndarray
    upstream: np.ndarray
    bias: np.ndarray


def train(engine: type[Tensor], rows: int, update: str, steps: int = STEPS_BEFORE) -> Training:
    """Train on a batch of so many rows, then AFTER steps on another size; the same numbers for each engine."""
    rng = np.random.default_rng(0)
    inputs, targets = rng.normal(size=(4, 2)).round(1), rng.normal(size=(4, OUTPUTS)).round(1)
    w, b = engine(rng.normal(size=(2, OUTPUTS)).round(1)), engine(np.zeros(OUTPUTS))
    losses: list[float] = []
    gradient = upstream = np.zeros(OUTPUTS)
    misled, error = 0, ""
    for step in range(steps + AFTER):
        count = rows if step < steps else 3 if rows == 2 else 2
        try:
            output = inputs[:count] @ w + b
            loss = ((output - targets[:count]) ** 2).mean()
            losses.append(loss.item())
            loss.backward()
            found, arrived = _gradient(b), _gradient(output)
            if not step:
                gradient, upstream = found, arrived
            w.data = w.numpy() - RATE * _gradient(w)
            if update == UPDATES[0]:
                b = engine(b.numpy() - RATE * found)
            else:
                b.data -= RATE * found
                b.zero_grad()
            w.zero_grad()
            misled += not (found.shape == (OUTPUTS,) and np.allclose(found, arrived.sum(axis=0)))
        except ValueError as raised:
            words = " ".join(str(raised).split()).rstrip(" .")
            error = f"Step {step + 1}, {count} {'row' if count == 1 else 'rows'}: {words}."
            break
    return Training(losses, misled, error, gradient, upstream, b.numpy())


def _gradient(tensor: Any) -> np.ndarray:
    assert tensor.grad is not None, "a backward pass has reached it"
    return tensor.grad


def outcome(right: Training, broken: Training) -> Literal["error", "later", "wrong", "same"]:
    """Classify what a learner sees when training with the broken engine."""
    if broken.error:
        return "error" if len(broken.losses) == 1 else "later"
    same_bias = right.bias.shape == broken.bias.shape and np.allclose(right.bias, broken.bias)
    return "same" if same_bias and np.allclose(right.losses, broken.losses) else "wrong"
