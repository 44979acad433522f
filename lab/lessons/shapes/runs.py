"""What the real engine does with a few small arrays: one operation forward, and a gradient back through it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lab.faults.engines import SkipsUnbroadcast
from lab.lessons.shapes.sources import Shape
from model import Tensor


class _Noting(Tensor):
    """Remembers the last message as it came, before it is summed to the shape of the tensor."""

    __slots__ = ("sent",)

    def _accumulate(self, message):
        self.sent = np.array(message)
        super()._accumulate(message)


@dataclass(frozen=True)
class Run:
    """Arrays of one operation. messages: as the closure sent them, in the shape of the result where they were copied;
    gradients: as the operands hold them. An operand that received none has zeros."""

    operands: tuple[np.ndarray, ...]
    result: np.ndarray
    upstream: np.ndarray
    messages: tuple[np.ndarray, ...]
    gradients: tuple[np.ndarray, ...]


def counted(shape: Shape, step: float = 1.0) -> np.ndarray:
    """step, 2 step, 3 step, … in reading order: numbers by which a cell can be told."""
    return step * np.arange(1.0, np.prod(shape, dtype=int) + 1).reshape(shape)


def run(operation: Callable[..., Tensor], *operands: np.ndarray) -> Run:
    """operation(*tensors) and its backward pass, which starts from 1, 2, 3, …; the engine's errors pass through."""
    leaves = [_Noting(operand) for operand in operands]
    result = operation(*leaves)
    upstream = counted(result.shape)
    result.backward(upstream)
    nothing = [np.zeros(leaf.shape) for leaf in leaves]
    return Run(
        tuple(leaf.numpy() for leaf in leaves),
        result.numpy(),
        upstream,
        tuple(getattr(leaf, "sent", none) for leaf, none in zip(leaves, nothing, strict=True)),
        tuple(none if leaf.grad is None else leaf.grad for leaf, none in zip(leaves, nothing, strict=True)),
    )


# ---------------------------------------------------------------- a bias whose gradient is not summed as it should be


class SumsTheWrongAxis(Tensor):
    """Sums over the last axes where broadcasting has added the first."""

    __slots__ = ()

    def _accumulate(self, message):
        if self.requires_grad and message.ndim > self.ndim:
            message = message.sum(tuple(range(self.ndim - message.ndim, 0)))
        if self.requires_grad:
            self.grad = message * 1.0 if self.grad is None else self.grad + message


BROKEN: dict[str, type[Tensor]] = {"forgets the sum": SkipsUnbroadcast, "sums the wrong axis": SumsTheWrongAxis}
UPDATES = ("b = b - lr * b.grad", "b.data -= lr * b.grad")
OUTPUTS = 3  # of the layer
RATE = 0.1
STEPS_BEFORE, AFTER = 5, 2  # the batch changes. The second step after it shows what the first has done to b


@dataclass(frozen=True)
class Training:
    """A layer x @ w + b, trained for some steps. losses: one for each step that began; error: what stopped it, or "".

    gradient: of the bias, at the first step; bias: at the end; upstream: what arrived at x @ w + b.
    """

    losses: list[float]
    error: str
    gradient: np.ndarray
    upstream: np.ndarray
    bias: np.ndarray


def train(engine: type[Tensor], rows: int, update: str, steps: int = STEPS_BEFORE) -> Training:
    """Steps on a batch of so many rows, and AFTER more on batches of another size; the same numbers for each engine."""
    rng = np.random.default_rng(0)
    inputs, targets = rng.normal(size=(4, 2)).round(1), rng.normal(size=(4, OUTPUTS)).round(1)
    w, b = engine(rng.normal(size=(2, OUTPUTS)).round(1)), engine(np.zeros(OUTPUTS))
    losses: list[float] = []
    gradient = upstream = np.zeros(OUTPUTS)
    error = ""
    for step in range(steps + AFTER):
        count = rows if step < steps else 3 if rows == 2 else 2
        try:
            output = inputs[:count] @ w + b
            loss = ((output - targets[:count]) ** 2).mean()
            losses.append(loss.item())
            loss.backward()
            if not step:
                gradient, upstream = _gradient(b), _gradient(output)
            w.data = w.numpy() - RATE * _gradient(w)
            if update == UPDATES[0]:
                b = engine(b.numpy() - RATE * _gradient(b))
            else:
                b.data -= RATE * _gradient(b)
                b.zero_grad()
            w.zero_grad()
        except ValueError as said:
            words = " ".join(str(said).split()).rstrip(" .")
            error = f"Step {step + 1}, {count} {'row' if count == 1 else 'rows'}: {words}."
            break
    return Training(losses, error, gradient, upstream, b.numpy())


def _gradient(tensor: Any) -> np.ndarray:
    assert tensor.grad is not None, "a backward pass has reached it"
    return tensor.grad


def outcome(right: Training, broken: Training) -> Literal["error", "later", "wrong", "same"]:
    """What somebody sees who trains with the broken engine."""
    if broken.error:
        return "error" if len(broken.losses) == 1 else "later"
    same_bias = right.bias.shape == broken.bias.shape and np.allclose(right.bias, broken.bias)
    return "same" if same_bias and np.allclose(right.losses, broken.losses) else "wrong"


def silent_steps(right: Training, broken: Training) -> int:
    """How many steps of the broken engine began, without an error, at another loss than the right one's."""
    return sum(not np.isclose(due, got) for due, got in zip(right.losses, broken.losses, strict=False))


# ---------------------------------------------------------------- (N, 1) - (N,)


STEPS = 40


@dataclass(frozen=True)
class Loss:
    """A mean of squares of prediction - target. after: the predictions, STEPS steps against the gradient later."""

    prediction: np.ndarray
    target: np.ndarray
    difference: np.ndarray
    value: float
    gradient: np.ndarray
    upstream: np.ndarray
    after: np.ndarray


def loss(count: int, target_shape: Shape) -> Loss:
    """Of predictions of shape (count, 1) and as many targets, in the shape given."""
    prediction = Tensor(np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0])[:count, None])
    target = np.array([2.0, 4.0, 1.0, 0.0, 6.0, 5.0])[:count].reshape(target_shape)
    first: Any = None
    for step in range(STEPS + 1):
        difference = prediction - target
        value = (difference**2).mean()
        value.backward()
        if not step:
            first = (prediction.numpy(), difference.numpy(), value.item(), prediction.grad, difference.grad)
        if step < STEPS:
            prediction = Tensor(prediction.numpy() - 0.5 * count / 2 * _gradient(prediction))
    start, differences, number, gradient, upstream = first
    return Loss(start, target, differences, number, gradient, upstream, prediction.numpy())


def end(found: Loss) -> Literal["targets", "mean", "start", "other"]:
    """Where the predictions have come to."""
    places = {"targets": found.target.reshape(-1, 1), "mean": found.target.mean(), "start": found.prediction}
    at: Any = next((name for name, place in places.items() if np.allclose(found.after, place, atol=0.01)), "other")
    return at
