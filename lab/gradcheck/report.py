"""The report of `gradcheck`: what was found for each input, in fields and in words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from lab.gradcheck.slopes import NO_VALUE, WITHOUT_DERIVATIVE, Slope
from lab.text import with_minus

# Kinds of slope that cannot confirm a gradient -> how the report describes their elements.
REMARKABLE: Mapping[tuple[str, ...], str] = {
    WITHOUT_DERIVATIVE: "without a derivative",
    ("rounded",): "whose slope rounding hides",
    ("small",): "that are too small to be judged",
}
UNJUDGED = ("rounded", "small")  # kinds of slope that prove nothing, but contradict nothing either
Outcome = Literal["passed", "failed", "not judged"]
MARKS: Mapping[Outcome, str] = {"passed": "✓ passes", "failed": "✗ fails", "not judged": "– not judged"}


@dataclass(frozen=True)
class InputResult:
    """The check of one input.

    analytic  the gradient, in the input's shape unless the engine is wrong; None when none arrived
    slopes    the finding for each element, in reading order
    problem   a fault other than a wrong number (no gradient, wrong shape, wrong dtype), or ""
    """

    name: Hashable
    shape: tuple[int, ...]
    dtype: np.dtype
    analytic: np.ndarray | None
    slopes: tuple[Slope, ...]
    problem: str

    @property
    def numerical(self) -> np.ndarray:
        """The central difference for each element, in the input's shape."""
        return np.array([slope.numerical for slope in self.slopes], float).reshape(self.shape)

    @cached_property
    def passed(self) -> bool:
        return not self.problem and all(
            slope.kind != "lost" and slope.error <= slope.tolerance for slope in self.slopes
        )

    @cached_property
    def unjudged(self) -> bool:
        """Whether no element proves anything: the slopes are too small, or hidden by rounding."""
        return all(slope.kind in UNJUDGED for slope in self.slopes)

    @cached_property
    def worst(self) -> Slope | None:
        """The element with the largest error relative to its tolerance (NaN first), without those that pass because
        there is nothing to compare. None if no others are left."""
        compared = (s for s in self.slopes if s.kind in ("smooth", "lost", "differs") or s.excess > 1)
        return max(compared, key=lambda slope: slope.excess, default=None)

    def element(self, index: tuple[int, ...]) -> Slope:
        """Return the finding for the element at an index."""
        return self.slopes[int(np.ravel_multi_index(index, self.shape)) if index else 0]


@dataclass(frozen=True)
class Report:
    """The outcome of `gradcheck`: truthy if every input passed, and some element was judged.

    `str(report)` is the verdict and a table.

    inputs: one InputResult per differentiable input, by name (or by position if the inputs had no names).
    notes: facts that a reader needs to judge the verdict (tolerance, precision). failure: why it could not run, or "".
    """

    inputs: Mapping[Hashable, InputResult]
    notes: tuple[str, ...]
    failure: str = ""

    @cached_property
    def outcome(self) -> Outcome:
        """Whether the gradients agree with the differences; "not judged" if no element has a slope that can tell."""
        if self.failure or not all(result.passed for result in self.inputs.values()):
            return "failed"
        unjudged = bool(self.slopes) and all(result.unjudged for result in self.inputs.values())
        return "not judged" if unjudged else "passed"

    @property
    def answer(self) -> bool | None:
        """True if passed, False if failed, None if not judged."""
        return {"passed": True, "failed": False}.get(self.outcome)

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"

    def __bool__(self) -> bool:
        return self.passed

    @cached_property
    def worst(self) -> Slope | None:
        """The worst element of all inputs, taken from a failed input if there is one."""
        found = [(not result.passed, result.worst) for result in self.inputs.values() if result.worst]
        return max(found, key=lambda one: (one[0], one[1].excess))[1] if found else None

    @property
    def slopes(self) -> list[Slope]:
        """The finding for each element, input by input."""
        return [slope for result in self.inputs.values() for slope in result.slopes]

    @property
    def kinks(self) -> list[Slope]:
        """The elements where the function has a value but no derivative."""
        return [slope for slope in self.slopes if slope.kind in WITHOUT_DERIVATIVE]

    @cached_property
    def verdict(self) -> str:
        """The result in words: whether backward() agrees with the differences, where it is furthest off, and where
        there is nothing to compare."""
        if self.failure:
            return f"The check failed: {self.failure}"
        for result in self.inputs.values():
            if result.problem:
                return f"The check failed: {result.problem}"
        return self._disagreement() if self.outcome == "failed" else self._agreement()

    def _disagreement(self) -> str:
        worst = self.worst
        assert worst is not None, "a failed input has a worst element"
        if worst.kind in (*NO_VALUE, "edge"):
            return f"There is nothing to compare. {worst.sentence} Move the input."
        if worst.kind in WITHOUT_DERIVATIVE or not np.isfinite(worst.used):
            return f"The check failed. {worst.sentence}"
        if worst.kind == "lost":
            return worst.sentence
        return (
            f"The gradients disagree, most at {worst.element}: backward() gives {with_minus(f'{worst.used:.6g}')}, "
            f"the differences give {with_minus(f'{worst.numerical:.6g}')}, "
            f"an error of {with_minus(f'{worst.error:.2g}')}."
        )

    def _agreement(self) -> str:
        if not self.slopes:
            return "The gradients agree: the inputs have no elements, and the shapes are right."
        sentences = []
        count = sum(slope.kind == "smooth" for slope in self.slopes)
        if count and self.worst:
            sentences.append(
                f"The gradients agree on {count} {'element' if count == 1 else 'elements'}; "
                f"the largest error is {with_minus(f'{self.worst.error:.2g}')}, at {self.worst.element}."
            )
        for kinds, what in REMARKABLE.items():
            found = [one for one in self.slopes if one.kind in kinds]
            sentences += [one.sentence for one in found[:1]]
            sentences += [f"Other elements {what}: {len(found) - 1}."] if len(found) > 1 else []
        return " ".join(sentences)

    def __str__(self) -> str:
        rows = [["input", "shape", "dtype", "worst element", "backward()", "numerical", "error", "verdict"]]
        for name, result in self.inputs.items():
            worst = result.worst
            numbers = [f"{worst.used:.8g}", f"{worst.numerical:.8g}", f"{worst.error:.2g}"] if worst else ["-"] * 3
            verdict = "WRONG" if not result.passed else "not judged" if result.slopes and result.unjudged else "ok"
            where = str(worst.element) if worst else "-"
            rows.append([input_name(name), str(result.shape), str(result.dtype), where, *numbers, verdict])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        remarks = [slope.sentence for slope in self.slopes if slope.kind not in ("smooth", "differs")]
        return "\n".join([self.verdict, "", *table, "", *self.notes, *remarks])


def input_name(name: Hashable) -> str:
    """Name an input for a reader: a number stands for an input without a name."""
    return name if isinstance(name, str) else f"input {name}"
