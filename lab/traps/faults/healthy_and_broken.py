"""Compare the healthy engine with a broken one on the same numbers.

`compare` runs the same example in both; `play` records one event by event; `train_with` trains;
`check` runs gradcheck on one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np

from lab.gradcheck import Report, gradcheck
from lab.trace.recording import Recording, Trace
from lab.training.records import Record, column
from lab.traps.faults.broken_training import LessonTrainer, Setup
from lab.traps.faults.catalogue import Fault
from model import Tensor
from train import train

# ---------------------------------------------------------------- both engines side by side


@dataclass(frozen=True)
class ComparedPass:
    """A forward and a backward pass. gradients: leaf or parameter -> array, or None if no message arrived.
    error: the type and message of the error that stopped it, or ""."""

    gradients: dict[str, np.ndarray | None]
    error: str


EFFECTS = MappingProxyType(
    {
        "same": "the same gradients",
        "numbers": "other numbers in the same places",
        "missing": "no gradient at all for some tensor",
        "shape": "a gradient of another shape",
        "not finite": "nan or inf",
        "error": "an error instead of gradients",
    }
)


@dataclass(frozen=True)
class EngineComparison:
    """The passes of the healthy and the broken engine on the same numbers."""

    healthy: ComparedPass
    broken: ComparedPass

    @property
    def effect(self) -> str:
        """The most drastic of EFFECTS that the broken pass shows."""
        if self.broken.error:
            return "error"
        effects = {
            _effect(self.healthy.gradients[name], self.broken.gradients[name]) for name in self.healthy.gradients
        }
        return next(e for e in ("missing", "shape", "not finite", "numbers", "same") if e in effects)


def differs(healthy: np.ndarray, broken: np.ndarray) -> np.ndarray:
    """Mark the elements of two arrays that differ by more than float32 rounding."""
    return ~np.isclose(healthy, broken, rtol=1e-5, atol=1e-12, equal_nan=True)


def _effect(healthy: np.ndarray | None, broken: np.ndarray | None) -> str:
    if broken is None or healthy is None:
        return "same" if broken is healthy else "missing"
    if healthy.shape != broken.shape:
        return "shape"
    if not np.all(np.isfinite(broken)):
        return "not finite"
    return "numbers" if differs(healthy, broken).any() else "same"


STEPS = 3  # a fault of the training is shown in its third step: the first ones may be right


def compare(fault: Fault, seed: int) -> EngineComparison:
    """Compare both engines on the example of an engine fault."""
    return EngineComparison(*(example_pass(fault, engine, seed) for engine in (Tensor, fault.broken.engine)))


def example_pass(fault: Fault, engine: type[Tensor], seed: int) -> ComparedPass:
    """Run the example of a fault in an engine."""
    trace = play(fault, engine, seed)
    return ComparedPass(trace.gradients, trace.error)


def leaves(fault: Fault, seed: int) -> dict[str, np.ndarray]:
    """Draw numbers for the leaves of a fault's example, with one decimal and away from 0, the kink of relu."""
    rng = np.random.default_rng(seed)
    return {
        name: (rng.uniform(0.3, 1.6, shape) * rng.choice([-1.0, 1.0], shape)).round(1)
        for name, shape in fault.shapes.items()
    }


def play(fault: Fault, engine: type[Tensor], seed: int) -> Trace:
    """Record the example of a fault in one engine (the fault's, or Tensor).

    The upstream gradient of an output that is not a single number is 1, 2, 3...: with ones, some faults do not show."""
    if not fault.example:
        raise ValueError(f"“{fault.name}” is a fault of the training: no single pass shows it.")

    def upstream(output: Tensor) -> np.ndarray:
        return np.arange(1.0, output.size + 1).reshape(output.shape)

    return follow(fault.compute, engine, leaves(fault, seed), upstream)


def follow(
    build: Callable[..., Tensor],
    engine: type[Tensor],
    values: Mapping[str, Any],
    upstream: Callable[[Tensor], Any] = lambda output: None,
) -> Trace:
    """Record a pass in an engine; `upstream` returns the upstream gradient for the output.

    If the engine raises an error in the backward pass, the trace ends there and contains it."""
    recording = Recording(values, engine)
    error = ""
    with np.errstate(all="ignore"):
        output = build(**recording.tensors)
        try:
            output.backward(upstream(output))
        except Exception as raised:  # any error of a broken engine is a result to show
            error = f"{type(raised).__name__}: {raised}"
    return recording.finish(output, error)


def training_pass(setup: Setup, seed: int) -> ComparedPass:
    """Train for three steps, and return the gradients that the third one used."""
    trainer = LessonTrainer(setup, seed)
    error = ""
    try:
        for _ in islice(trainer.steps(), STEPS):
            pass
    except Exception as raised:  # as in follow
        error = f"{type(raised).__name__}: {raised}"
    gradients = {p.label: None if p.grad is None else np.array(p.grad) for p in trainer.model.parameters()}
    return ComparedPass(gradients, error)


def check(fault: Fault, engine: type[Tensor], seed: int) -> Report:
    """Run the gradient check of an engine (the fault's, or Tensor) on the expression that finds this fault."""
    if not fault.example:
        raise ValueError(f"“{fault.name}” is a fault of the training: ask the doctor, the gradients are right.")
    return gradcheck(fault.compute, leaves(fault, seed), seed=seed, tensor=engine)


@dataclass(frozen=True)
class LessonRun:
    """A training run: the measurements before training (epoch 0), the records of the epochs, and the error, or ""."""

    initial: Record
    records: list[Record]
    error: str = ""

    @property
    def from_start(self) -> list[Record]:
        """All records, starting with epoch 0, as the charts show them."""
        return [self.initial, *self.records]

    @property
    def losses(self) -> list[float | None]:
        """The training losses from epoch 0 on; None where the loss is not a number."""
        return [record["train_loss"] for record in self.from_start]

    @property
    def completed(self) -> list[Record]:
        """The records without an epoch in which the loss became nan or inf."""
        return [record for record in self.records if not record["diverged"]]


def train_with(setup: Setup, seed: int) -> LessonRun:
    """Run a real training, which takes a fraction of a second. An error of a broken engine ends it."""
    records: list[Record] = []
    trainer = LessonTrainer(setup, seed)
    initial = trainer.measure()
    try:
        records.extend(train(trainer.config, trainer))
    except Exception as raised:  # as in follow
        if isinstance(raised, ValueError) and "gufunc" in str(raised):  # NumPy's message names its internals
            raised = ValueError("In the backward pass, `@` met two arrays whose shapes do not fit each other.")
        return LessonRun(initial, records, f"{type(raised).__name__}: {raised}")
    return LessonRun(initial, records)


CURVES = MappingProxyType(
    {
        "same": "the same curve",
        "better": "it learns as well, or faster",
        "worse": "it learns less",
        "overflow": "the loss is no longer a number",
        "error": "it stops with an error",
    }
)


def which_curve(healthy: LessonRun, broken: LessonRun) -> str:
    """Classify the broken run's loss curve, compared with the healthy one, as one of CURVES."""
    if broken.error:
        return "error"
    if broken.records[-1]["diverged"] or broken.records[-1]["train_loss"] is None:
        return "overflow"
    right, wrong = (column(run.records, "train_loss") for run in (healthy, broken))
    if np.allclose(right, wrong, rtol=1e-3):
        return "same"
    return "better" if wrong[-1] <= 1.02 * right[-1] else "worse"
