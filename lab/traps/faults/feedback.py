"""Explain why a guess was wrong, in a sentence or two, from numbers that were just computed.

`effect` and `curve` are for *Study a fault*, where the fault is known and the learner guesses its effect; `suspect` is
for *Spot the fault*, where the learner sees the effect and guesses the fault.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lab.text import brief, counted, listed, numeral
from lab.training.records import column
from lab.traps.faults.catalogue import BY_KEY
from lab.traps.faults.healthy_and_broken import (
    STEPS,
    ComparedPass,
    EngineComparison,
    LessonRun,
    differs,
    expression_pass,
    leaves,
    train_with,
    training_pass,
)
from lab.traps.faults.spot_the_fault import NOTHING, SuspectCase, gradient_checks, in_a_line

Gradients = Mapping[str, np.ndarray | None]

# ---------------------------------------------------------------- what a fault does to the gradients


def effect(comparison: EngineComparison, guess: str) -> str:
    """Explain why a guess from EFFECTS other than `comparison.effect` was wrong."""
    healthy, broken = comparison.healthy.gradients, comparison.broken.gradients
    there = {name: gradient for name, gradient in broken.items() if gradient is not None}
    count = counted(sum(gradient.size for gradient in there.values()), "element")
    if comparison.effect == "error":
        return f"No gradient can be trusted: the pass was stopped by {comparison.broken.error}"
    if guess == "error":
        return "No error was raised: the pass finished."
    if guess == "missing":
        return f"A gradient arrived at {listed(there)}."
    if guess == "shape":
        return f"Each gradient has the shape of its tensor: {listed(f'{n} {g.shape}' for n, g in there.items())}."
    if guess == "not finite":
        largest = max(np.abs(gradient).max() for gradient in there.values())
        return f"Of {count} none is nan or inf: the largest is {numeral(largest)} in size."
    if comparison.effect == "same":
        return f"{count} compared, of {listed(there)}: none differs by more than rounding."
    difference = _difference(healthy, broken)
    assert difference is not None, "the effect is not that all are the same"
    what, right, wrong = difference
    return f"{what[0].upper()}{what[1:]} is {wrong} in the broken engine and {right} in the healthy one."


def _difference(healthy: Gradients, broken: Gradients) -> tuple[str, str, str] | None:
    """Find the most drastic difference between two passes: what differs, and its value in each. None if none does."""
    found: list[tuple[tuple[int, float], str, str, str]] = []  # the smallest is the most drastic
    for name, one in healthy.items():
        other, what = broken[name], f"the gradient of {name}"
        if one is None or other is None:
            if one is not other:
                found.append(((0, 0.0), what, _shown(one), _shown(other)))
        elif one.shape != other.shape:
            found.append(((1, 0.0), what, f"of shape {one.shape}", f"of shape {other.shape}"))
        elif differs(one, other).any():
            with np.errstate(all="ignore"):
                apart = np.nan_to_num(np.abs(one - other) / (np.abs(one) + np.abs(other)), nan=2.0)
            at = np.unravel_index(int(np.argmax(np.where(differs(one, other), apart, -1.0))), one.shape)
            if at:
                what = f"element [{', '.join(map(str, at))}] of {what}"
            found.append(((2, -float(apart[at])), what, numeral(float(one[at])), numeral(float(other[at]))))
    return min(found)[1:] if found else None


def _shown(gradient: np.ndarray | None) -> str:
    return "None" if gradient is None else brief(gradient)


# ---------------------------------------------------------------- what it does to the curve


def curve(healthy: LessonRun, broken: LessonRun, truth: str, guess: str) -> str:
    """Explain why a guess from CURVES other than the truth was wrong."""
    if truth in ("error", "overflow"):
        return f"The broken run {_ended(broken)}."
    right, wrong = (column(run.records, "train_loss") for run in (healthy, broken))
    if guess == "error":
        return f"No error was raised: all {len(broken.completed)} epochs were completed."
    if guess == "overflow":
        return f"Each loss is a number: the largest is {numeral(wrong.max())}, after epoch {wrong.argmax() + 1}."
    apart = np.abs(wrong / right - 1)
    if truth == "same":
        return f"In no epoch do the losses differ by more than {numeral(100 * apart.max())} %."
    at = int(apart.argmax()) if guess == "same" else len(right) - 1
    here, there = numeral(wrong[at]), numeral(right[at])
    return f"After epoch {at + 1} the loss is {there} in the healthy run and {here} in the broken one."


# ---------------------------------------------------------------- why a suspect is not the culprit


def suspect(case: SuspectCase, run: LessonRun, accused: str) -> str:
    """Explain why a suspect of a case is not its culprit. run: the training run of the case.

    Both go through the same pass: the suspect's example, or the training up to its third step."""
    if accused == NOTHING:
        return _something_is_wrong(case, run)
    fault = BY_KEY[accused]
    if fault.example is None:
        theirs, here = (training_pass(setup, case.number) for setup in (fault.broken, case.setup))
        where = f"step {STEPS} of the training"
    else:
        given = leaves(fault, case.number)
        theirs, here = (
            expression_pass(fault.example, engine, given) for engine in (fault.broken.engine, case.setup.engine)
        )
        where = f"`{in_a_line(fault.example)}`"
        if all(value.ndim == 0 for value in given.values()):
            where += f" with {listed(f'{name} = {numeral(float(value))}' for name, value in given.items())}"
    what, expected, found = _pass_difference(theirs, here)
    return f"In {where}, {what} is {expected} with this fault and {found} in this run."


def _something_is_wrong(case: SuspectCase, run: LessonRun) -> str:
    assert case.fault is not None
    failed = sum(check.outcome == "failed" for check in gradient_checks(case))
    if failed:
        return f"{counted(failed, 'gradient check')} of this engine {'fails' if failed == 1 else 'fail'}."
    healthy = train_with(case.fault.healthy, case.number)
    return f"The same run without any fault {_ended(healthy)}; this one {_ended(run)}."


def _ended(run: LessonRun) -> str:
    done = len(run.completed)
    when = f"after {counted(done, 'epoch')}" if done else "before its first epoch is complete"
    if run.error:
        return f"stops with an error {when}"
    if done < len(run.records):
        return f"reaches a loss that is not a number {when}"
    return f"ends with a loss of {numeral(float(column(run.records, 'train_loss')[-1]))} {when}"


def _pass_difference(theirs: ComparedPass, here: ComparedPass) -> tuple[str, str, str]:
    """Find what differs between two passes, and its value in each: an error, a gradient, or the number of messages."""
    expected, found = (one.error.partition(":")[0] or "none" for one in (theirs, here))
    if expected != found:
        return "the error raised", expected, found
    if difference := _difference(theirs.gradients, here.gradients):
        return difference
    return "the number of messages", f"{theirs.messages:,}", f"{here.messages:,}"
