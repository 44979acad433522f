"""Explain why a guess was wrong, in a sentence or two, from numbers that were just computed.

`effect` and `curve` are for *Study a fault*, where the fault is known and the learner guesses its effect; `suspect` is
for *Spot the fault*, where the learner sees the effect and guesses the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from lab.text import brief, counted, listed, numeral
from lab.training.records import column
from lab.traps.faults.catalogue import BY_KEY, Fault
from lab.traps.faults.compare import (
    ComparedPass,
    EngineComparison,
    LessonRun,
    differs,
    expression_pass,
    leaves,
    train_with,
)
from lab.traps.faults.suspects import NOTHING, SuspectCase, TracedStep, gradient_checks, in_a_line, traced_step
from lab.traps.faults.training import LessonTrainer
from model import no_grad

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
    what, right, wrong = _difference(healthy, broken)
    return f"{what} is {wrong} in the broken engine and {right} in the healthy one."


def _difference(healthy: Gradients, broken: Gradients) -> tuple[str, str, str]:
    """Find the most drastic difference between two passes: what differs, and its value in each."""
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
    _, what, right, wrong = min(found)
    return what[0].upper() + what[1:], right, wrong


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
    """Explain why a suspect of a case is not its culprit. run: the training run of the case."""
    if accused == NOTHING:
        return _something_is_wrong(case, run)
    fault = BY_KEY[accused]
    if fault.kind == "engine":
        return _another_engine(case, fault)
    if fault.broken.loss is not fault.healthy.loss:
        return _another_loss(case, fault)
    if fault.broken.settings != fault.healthy.settings:
        return _other_settings(case, fault)
    return _another_optimizer(case, run, fault)


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


def _another_engine(case: SuspectCase, fault: Fault) -> str:
    """Compare the suspect's engine with that of the case, on the expression that reveals the suspect's fault."""
    assert fault.example is not None
    given = leaves(fault, case.number)
    theirs = expression_pass(fault.example, fault.broken.engine, given)
    here = expression_pass(fault.example, case.setup.engine, given)
    where = f"`{in_a_line(fault.example)}`"
    if all(value.ndim == 0 for value in given.values()):
        where += f" with {listed(f'{name} = {numeral(float(value))}' for name, value in given.items())}"
    what, expected, found = _pass_difference(theirs, here)
    return f"In {where}, this fault makes {what} {expected}. In the engine of this run it is {found}."


def _pass_difference(theirs: ComparedPass, here: ComparedPass) -> tuple[str, str, str]:
    if here.error:
        return "the pass", "stop with an error" if theirs.error else "finish", here.error.partition(":")[0]
    same = all(
        (one is other) if one is None or other is None else one.shape == other.shape and not differs(one, other).any()
        for one, other in ((gradient, here.gradients[name]) for name, gradient in theirs.gradients.items())
    )
    if same:
        return "the number of messages", f"{theirs.messages:,}", f"{here.messages:,}"
    what, expected, found = _difference(theirs.gradients, here.gradients)
    return what[0].lower() + what[1:], expected, found


def _another_loss(case: SuspectCase, fault: Fault) -> str:
    """Compare the suspect's loss with that of this run, on the outputs of the untrained network."""
    trainer = LessonTrainer(case.setup, case.number)
    rows = np.arange(trainer.config.batch_size)
    with no_grad(), np.errstate(all="ignore"):
        logits = trainer.model(trainer.dataset.train_x[rows])
        labels = trainer.dataset.train_y[rows]
        theirs, here = (loss(logits, labels).item() for loss in (fault.broken.loss, case.setup.loss))
    return (
        f"Of the first {len(rows)} samples and the untrained network, this fault's loss is {numeral(theirs)}; that of "
        f"this run is {numeral(here)}."
    )


def _other_settings(case: SuspectCase, fault: Fault) -> str:
    theirs, here = fault.broken.config(case.number), case.setup.config(case.number)
    if fault.key == "rate-too-high":
        return f"With this fault the learning rate is {theirs.lr:g}; in this run it is {here.lr:g}."
    weights = [layer.weight.numpy() for layer in LessonTrainer(case.setup, case.number).model.layers]
    count, others = sum(weight.size for weight in weights), sum(np.count_nonzero(weight) for weight in weights)
    return f"With this fault all {count} weights begin at 0; in this run {others} of them do not."


def _another_optimizer(case: SuspectCase, run: LessonRun, fault: Fault) -> str:
    """Compare the steps of the suspect's optimizer with the third step of this run."""
    rate, steps, error = traced_step(case)
    if error or not any(np.isfinite(step.gradient) and step.gradient > 0 for step in steps):
        return f"A run with this fault {_ended(train_with(fault.broken, case.number))}; this one {_ended(run)}."
    assert rate is not None  # each of these runs has a learning rate
    return OF_A_STEP[fault.key](rate, steps)


def _never_cleared(rate: float, steps: list[TracedStep]) -> str:
    cleared = next(step for step in steps if step.left_over == 0 and step.gradient > 0)
    return (
        "With this fault each parameter has a gradient left over after `zero_grad()`. In this run nothing is left over "
        f"at {cleared.parameter}."
    )


def _cleared_in_the_first_layer(rate: float, steps: list[TracedStep]) -> str:
    """Explain by a gradient left over in the first layer, or by none left over in the last one."""
    first, last = steps[0], steps[-1]
    if first.left_over:
        return (
            f"With this fault `zero_grad()` clears {first.parameter}. In this run a gradient with the norm "
            f"{numeral(first.left_over)} is left over there."
        )
    return (
        f"With this fault `zero_grad()` leaves the gradient of {last.parameter} as it was. In this run nothing is left "
        "over there."
    )


def _upward(rate: float, steps: list[TracedStep]) -> str:
    step = max(steps, key=lambda step: abs(step.slope))
    return (
        f"With this fault the third step adds to {step.parameter}: its first element, {numeral(step.before)}, has the "
        f"gradient {numeral(step.slope)} and would become {numeral(step.before + rate * step.slope)}. In this run it "
        f"became {numeral(step.after)}."
    )


OF_A_STEP: Mapping[str, Callable[[float, list[TracedStep]], str]] = MappingProxyType(
    {"forgot-zero-grad": _never_cleared, "zero-some": _cleared_in_the_first_layer, "sign-flipped": _upward}
)
