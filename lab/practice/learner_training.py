"""Trains a network with a learner's own engine, and the same network with the lab's, to compare numbers and speed.

Both run the same program, each in its own sandbox, where model.py is loaded in place of the learner's file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import practice
from lab.practice.checker import StoppedError
from lab.practice.sandbox import Limits, ProgramError, Sandbox
from lab.text import read_rows
from lab.training.datasets import load
from lab.training.descent.four_points import HIDDEN, POINTS, TARGETS, initial
from practice.task import Course

LIMITS = Limits(seconds=60.0, wall=90.0)
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
    Raises StoppedError, and ProgramError with the exception of the engine."""
    if problem := sandbox.load(source, file):
        raise ProgramError(problem)
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
