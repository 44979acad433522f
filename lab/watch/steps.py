"""Inspect each call of an optimizer's step, a scheduler or zero_grad()."""

import inspect
import weakref
from functools import partial
from typing import Any

import torch

from lab.watch import backward, ending, rates, writes
from lab.watch.records import WatchedOptimizer, address_of, node_of, origin_of, version_of
from lab.watch.sites import NOWHERE, Site, is_library, line_of_list, outer_frame, site, site_outside_methods_of

Tensor = torch.Tensor
MAX_MEASURED_STEPS = 6  # first steps of an optimizer that are measured; later, one in EARLY_ITERATIONS


def before_step(watcher: Any, optimizer: Any, args: Any, kwargs: Any) -> None:
    """Inspect the gradients before an optimizer steps, and pause watching; a hook of PyTorch."""
    opt = watched_optimizer(watcher, optimizer)
    check_before(watcher, opt, optimizer, site())
    closure = args[1] if len(args) > 1 else kwargs.get("closure")
    opt.steps += 1
    if not callable(closure):
        watcher.steps.append(outer_frame())
        code = getattr(inspect.unwrap(type(optimizer).step), "__code__", None) if opt.steps <= 2 else None
        watcher.stepping = None if code is None or is_library(code.co_filename) else opt


def after_step(watcher: Any, optimizer: Any, args: Any, kwargs: Any) -> None:
    """Inspect the gradients after an optimizer stepped, and resume watching; a hook of PyTorch."""
    closure = args[1] if len(args) > 1 else kwargs.get("closure")
    if not callable(closure):
        del watcher.steps[-1:]
        watcher.stepping = None
    check_after(watcher, watched_optimizer(watcher, optimizer), optimizer, site())


def note_own_write(watcher: Any, opt: WatchedOptimizer, args: Any) -> None:
    """Note the line in which an optimizer that the script defines writes to a parameter."""
    dense = bool(args) and isinstance(args[0], Tensor) and args[0].layout == torch.strided
    if dense and watcher.leaf_ids.get(address_of(args[0])) in opt.parameter_ids:
        opt.write_site = site()


def watched_optimizer(watcher: Any, optimizer: Any) -> WatchedOptimizer:
    """Return the record of an optimizer; create it if there is none."""
    known: list[WatchedOptimizer] = watcher.optimizers
    for opt in known:
        if opt.ref() is optimizer:
            return opt
    ref = weakref.ref(optimizer, partial(watcher.guarded, on_optimizer_deleted, watcher))
    opt = WatchedOptimizer(ref, site_outside_methods_of(optimizer), type(optimizer).__name__, len(known))
    opt.given_rate = rates.largest_rate(opt)
    known.append(opt)
    update_parameters(watcher, opt, optimizer)
    return opt


def on_optimizer_deleted(watcher: Any, ref: Any) -> None:
    """Report unreached parameters when the script deletes an optimizer: later they may be gone too."""
    for opt in watcher.optimizers:
        if opt.ref is ref:
            ending.report_never_reached(watcher, opt)


def update_parameters(watcher: Any, opt: WatchedOptimizer, optimizer: Any) -> list[Tensor]:
    """Return the parameters of an optimizer, and update their records."""
    parameters = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    for tensor in parameters:
        watcher.leaf(tensor)
    if opt.steps < 2:
        watcher.optimizer_parameter_sites.update(watcher.leaf(tensor).site for tensor in parameters)
    opt.parameter_ids = set(map(id, parameters))
    return parameters


def note_zero_grad(watcher: Any, owner: Any, here: Site) -> None:
    """Record that zero_grad() of an optimizer or a module is called."""
    groups = getattr(owner, "param_groups", None)
    parameters = list(owner.parameters()) if groups is None else [p for group in groups for p in group["params"]]
    for tensor in parameters:
        watcher.zero_grad_sites[id(tensor)] = here
    call = watcher.last_call
    if call is not None and call.since_step and any(tensor.grad is not None for tensor in parameters):
        count = watcher.lost_gradients.get(call.site, (0, here))[0]
        watcher.lost_gradients[call.site] = count + 1, here
    watcher.last_zero_grad = watcher.iteration, here


