"""Find stale gradients: backward() adds to a gradient that an earlier step has used, as nothing cleared it."""

import torch

from lab.watch import advice
from lab.watch.event_order import report_missing_call
from lab.watch.records import EARLY_ITERATIONS, Leaf, WatchedOptimizer
from lab.watch.run import WatchedRun
from lab.watch.sites import Site
from lab.watch.training_events import Act, TrainingEvent

Tensor = torch.Tensor
MAX_CHECKED = 4  # gradients of a pass that are looked at, after EARLY_ITERATIONS


def find_stale(run: WatchedRun, reached: list[Tensor], here: Site) -> dict[int, Site]:
    """Return the leaves whose gradient a step has used before this backward pass adds to it, each with the line of the
    first pass that did. Report such a sum that a step by hand used."""
    stale: dict[int, Site] = {}
    checked = 0
    for tensor in reached:
        if (gradient := tensor.grad) is None:
            continue
        key, leaf = id(tensor), run.leaf(tensor)
        used = run.events.last(Act.BACKWARD, Act.STEP, Act.WRITE, of=leaf)
        if used is None or not leaf.backward_count:
            continue
        before = used if used.act is Act.BACKWARD else run.events.last(Act.BACKWARD, of=leaf)
        since = before.stale.get(key) if before is not None else None
        if used is before:  # no step came between
            stale |= {key: since} if since else {}
            continue
        checked += 1
        moved = run.events.last(Act.BACKWARD, Act.STEP, of=leaf)
        stepped = moved is not None and moved.act is Act.STEP
        kept = not stepped or gradient._version == leaf.grad_version  # else scaled by hand
        early = checked <= MAX_CHECKED or run.clock.iteration <= EARLY_ITERATIONS
        if kept and early and bool(gradient.any()):
            stale[key] = here
            if since and not stepped and not any(key in opt.parameter_ids for opt in run.training.optimizers):
                report_stale_gradient(run, since, leaf)
    return stale


def check_step(run: WatchedRun, opt: WatchedOptimizer, passes: list[TrainingEvent]) -> None:
    """Report a stale gradient that a step has used; `passes` came since the step before, the last of them first."""
    if any(event.stale for event in passes):
        for tensor, leaf, _ in opt.learning:
            last = next((event for event in passes if id(tensor) in event.touched), None)
            if last is not None and id(tensor) in last.stale and tensor.grad is not None:
                report_stale_gradient(run, last.stale[id(tensor)], leaf)
                return


def report_stale_gradient(run: WatchedRun, where: Site, leaf: Leaf) -> None:
    """Report that a gradient was added to one that an earlier step had used."""
    recent = run.events.last(Act.ZERO_GRAD)
    recent = recent if recent is not None and recent.iteration >= run.clock.iteration - 1 else None
    cleared, shape = run.events.last(Act.ZERO_GRAD, of=leaf) or recent, leaf.shape
    if cleared is not None:
        evidence = f"zero_grad() here does not clear all that each backward() in line {where.line} reaches: a gradient "
        run.report(6, cleared.site, f"{evidence}of shape {shape} was added to that of the previous step.")
    elif not report_missing_call(run, 6, where.file, "zero_grad"):
        evidence = f"backward() here added to a gradient of shape {shape} that the last step had already used, and the "
        evidence += "next step used the sum: zero_grad() was not called in between."
        run.report(6, where, evidence, "" if run.training.optimizers else advice.CLEAR_BY_HAND)
