"""Trains the same network with a learner's engine and with the lab's, in the background, for a comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from lab.practice.background import YOU_STOPPED, Background
from lab.practice.checker import StoppedError
from lab.practice.learner_training import GRADUATED, LIMITS, LossPoint, task, train, train_lab_engine
from lab.practice.sandbox import Limits, ProgramError, Sandbox
from practice.task import Course

SAME_LOSS = 1e-6  # relative difference up to which two losses count as equal


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

    @property
    def times_slower(self) -> float | None:
        """The processor time of the learner's engine divided by the lab's, for the same steps; None before both end."""
        if not (self.yours.ended and self.labs.ended):
            return None
        labs = self.labs.points[-1].seconds
        return self.yours.points[-1].seconds / labs if labs > 0 else None

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
        except ProgramError as raised:
            problem = raised.problem
            side.why, side.line = f"{problem.kind}: {problem.message}", problem.line
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
