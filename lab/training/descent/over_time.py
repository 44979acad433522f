"""One weight that is used in every time step, h = tanh(w * h + x): it gets a message from each of them.

The engine runs the whole of it; a tensor that writes down what it is sent tells of the messages one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.gradcheck import numerical_gradient
from model import Array, Tensor

KINDS = {"tanh": "h = tanh(w · h + x)", "linear": "h = w · h + x"}
LONGEST = 40  # time steps
FIRST_STATE = 1.0


@dataclass(frozen=True)
class TimeMessage:
    """What w is sent by one time step: the upstream gradient there, times the state that w was multiplied by."""

    time: int
    state: float
    upstream: float
    message: float


@dataclass(frozen=True)
class Unrolled:
    """A run over time. result: the last state, of which the gradients are. messages: in the order of their arrival.

    of_first   the gradient of the first state, 0 where nothing reaches it
    numerical  the gradient of w by finite differences; the state that was detached stays what it was
    """

    result: float
    gradient: float
    of_first: float
    messages: list[TimeMessage]
    numerical: float


class _Shared(Tensor):
    """A weight that writes down the messages that it is sent. What is computed from it is of this class, too, but has
    no list to write them in."""

    messages: list[float] | None = None

    def _accumulate(self, message: Array) -> None:
        if self.messages is not None:
            self.messages.append(float(message))
        super()._accumulate(message)


def unroll(kind: str, w: float, x: float, length: int, kept: int | None = None) -> Unrolled:
    """Run `length` time steps from the first state, and the backward pass from the last.

    kept: before the last so many steps the state is detached. None or `length`, or more: it never is.
    """
    cut = 0 if kept is None else max(length - kept, 0)
    weight, first = _Shared(w, label="w"), Tensor(FIRST_STATE, label="h0")
    sent: list[float] = []
    weight.messages = sent
    with np.errstate(all="ignore"):
        state: Tensor = first
        before, products = [], []  # the state that each time step begins with, and its product with w
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
        numerical = numerical_gradient(lambda moved: _last(kind, moved, x, beginning, length - cut), weight)
    return Unrolled(state.item(), _number(weight.grad), _number(first.grad), messages, float(numerical))


def states(kind: str, w: float, x: float, length: int) -> list[float]:
    """The first state, and the state after each of `length` time steps."""
    run = unroll(kind, w, x, length)
    return [*(message.state for message in reversed(run.messages)), run.result]


def by_length(kind: str, w: float, x: float, kept: int) -> dict[str, list[tuple[float, float]]]:
    """By the number of time steps, the size of the gradients of w and of the first state: the engine runs each."""
    lengths = range(1, LONGEST + 1)
    whole = [(float(length), unroll(kind, w, x, length)) for length in lengths]
    sizes = {"of w": [(length, abs(run.gradient)) for length, run in whole]}
    if kept < LONGEST:
        cut = [(float(length), unroll(kind, w, x, length, kept)) for length in lengths]
        sizes["of w, when detached"] = [(length, abs(run.gradient)) for length, run in cut]
    return sizes | {"of the first state": [(length, abs(run.of_first)) for length, run in whole]}


def _state(kind: str, total: Tensor) -> Tensor:
    return total.tanh() if kind == "tanh" else total


def _last(kind: str, w: Tensor, x: float, state: float, steps: int) -> Tensor:
    """The last state, after so many steps from this one."""
    h = Tensor(state, requires_grad=False)
    for _ in range(steps):
        h = _state(kind, w * h + x)
    return h


def _number(gradient: Array | None) -> float:
    return 0.0 if gradient is None else float(gradient)
