"""Inspect each call of an optimizer's step, a scheduler or zero_grad()."""

import weakref
from functools import partial
from typing import Any

import torch

from lab.watch import backward, ending, rates, writes
from lab.watch.records import Leaf, WatchedOptimizer, has_numbers, version_of
from lab.watch.run import WatchedRun
from lab.watch.sites import NOWHERE, Site, site, site_of, user_frames

Tensor = torch.Tensor
Optimizer = torch.optim.Optimizer
MAX_MEASURED_STEPS = 6  # first steps of an optimizer that are measured; later, one in EARLY_ITERATIONS
MAX_MEASURED_TENSORS = 20


def watched_optimizer(run: WatchedRun, optimizer: Optimizer) -> WatchedOptimizer:
    """Return the record of an optimizer; create it if there is none."""
    known = run.training.optimizers
    for opt in known:
        if opt.ref() is optimizer:
            return opt
    ref = weakref.ref(optimizer, partial(run.guarded, on_optimizer_deleted, run))
    made = (frame for frame in user_frames() if frame.f_locals.get("self") is not optimizer)  # not its `super()`
    opt = WatchedOptimizer(ref, site_of(next(made, None)), type(optimizer).__name__)
    opt.given_rate = rates.largest_rate(opt)
    known.append(opt)
    update_parameters(run, opt, optimizer)
    return opt


def on_optimizer_deleted(run: WatchedRun, ref: "weakref.ref[Optimizer]") -> None:
    """Report unreached parameters when the script deletes an optimizer: later they may be gone too."""
    for opt in run.training.optimizers:
        if opt.ref is ref:
            ending.report_never_reached(run, opt)


def parameters_of(optimizer: Optimizer) -> list[Tensor]:
    return [tensor for group in optimizer.param_groups for tensor in group["params"]]


def update_parameters(run: WatchedRun, opt: WatchedOptimizer, optimizer: Optimizer) -> list[tuple[Tensor, Leaf]]:
    """Return the parameters of an optimizer with their records."""
    learning = [(tensor, run.leaf(tensor)) for tensor in parameters_of(optimizer)]
    if opt.steps < 2:
        run.training.optimizer_parameter_sites.update(leaf.site for _, leaf in learning)
    opt.parameter_ids = {id(tensor) for tensor, _ in learning}
    return learning


def note_zero_grad(run: WatchedRun, owner: Any, here: Site) -> None:
    """Record that zero_grad() of an optimizer or a module is called."""
    training = run.training
    parameters = parameters_of(owner) if isinstance(owner, Optimizer) else list(owner.parameters())
    for tensor in parameters:
        leaf = run.leaf(tensor)
        leaf.zero_grad_site = here
        if tensor.grad is not None:
            leaf.cleared = run.clock.iteration, here, run.clock.forward_ran
    for call in training.calls.values():
        for term in call.terms.values():
            term.waiting.difference_update(map(id, parameters))
    last = training.last_call
    if last is not None and any(tensor.grad is not None for tensor in parameters):
        last.since_step.clear()
    training.last_zero_grad = run.clock.iteration, here


def before_step(run: WatchedRun, optimizer: Optimizer, *_: Any) -> None:
    """Report a step without gradients, and record the backward passes since the last step; a hook of PyTorch."""
    opt, here = watched_optimizer(run, optimizer), site()
    opt.learning = update_parameters(run, opt, optimizer)
    opt.versions_before = [version_of(tensor) for tensor, _ in opt.learning]
    for tensor, leaf in opt.learning:
        if not leaf.backward_count and tensor.grad is not None:  # the graph of that pass was not searched
            leaf.backward_count = 1
    received = [tensor for tensor, leaf in opt.learning if leaf.last_backward > opt.last_iteration]
    received.sort(key=Tensor.numel)  # the search ends at the first nonzero gradient: start with a small one
    if received and all(tensor.grad is None or not bool(tensor.grad.any()) for tensor in received):
        report_cleared(run, opt, received, here)
    for call in run.training.calls.values():
        for term in call.terms.values():
            term.taught |= term.waiting & opt.parameter_ids
        if call.since_step and any(id(ref()) in opt.parameter_ids for ref in call.leaves):
            opt.windows.append((call, len(call.since_step), call.undivided_mean, here))
            call.since_step.clear()
    if opt.steps < MAX_MEASURED_STEPS or not opt.steps % backward.EARLY_ITERATIONS:
        opt.values_before = [rates.sample(tensor).clone() for tensor in measured(opt)]
    opt.steps += 1


def measured(opt: WatchedOptimizer) -> list[Tensor]:
    return [tensor for tensor, _ in opt.learning[:MAX_MEASURED_TENSORS] if has_numbers(tensor) and tensor.dim() >= 1]


def report_cleared(run: WatchedRun, opt: WatchedOptimizer, received: list[Tensor], here: Site) -> None:
    """Report a step whose gradients were cleared between the last backward pass and the step."""
    entries = (leaf.cleared for tensor in received if (leaf := run.leaf(tensor)).cleared[1].line)
    iteration, cleared, forwarded = next(entries, (-1, NOWHERE, False))
    if iteration == run.clock.iteration:
        where = here if forwarded or run.clock.forward_ran else cleared
        evidence = f"{opt.kind}.step() in line {here.line} found no gradient: those of the last backward() were "
        run.report(18, where, evidence + f"cleared in line {cleared.line}.")


def after_step(run: WatchedRun, optimizer: Optimizer, *_: Any) -> None:
    """Report a stale gradient that the step used, and update the records of the step; a hook of PyTorch."""
    opt, here = watched_optimizer(run, optimizer), site()
    used = (tensor for tensor, leaf in opt.learning if leaf.stale_site.line and leaf.last_backward > opt.last_iteration)
    stale = next((tensor for tensor in used if tensor.grad is not None), None)
    if stale is not None:
        backward.report_stale_gradient(run, run.leaf(stale).stale_site, stale)
    opt.last_iteration, opt.last_step_site = run.clock.iteration, here
    opt.nodes, opt.cuts_before_step = run.clock.nodes, run.clock.cuts
    for (tensor, leaf), before in zip(opt.learning, opt.versions_before, strict=False):
        if version_of(tensor) != before:
            writes.note_write(run, tensor, before, here)
        leaf.stepped = True
        leaf.grad_version = tensor.grad._version if tensor.grad is not None else 0
    if opt.values_before:
        rates.measure_step(run, opt, measured(opt))
    opt.learning = []
