"""An optimizer of the engine that goes down a surface. It is always one step ahead: what the next step will be is known
before it is taken, with all numbers that lead to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lab.training.descent.surfaces import Surface
from model import SGD, Adam, Optimizer, Tensor

MOST = 500  # steps
SETTLED = 1e-3
FARTHEST = 1000.0
MOMENTUM = 0.9
# What the two words mean, here and in the life of a tensor.
CONVERGED = f"The gradient is shorter than {SETTLED:g}, and so is the step that follows from it."
DIVERGED = f"The loss or a coordinate is not finite, or the point is farther than {FARTHEST:.0f} from the origin."


@dataclass(frozen=True)
class OptimizerKind:
    """An optimizer to go with. memory: how it calls what it remembers of the gradients (m) and their squares (v)."""

    title: str
    rule: str
    make: Callable[[list[Tensor], float], Optimizer]
    memory: tuple[str, ...]


KINDS = {
    "sgd": OptimizerKind("SGD", "θ − rate · gradient", lambda parameters, rate: SGD(parameters, rate), ()),
    "momentum": OptimizerKind(
        "Momentum",
        f"m = {MOMENTUM} m + gradient; θ − rate · m",
        lambda parameters, rate: SGD(parameters, rate, momentum=MOMENTUM),
        ("velocity",),
    ),
    "adam": OptimizerKind(
        "Adam",
        "m, v: running means of the gradient and its square; θ − rate · m̂ / (√v̂ + ε)",
        lambda parameters, rate: Adam(parameters, rate),
        ("mean", "square"),
    ),
}

Pair = tuple[float, float]


@dataclass(frozen=True)
class OptimizerStep:
    """One step, with a number for x and one for y in each pair.

    memory  what the optimizer remembers, this gradient included: m, then v
    to      where the step lands
    """

    at: Pair
    loss: float
    gradient: Pair
    memory: tuple[Pair, ...]
    to: Pair

    @property
    def update(self) -> Pair:
        """What was subtracted."""
        return self.at[0] - self.to[0], self.at[1] - self.to[1]

    @property
    def state(self) -> str:
        """ "descending", "converged" or "diverged": of the place where the step begins."""
        if not (all(map(math.isfinite, (*self.at, self.loss))) and math.hypot(*self.at) <= FARTHEST):
            return "diverged"
        short = math.hypot(*self.gradient) < SETTLED and math.hypot(*self.update) < SETTLED
        return "converged" if short else "descending"


class Walk:
    """The steps from one start with one rate, computed when they are first asked for."""

    def __init__(self, surface: Surface, kind: str, rate: float, start: Pair) -> None:
        self._surface, self._kind = surface, KINDS[kind]
        self._parameters = [Tensor(value, label=name) for value, name in zip(start, surface.names, strict=True)]
        self._optimizer = self._kind.make(self._parameters, rate)
        self._steps = [self._next()]

    def ahead(self, count: int) -> OptimizerStep:
        """The step that comes after `count` steps, or after the last one before it converged or diverged."""
        while len(self._steps) <= count and self._steps[-1].state == "descending":
            self._steps.append(self._next())
        return self._steps[min(count, len(self._steps) - 1)]

    def taken(self, count: int) -> list[OptimizerStep]:
        """The first steps, at most so many."""
        self.ahead(count)
        return self._steps[: min(count, len(self._steps) - 1)]

    def places(self, count: int) -> list[Pair]:
        """Where it has been, from the start to where it is after so many steps."""
        return [*(step.at for step in self.taken(count)), self.ahead(count).at]

    def _next(self) -> OptimizerStep:
        with np.errstate(all="ignore"):
            at = self._pair([p.item() for p in self._parameters])
            self._optimizer.zero_grad()
            loss = self._surface.function(*self._parameters)
            loss.backward()
            gradient = self._pair([float("nan") if p.grad is None else float(p.grad) for p in self._parameters])
            self._optimizer.step()
            memory = self._optimizer.memory
            remembered = tuple(self._pair([float(memory[f"{name}{i}"]) for i in (0, 1)]) for name in self._kind.memory)
            to = self._pair([p.item() for p in self._parameters])
        return OptimizerStep(at, loss.item(), gradient, remembered, to)

    @staticmethod
    def _pair(values: list[float]) -> Pair:
        x, y = values
        return x, y
