"""Optimizers of the engine that descend a surface, computed one step ahead: each step is known before it is taken."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lab.training.descent.surfaces import Surface
from model import Tensor
from nn import SGD, Adam, Optimizer

RATES = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.08, 0.09, 0.1, 0.11, 0.15, 0.2, 0.5, 1.0, 2.0)
MAX_STEPS = 500
SETTLED = 1e-3  # below this, the lengths of gradient and step count as converged
MAX_DISTANCE = 1000.0  # from the origin: beyond it, the walk counts as diverged
MOMENTUM = 0.9
CONVERGED = f"The gradient is shorter than {SETTLED:g}, and so is the step that follows from it."
DIVERGED = f"The loss or a coordinate is not finite, or the point is farther than {MAX_DISTANCE:.0f} from the origin."


@dataclass(frozen=True)
class OptimizerKind:
    """An optimizer to choose. memory: its names for the running means of the gradients (m) and their squares (v)."""

    title: str
    rule: str
    make: Callable[[list[Tensor], float], Optimizer]
    memory: tuple[str, ...]


# Declarations, read by rows
# fmt: off
KINDS = {
    "sgd": OptimizerKind("SGD", "θ − rate · gradient", SGD, ()),
    "momentum": OptimizerKind("Momentum", f"m = {MOMENTUM} m + gradient; θ − rate · m",
        lambda parameters, rate: SGD(parameters, rate, momentum=MOMENTUM), ("velocity",)),
    "adam": OptimizerKind("Adam", "m, v: running means of the gradient and its square; θ − rate · m̂ / (√v̂ + ε)",
        Adam, ("mean", "square")),
}
# fmt: on

Pair = tuple[float, float]


@dataclass(frozen=True)
class OptimizerStep:
    """One step; each pair has a number for x and one for y.

    at      where the step begins
    memory  the optimizer's m, then v, including this gradient
    to      where the step ends
    """

    at: Pair
    loss: float
    gradient: Pair
    memory: tuple[Pair, ...]
    to: Pair

    @property
    def update(self) -> Pair:
        """The change that the optimizer subtracts."""
        return self.at[0] - self.to[0], self.at[1] - self.to[1]

    @property
    def end(self) -> str:
        """How the walk ends where the step begins: "converged", "diverged", or "" if it goes on."""
        if not (all(map(math.isfinite, (*self.at, self.loss))) and math.hypot(*self.at) <= MAX_DISTANCE):
            return "diverged"
        short = math.hypot(*self.gradient) < SETTLED and math.hypot(*self.update) < SETTLED
        return "converged" if short else ""


class Walk:
    """An optimizer's steps from one start with one learning rate, computed when first needed."""

    def __init__(self, surface: Surface, kind: str, rate: float, start: Pair) -> None:
        self._surface, self._kind = surface, KINDS[kind]
        self._parameters = [Tensor(value, label=name) for value, name in zip(start, surface.names, strict=True)]
        self._optimizer = self._kind.make(self._parameters, rate)
        self._steps = [self._next()]

    def step_after(self, count: int) -> OptimizerStep:
        """Return the step that follows `count` steps, or the one at which the walk converged or diverged before."""
        while len(self._steps) <= count and not self._steps[-1].end:
            self._steps.append(self._next())
        return self._steps[min(count, len(self._steps) - 1)]

    def state_after(self, count: int) -> str:
        """Return how the walk has ended, or else how the last of `count` steps has changed the loss."""
        step, taken = self.step_after(count), self.first_steps(count)
        if step.end or not taken:
            return step.end or "at the start"
        change = step.loss - taken[-1].loss
        return "climbing" if change > 0 else "descending" if change < 0 else "unchanged"

    def first_steps(self, count: int) -> list[OptimizerStep]:
        """Return the first `count` steps, or fewer if the walk ended before."""
        self.step_after(count)
        return self._steps[: min(count, len(self._steps) - 1)]

    def path(self, count: int) -> list[Pair]:
        """Return the points from the start to the position after `count` steps."""
        return [*(step.at for step in self.first_steps(count)), self.step_after(count).at]

    def _next(self) -> OptimizerStep:
        x, y = self._parameters
        with np.errstate(all="ignore"):
            at = x.item(), y.item()
            self._optimizer.zero_grad()
            loss = self._surface.function(x, y)
            loss.backward()
            dx, dy = (math.nan if p.grad is None else float(p.grad) for p in self._parameters)
            self._optimizer.step()
            memory = self._optimizer.memory
            remembered = tuple((float(memory[f"{name}0"]), float(memory[f"{name}1"])) for name in self._kind.memory)
        return OptimizerStep(at, loss.item(), (dx, dy), remembered, (x.item(), y.item()))
