"""Backpropagation through time with one weight, h = tanh(w * h + x): it gets a message from each time step.

The engine runs both passes; a Tensor subclass that logs what it accumulates shows the messages one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from model import Array, Tensor

KINDS = {"tanh": "h = tanh(w · h + x)", "linear": "h = w · h + x"}
MAX_TIME = 40  # time steps
FIRST_STATE = 1.0


@dataclass(frozen=True)
class TimeMessage:
    """The message that w gets from one time step: the upstream gradient there times the state that w multiplied."""

    time: int
    state: float
    upstream: float
    message: float


@dataclass(frozen=True)
class Unrolled:
    """A forward and backward pass over time. result: the last state, whose gradients these are.

    gradient   of w
    of_first   the gradient of the first state, 0 if no message reaches it
    messages   to w, in the order of their arrival
    of_weight  computes the result from another w, with the detached state held fixed: what a numerical check varies
    """

    result: float
    gradient: float
    of_first: float
    messages: list[TimeMessage]
    of_weight: Callable[[Tensor], Tensor]


class _Shared(Tensor):
    """A weight that logs the messages it gets. Results computed from it have this class, too, but no list to log in."""

    messages: list[float] | None = None

    def accumulate(self, message: Array) -> None:
        if self.messages is not None:
            self.messages.append(float(message))
        super().accumulate(message)


def unroll(kind: str, w: float, x: float, length: int, kept: int | None = None) -> Unrolled:
    """Run `length` time steps from the first state, and the backward pass from the last.

    kept: the number of last steps that gradients flow through: the state before them is detached. None: all steps.
    """
    cut = 0 if kept is None else max(length - kept, 0)
    weight, first = _Shared(w, label="w"), Tensor(FIRST_STATE, label="h0")
    sent: list[float] = []
    weight.messages = sent
    with np.errstate(all="ignore"):
        state: Tensor = first
        before, products = [], []  # the state at the beginning of each time step, and its product with w
        for time in range(length):
            if cut and time == cut:
                state = state.detach()
            before.append(state)
            products.append(weight * state)
            state = _state(kind, products[-1] + x)
        state.backward(retain_graph=True)
        messages = [
            TimeMessage(time + 1, before[time].item(), _number(products[time].grad), message)
            for time, message in zip(range(length - 1, cut - 1, -1), sent, strict=True)
        ]
        beginning = before[cut].item()
    of_weight = partial(_last, kind, x=x, state=beginning, steps=length - cut)
    return Unrolled(state.item(), _number(weight.grad), _number(first.grad), messages, of_weight)


def states(kind: str, w: float, x: float, length: int) -> list[float]:
    """Compute the first state, and the state after each of `length` time steps."""
    run = unroll(kind, w, x, length)
    return [*(message.state for message in reversed(run.messages)), run.result]


def by_length(kind: str, w: float, x: float, kept: int) -> dict[str, list[tuple[float, float]]]:
    """Compute the sizes of the gradients of w and of the first state for each number of time steps: name -> curve."""
    lengths = range(1, MAX_TIME + 1)
    whole = [(float(length), unroll(kind, w, x, length)) for length in lengths]
    sizes = {"of w": [(length, abs(run.gradient)) for length, run in whole]}
    if kept < MAX_TIME:
        cut = [(float(length), unroll(kind, w, x, length, kept)) for length in lengths]
        sizes["of w, when detached"] = [(length, abs(run.gradient)) for length, run in cut]
    return sizes | {"of the first state": [(length, abs(run.of_first)) for length, run in whole]}


def _state(kind: str, total: Tensor) -> Tensor:
    return total.tanh() if kind == "tanh" else total


def _last(kind: str, w: Tensor, x: float, state: float, steps: int) -> Tensor:
    """Compute the state after this many steps from a given state."""
    h = Tensor(state, requires_grad=False)
    for _ in range(steps):
        h = _state(kind, w * h + x)
    return h


def _number(gradient: Array | None) -> float:
    return 0.0 if gradient is None else float(gradient)
