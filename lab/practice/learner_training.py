"""Trains a network with a learner's own engine, and the same network with the lab's, to compare numbers and speed.

Both run the same program, each in its own sandbox, where model.py is loaded in place of the learner's file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import practice
from lab.practice.background import YOU_STOPPED, Background
from lab.practice.runner import StoppedError
from lab.practice.sandbox import Limits, Sandbox
from lab.text import read_rows
from lab.training.datasets import load
from lab.training.descent.four_points import HIDDEN, POINTS, TARGETS, initial
from practice.task import Course

LIMITS = Limits(seconds=60.0, wall=90.0)
SAME_LOSS = 1e-6  # relative difference up to which two losses count as equal
GRADUATED = 0.9  # accuracy on the held-out digits above which an engine graduates
STEPS, RATE, FUNCTIONS_RATE = 100, 0.05, 0.1  # on the four points
EPOCHS, BATCH, UNITS, DIGIT_RATE = 12, 32, 32, 0.1
TRAININGS = {  # course -> a description of its training
    "scalars": f"Four points, two layers of {HIDDEN} tanh units, {STEPS} steps at rate {RATE}.",
    "tensors": f"Digits of 64 pixels, which take seconds (for MNIST: `python -m lab.practice.mnist FOLDER`); "
    f"{UNITS} relu units, {EPOCHS} epochs at rate {DIGIT_RATE}. Your engine graduates by reading over {GRADUATED:.0%} "
    "of the unseen ones correctly.",
    "functions": f"Your `loss` on four points, {UNITS} relu units, {STEPS} steps at rate {FUNCTIONS_RATE}.",
}
ENGINE = (Path(__file__).parents[2] / "model.py").read_text("utf-8")

PROGRAMS = read_rows(Path(practice.__file__).with_name("trainings.toml"))


@dataclass(frozen=True)
class LossPoint:
    """The loss of a training step, and the processor time in seconds since the training began."""

    step: int
    loss: float
    seconds: float


@dataclass(frozen=True)
class TrainingTask:
    """A training: its program and inputs, the number of losses it reports, and the labels to predict at the end."""

    program: str
    inputs: Mapping[str, Any]
    steps: int
    answers: np.ndarray | None = None


def task(course: Course, seed: int) -> TrainingTask:
    """Return the training of a course: digits for tensors, four points otherwise. Raises KeyError without an engine."""
    return {"scalars": _four_points, "tensors": _digits, "functions": _four_points_by_functions}[course.key](seed)


def _four_points(seed: int) -> TrainingTask:
    arrays = initial(HIDDEN, seed)
    inputs = {
        "numbers": [float(number) for array in arrays for number in array.ravel()],
        "shapes": [list(array.shape) for array in arrays if array.ndim == 2],
        "points": POINTS.tolist(),
        "targets": [float(target) for target in TARGETS.ravel()],
        "steps": STEPS,
        "rate": RATE,
    }
    return TrainingTask(PROGRAMS["scalars"], inputs, STEPS + 1)


def _four_points_by_functions(seed: int) -> TrainingTask:
    rng = np.random.default_rng(seed)
    inputs = {
        "arrays": [rng.uniform(-1, 1, shape) for shape in ((3, UNITS), (UNITS,), (UNITS, 1), (1,))],
        "points": POINTS,
        "targets": (TARGETS + 1) / 2,  # from -1 and 1 to the range of a sigmoid
        "steps": STEPS,
        "rate": FUNCTIONS_RATE,
    }
    return TrainingTask(PROGRAMS["gradient_step"] + PROGRAMS["functions"], inputs, STEPS + 1)


def _digits(seed: int) -> TrainingTask:
    rng = np.random.default_rng(seed)
    data = load("digits", seed=seed)
    count, n_in = data.train_x.shape
    arrays = [
        rng.normal(size=(n_in, UNITS)) * np.sqrt(2 / n_in),
        np.zeros(UNITS),
        rng.normal(size=(UNITS, 10)) * np.sqrt(2 / UNITS),
        np.zeros(10),
    ]
    batches = [part for _ in range(EPOCHS) for part in np.array_split(rng.permutation(count), count // BATCH)]
    inputs = {
        "arrays": arrays,
        "batches": batches,
        "images": data.train_x.astype(float),
        "labels": data.train_y,
        "unseen": data.val_x.astype(float),
        "rate": DIGIT_RATE,
    }
    return TrainingTask(PROGRAMS["gradient_step"] + PROGRAMS["tensors"], inputs, len(batches), data.val_y)


def train(it: TrainingTask, source: str, file: str, sandbox: Sandbox) -> Iterator[LossPoint | float]:
    """Train with the engine of a file: yield a point for each step and at last, if there are labels, the accuracy.
    Raises StoppedError, also for an exception of the engine."""
    if problem := sandbox.load(source, file):
        raise StoppedError(f"{problem.kind}: {problem.message}", problem.line)
    for message in sandbox.stream(it.program, it.inputs):
        try:
            if "predictions" in message:
                predictions = np.asarray(message["predictions"])
                yield float(np.mean(predictions == it.answers)) if predictions.ndim == 1 else 0.0
            else:
                yield LossPoint(int(message["step"]), float(message["loss"]), float(message["seconds"]))
        except (KeyError, TypeError, ValueError, OverflowError):
            raise StoppedError("Your engine gave a loss that is not a number: its `data` should be one.") from None


def train_lab_engine(it: TrainingTask, sandbox: Sandbox) -> Iterator[LossPoint | float]:
    """Train with this lab's engine, as `train` does with a learner's."""
    return train(it, f"{ENGINE}\n\nValue = Tensor\n{PROGRAMS['loss']}", "model.py", sandbox)


@dataclass
class Side:
    """One engine's training so far.

    share   accuracy on the held-out digits at the end; None before the end, and for four points
    ended   whether it ran to its end
    why     why it stopped early, as plain text with the engine's own message, or ""
    line    the line of the learner's file at which it stopped, if known
    """

    points: list[LossPoint] = field(default_factory=list)
    share: float | None = None
    ended: bool = False
    why: str = ""
    line: int | None = None


class Contest(Background[None]):
    """Both trainings, first the learner's. They start on creation, with the same weights, drawn from the seed."""

    def __init__(
        self, course: Course, source: str, seed: int, runner: Callable[[Limits], AbstractContextManager[Sandbox]]
    ) -> None:
        self.course, self.source = course, source
        self.yours, self.labs = Side(), Side()
        self.task = task(course, seed)
        super().__init__(lambda: self._train(runner))

    @property
    def progress(self) -> float:
        """The share of all steps that are done."""
        return (len(self.yours.points) + len(self.labs.points)) / (2 * self.task.steps)

    @property
    def graduated(self) -> bool:
        """Whether the learner's engine has learned to read digits."""
        return self.yours.ended and (self.yours.share or 0.0) > GRADUATED

    @property
    def first_difference(self) -> int | None:
        """The first step at which the losses differ; None if they agree as far as both go."""
        for yours, labs in zip(self.yours.points, self.labs.points, strict=False):
            if not math.isclose(yours.loss, labs.loss, rel_tol=SAME_LOSS):  # nan always differs
                return yours.step
        return None

    def _train(self, runner: Callable[[Limits], AbstractContextManager[Sandbox]]) -> None:
        self._run_side(self.yours, runner, lambda one: train(self.task, self.source, self.course.file, one))
        if not self._halted:
            self._run_side(self.labs, runner, lambda one: train_lab_engine(self.task, one))

    def _run_side(
        self,
        side: Side,
        runner: Callable[[Limits], AbstractContextManager[Sandbox]],
        training: Callable[[Sandbox], Iterator[LossPoint | float]],
    ) -> None:
        try:
            with self.process(runner(LIMITS)) as process:
                for result in training(process):
                    self._add(side, result)
            if len(side.points) < self.task.steps or (self.task.answers is not None and side.share is None):
                raise StoppedError("The training ended before its last step: remove what ends the program.")
            side.ended = True
        except StoppedError as stopped:
            side.why, side.line = YOU_STOPPED if self._halted else str(stopped), stopped.line

    def _add(self, side: Side, result: LossPoint | float) -> None:
        """Add a reported loss or accuracy to a side. Raises StoppedError unless each step comes once, in its turn."""
        if isinstance(result, float):
            side.share = result
        elif result.step != len(side.points) or result.step >= self.task.steps or not math.isfinite(result.seconds):
            raise StoppedError(
                "Your engine interfered with the training: the steps it reports make no sense. Remove everything that "
                "is not part of the engine."
            )
        else:
            side.points.append(result)
