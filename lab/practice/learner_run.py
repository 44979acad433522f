"""A learner's engine and the lab's train the same network, in the background: what they are at, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from lab.practice.background import YOU_STOPPED, Background
from lab.practice.checker import Stopped
from lab.practice.learner_training import GRADUATED, LIMITS, LossPoint, task, train, with_the_lab
from lab.practice.sandbox import Limits, Raised, Sandbox
from practice.task import Course

SAME = 1e-6  # how far two losses may be apart, relative to the larger one, and still be the same


@dataclass
class Side:
    """One engine's training, so far.

    share   of the digits that were held out: how many are read right at the end; None before, and for four points
    ended   it has come to its end
    why     it stopped before: why, as plain text with what the engine said; `line` of its file, where that is known
    """

    points: list[LossPoint] = field(default_factory=list)
    share: float | None = None
    ended: bool = False
    why: str = ""
    line: int | None = None


class Contest(Background[None]):
    """Both trainings, the learner's first, begun as this is made. The numbers begin the same, drawn from the seed."""

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
        """Has the learner's engine learned to read digits?"""
        return self.yours.ended and (self.yours.share or 0.0) > GRADUATED

    @property
    def parting(self) -> int | None:
        """The first step in which the losses are not the same; None where they are, as far as both go."""
        for yours, labs in zip(self.yours.points, self.labs.points, strict=False):
            if not math.isclose(yours.loss, labs.loss, rel_tol=SAME):  # and never for what is not a number
                return yours.step
        return None

    @property
    def times_slower(self) -> float | None:
        """The processor time of the learner's engine, divided by that of the lab's, for the same steps."""
        if not (self.yours.ended and self.labs.ended):
            return None
        labs = self.labs.points[-1].seconds
        return self.yours.points[-1].seconds / labs if labs > 0 else None

    def _train(self, runner: Callable[[Limits], AbstractContextManager[Sandbox]]) -> None:
        self._go(self.yours, runner, lambda one: train(self.task, self.source, self.course.file, one))
        if not self._halted:
            self._go(self.labs, runner, lambda one: with_the_lab(self.task, one))

    def _go(
        self,
        side: Side,
        runner: Callable[[Limits], AbstractContextManager[Sandbox]],
        told: Callable[[Sandbox], Iterator[LossPoint | float]],
    ) -> None:
        try:
            with self.process(runner(LIMITS)) as process:
                for said in told(process):
                    self._take(side, said)
            if len(side.points) < self.task.steps or (self.task.answers is not None and side.share is None):
                raise Stopped("The training ended before its last step: take out what ends the program.")
            side.ended = True
        except Raised as raised:
            problem = raised.problem
            side.why, side.line = f"{problem.kind}: {problem.message}", problem.line
        except Stopped as stopped:
            side.why, side.line = YOU_STOPPED if self._halted else str(stopped), stopped.line

    def _take(self, side: Side, said: LossPoint | float) -> None:
        """What the process says is believed as far as it is what was asked for: each step once, in its turn."""
        if isinstance(said, float):
            side.share = said
        elif said.step != len(side.points) or said.step >= self.task.steps or not math.isfinite(said.seconds):
            raise Stopped(
                "Your engine interfered with the training: the steps it reports make no sense. Remove what is not part "
                "of the engine."
            )
        else:
            side.points.append(said)