def note_scheduler_step(watcher: Any, scheduler: Any, here: Site) -> None:
    """Record a scheduler's step that comes before its optimizer's first one."""
    opt = next((opt for opt in watcher.optimizers if opt.ref() is scheduler.optimizer), None)
    if opt is None:
        return
    opt.scheduler = weakref.ref(scheduler)
    if not opt.steps:
        watcher.early_scheduler_steps.setdefault(opt.index, here)


def note_scaled_loss(watcher: Any, result: Any) -> None:
    """Record that a GradScaler scaled a loss."""
    watcher.uses_grad_scaler = True
    entry = origin_of(node_of(result)) if isinstance(result, Tensor) else None
    if entry is not None:
        entry.loss_scaled = True


def check_before(watcher: Any, opt: WatchedOptimizer, optimizer: Any, here: Site) -> None:
    """Report a step without gradients, and record the backward passes since the last step."""
    parameters = update_parameters(watcher, opt, optimizer)
    leaves = [watcher.leaf(tensor) for tensor in parameters]
    for tensor, leaf in zip(parameters, leaves, strict=True):
        if not leaf.backward_count and tensor.grad is not None:  # the graph of that pass was not searched
            leaf.backward_count = 1
    received = [
        tensor for tensor, leaf in zip(parameters, leaves, strict=True) if leaf.last_backward > opt.last_iteration
    ]
    received.sort(key=Tensor.numel)  # the search ends at the first nonzero gradient: start with a small one
    if received and all(tensor.grad is None or not bool(tensor.grad.any()) for tensor in received):
        iteration, cleared, forwarded = next(
            (watcher.cleared_grads[id(tensor)] for tensor in received if id(tensor) in watcher.cleared_grads),
            (-1, NOWHERE, False),
        )
        if iteration == watcher.iteration and cleared.line:
            listed = line_of_list(here.file, cleared.line, here.line)
            cleared_at = Site(here.file, listed) if listed else cleared  # the list sets the order of the two calls
            where = here if forwarded or watcher.forward_ran else cleared_at
            evidence = f"{opt.kind}.step() in line {here.line} found no gradient: those of the last backward() were "
            evidence += f"cleared in line {cleared.line}."
            watcher.report(18, where, evidence)
    for call in watcher.backward_calls.values():
        if call.since_step and any(id(ref()) in opt.parameter_ids for ref in call.leaves):
            opt.windows.append((call, len(call.since_step), call.undivided_mean, here))
            call.since_step.clear()
    opt.versions_before = list(map(version_of, parameters))
    if opt.steps < MAX_MEASURED_STEPS or not opt.steps % backward.EARLY_ITERATIONS:
        opt.values_before = [rates.sample(tensor).clone() for tensor in parameters[:20] if tensor.dim() >= 1]


def check_after(watcher: Any, opt: WatchedOptimizer, optimizer: Any, here: Site) -> None:
    """Report a stale gradient that the step used, and update the records of the step."""
    parameters = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    leaves = [watcher.leaf(tensor) for tensor in parameters]
    for tensor, leaf in zip(parameters, leaves, strict=True):
        if leaf.stale_site.line and tensor.grad is not None and leaf.last_backward > opt.last_iteration:
            backward.report_stale_gradient(watcher, leaf.stale_site, tensor)
            break
    opt.last_iteration = watcher.iteration
    opt.last_step_site = here
    opt.node_count, opt.cuts_before_step = watcher.node_count, watcher.cut_count
    for tensor, before in zip(parameters, opt.versions_before, strict=False):
        if version_of(tensor) != before:
            writes.note_write(watcher, tensor, before, here)
    for tensor, leaf in zip(parameters, leaves, strict=True):
        leaf.stepped = True
        leaf.grad_version = tensor.grad._version if tensor.grad is not None else 0
    if opt.values_before:
        rates.measure_step(watcher, opt, [tensor for tensor in parameters[:20] if tensor.dim() >= 1])
