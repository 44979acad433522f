"""Explain in *Spot the fault* why a suspect is not the culprit, from numbers that were just computed."""

from __future__ import annotations

import numpy as np

from lab.text import brief, counted, listed, numeral
from lab.training.records import column
from lab.traps.faults.catalogue import BY_KEY
from lab.traps.faults.healthy_and_broken import (
    STEPS,
    ComparedPass,
    LessonRun,
    differs,
    example_pass,
    leaves,
    train_with,
    training_pass,
)
from lab.traps.faults.spot_the_fault import NOTHING, SuspectCase, gradient_checks


def suspect(case: SuspectCase, run: LessonRun, accused: str) -> str:
    """Explain why a suspect of a case is not its culprit. run: the training run of the case.

    Both go through the same pass: the suspect's example, or the training up to its third step."""
    if accused == NOTHING:
        return _something_is_wrong(case, run)
    fault = BY_KEY[accused]
    if not fault.example:
        theirs, here = (training_pass(setup, case.number) for setup in (fault.broken, case.setup))
        where = f"step {STEPS} of the training"
    else:
        given = leaves(fault, case.number)
        theirs, here = (example_pass(fault, engine, case.number) for engine in (fault.broken.engine, case.setup.engine))
        where = f"`{fault.in_a_line}`"
        if all(value.ndim == 0 for value in given.values()):
            where += f" with {listed(f'{name} = {numeral(float(value))}' for name, value in given.items())}"
    what, expected, found = _difference(theirs, here)
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


def _difference(theirs: ComparedPass, here: ComparedPass) -> tuple[str, str, str]:
    """Find the most drastic difference between two passes: what differs, and its value in each."""
    expected, raised = (one.error.partition(":")[0] or "none" for one in (theirs, here))
    if expected != raised:
        return "the error raised", expected, raised
    found: list[tuple[tuple[int, float], str, str, str]] = []  # the smallest is the most drastic
    for name, one in theirs.gradients.items():
        other, what = here.gradients[name], f"the gradient of {name}"
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
    return min(found)[1:]


def _shown(gradient: np.ndarray | None) -> str:
    return "None" if gradient is None else brief(gradient)
