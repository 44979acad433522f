"""Find steps that are too long or go up, from their lengths, their directions and the losses."""

import math
from collections.abc import Sequence
from statistics import median

import torch
from torch import Tensor

from lab.watch import advice
from lab.watch.graph import VIEWS, GraphNode, kind, origin_of
from lab.watch.records import MIN_ITERATIONS, MeasuredStep, WatchedOptimizer
from lab.watch.run import WatchedRun
from lab.watch.sites import NOWHERE, Site, site_of_argument
from lab.watch.training_events import Act

MIN_VALUES = 5  # losses
MAX_SAMPLE = 8_192  # numbers of a tensor that are measured, roughly
LONG_STEP = 0.3  # as a fraction of the parameters' norm
REPLACING_STEP = 1.0  # as a fraction of the parameters' norm: little of them is left
MIN_OVERSHOOT_FALL = 0.5  # of the loss, in the longest step: below it no step overshoots a valley
COSTS = frozenset(("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "NllLoss", "NllLoss2D", "BinaryCrossEntropy"))
COSTS |= {"BinaryCrossEntropyWithLogits"}


def measure_step(run: WatchedRun, opt: WatchedOptimizer, parameters: Sequence[Tensor]) -> None:
    """Record how far a step moved the parameters, compared with their values before it."""
    change = size = along = 0.0
    for tensor, before in zip(parameters, opt.values_before, strict=True):
        share = tensor.numel() / max(1, before.numel())
        moved = sample(tensor) - before
        size += share * float(torch.dot(before, before).real)
        change += share * float(torch.dot(moved, moved).real)
        if tensor.grad is not None and not tensor.grad.is_sparse:
            along += share * float(torch.dot(moved, sample(tensor.grad)).real)
    opt.values_before = []
    last = run.events.last(Act.BACKWARD)
    loss = last.call.losses[-1] if last and last.call and last.call.losses else math.nan
    length, fall = (change / size) ** 0.5 if size else 0.0, -along / abs(loss) if loss else 0.0
    opt.measured_steps.append(MeasuredStep(length, along, fall, loss, largest_rate(opt), run.clock.iteration))


def largest_rate(opt: WatchedOptimizer) -> float:
    """Return the largest learning rate of an optimizer's groups; 0 if they have none."""
    return max((float(group.get("lr") or 0.0) for group in opt.groups), default=0.0)


def sample(tensor: Tensor) -> Tensor:
    """Return about MAX_SAMPLE evenly spaced numbers of a tensor; an odd stride meets every column."""
    return tensor.detach().flatten()[:: tensor.numel() // MAX_SAMPLE | 1]


def long_step_evidence(values: Sequence[float], moves: Sequence[MeasuredStep]) -> str:
    """Return the evidence that steps were too long for their losses, or ""."""
    if len(values) < MIN_VALUES or not moves:
        return ""
    # The largest loss up to the first long step: a single one can be tiny by chance
    first = next((index for index, move in enumerate(moves) if move.relative_length > LONG_STEP), len(moves))
    begin = max([values[0], *(move.loss for move in moves[: first + 1] if math.isfinite(move.loss))])
    end = sorted(values[-5:], key=lambda v: (math.isnan(v), v))[2]
    if not math.isfinite(begin):  # the data contain nan or inf
        return ""
    length = max(move.relative_length for move in moves)
    worse = not math.isfinite(end) or end > (10 if length < 1 else 2) * abs(begin) + 1e-6
    predicted = max((move.predicted_fall for move in moves if not math.isnan(move.predicted_fall)), default=math.inf)
    if predicted <= MIN_OVERSHOOT_FALL and math.isfinite(end):
        return ""
    took = f"changed the parameters by {length:.2g} times their size"
    if worse and length > LONG_STEP:
        return f"{took}, and the loss went from {begin:.3g} to {end:.3g}."
    late = median(values[-max(3, len(values) // 3) :])
    high = max(values[1:MIN_VALUES])
    if length > REPLACING_STEP and high > 2 * begin >= 0 and len(values) >= 2 * MIN_VALUES and not late < 0.9 * begin:
        return f"{took}: the loss went from {begin:.3g} to {high:.3g}, and only came back to {late:.3g}."
    return ""


def rate_line(opt: WatchedOptimizer) -> Site:
    """Return the line of the number that an optimizer was given as its learning rate, or that of the scheduler that had
    more than doubled it by the first long step."""
    rate = next((move.rate for move in opt.measured_steps if move.relative_length > LONG_STEP), 0.0)
    if opt.scheduler_site and rate > 2 * opt.given_rate:
        return opt.scheduler_site
    return site_of_argument(opt.site, "lr", 1)


def judge(run: WatchedRun) -> None:
    """Report steps that were too long, and costs that steps make larger."""
    check_direction(run)
    calls = list(run.training.calls.values())
    for opt in run.training.optimizers:
        own = [call for call in calls if any(id(tensor) in opt.parameter_ids for tensor in call.tensors)]
        evidence = long_step_evidence(own[0].losses, opt.measured_steps) if len(own) == 1 else ""
        if evidence:
            run.report(17, rate_line(opt), f"Steps of {opt.kind} {evidence}")
    for call in calls:
        steps = (run.events.last(Act.WRITE, of=run.leaf(tensor)) for tensor in call.tensors)
        step = next(filter(None, steps), None)
        if step and call.overflows and not any(opt.steps for opt in run.training.optimizers):
            evidence = f"Steps in this line took the loss from {call.losses[0]:.3g} to {call.losses[-1]:.3g}"
            how = (18, ", along the gradient.", advice.DOWNHILL) if step.found == "uphill" else (17, ".", "")
            run.report(how[0], step.site, evidence + how[1], how[2])


def check_direction(run: WatchedRun) -> None:
    """Report a cost that all steps make larger."""
    calls = list(run.training.calls.values())
    optimizers = [opt for opt in run.training.optimizers if opt.steps >= MIN_ITERATIONS]
    for call, opt in zip(calls, optimizers, strict=True) if len(calls) == len(optimizers) == 1 else ():
        losses, reached = call.losses, set(map(id, call.tensors))
        uphill = [move.along_gradient * call.cost_sign > 0 for move in opt.measured_steps]
        worse = len(losses) >= MIN_ITERATIONS and not call.cost_sign * (losses[-1] - losses[0]) < 0
        whole = len(reached) > 1 and reached <= opt.parameter_ids
        if len(uphill) >= MIN_ITERATIONS and all(uphill) and worse and whole:
            evidence = f"Each step makes the cost larger: the loss went from {losses[0]:.3g} to {losses[-1]:.3g}."
            run.report(18, call.minus_site or opt.site, evidence, advice.DOWNHILL)


def cost_sign(node: GraphNode) -> tuple[int, Site]:
    """Return 1 for a known cost (cross entropy, squared error), -1 for minus one, else 0, and the line of the minus."""
    sign, where = 1, NOWHERE
    while node is not None:
        name, entry = kind(node), origin_of(node)
        if name in COSTS or (name == "Pow" and getattr(node, "_saved_exponent", 0) == 2):
            return sign, where
        if name == "Neg":
            sign, where = -sign, entry.site if entry is not None else where
        elif name not in VIEWS | {"Mean", "Sum"}:
            break
        node = node.next_functions[0][0] if node.next_functions else None
    return 0, NOWHERE
