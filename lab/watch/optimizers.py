"""Record what optimizers do: which parameters they have, and what a step or zero_grad() meets with."""

import weakref
from functools import partial
from typing import Any

import torch

from lab.watch import event_order, learning_rates, stale_gradients, unreached_parameters, writes
from lab.watch.records import EARLY_ITERATIONS, Leaf, WatchedOptimizer, has_numbers, version_of
from lab.watch.run import WatchedRun
from lab.watch.sites import Site, site, site_of, user_frames
from lab.watch.training_events import Act

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
    opt.given_rate = learning_rates.largest_rate(opt)
    known.append(opt)
    update_parameters(run, opt, optimizer)
    return opt


def on_optimizer_deleted(run: WatchedRun, ref: "weakref.ref[Optimizer]") -> None:
    """Report unreached parameters when the script deletes an optimizer: later they may be gone too."""
    for opt in run.training.optimizers:
        if opt.ref is ref:
            unreached_parameters.report_never_reached(run, opt)


def parameters_of(optimizer: Optimizer) -> list[Tensor]:
    return [tensor for group in optimizer.param_groups for tensor in group["params"]]


def update_parameters(run: WatchedRun, opt: WatchedOptimizer, optimizer: Optimizer) -> list[tuple[Tensor, Leaf]]:
    """Return the parameters of an optimizer with their records."""
    learning = [(tensor, run.leaf(tensor)) for tensor in parameters_of(optimizer)]
    if opt.steps < 2:
        run.training.optimizer_parameter_sites.update(leaf.site for _, leaf in learning)
    opt.parameter_ids = frozenset(id(tensor) for tensor, _ in learning)
    return learning


def note_zero_grad(run: WatchedRun, owner: Any, here: Site) -> None:
    """Record that zero_grad() of an optimizer or a module is called."""
    parameters = parameters_of(owner) if isinstance(owner, Optimizer) else list(owner.parameters())
    found = "" if any(tensor.grad is not None for tensor in parameters) else "nothing"
    run.record(Act.ZERO_GRAD, here, map(id, parameters), found=found)


def before_step(run: WatchedRun, optimizer: Optimizer, *given: Any) -> None:
    """Report a step without gradients, and keep what it changes; a hook of PyTorch."""
    opt = watched_optimizer(run, optimizer)
    opt.learning = [(tensor, leaf, version_of(tensor)) for tensor, leaf in update_parameters(run, opt, optimizer)]
    for tensor, leaf, _ in opt.learning:
        if not leaf.backward_count and tensor.grad is not None:  # the graph of that pass was not searched
            leaf.backward_count = 1
    event_order.check_step(run, opt, run.events.passes_since_step(opt), site())
    if opt.steps < MAX_MEASURED_STEPS or not opt.steps % EARLY_ITERATIONS:
        opt.values_before = [learning_rates.sample(tensor).clone() for tensor in measured(opt)]
    opt.steps += 1


def measured(opt: WatchedOptimizer) -> list[Tensor]:
    return [tensor for tensor, *_ in opt.learning[:MAX_MEASURED_TENSORS] if has_numbers(tensor) and tensor.dim() >= 1]


def after_step(run: WatchedRun, optimizer: Optimizer, *given: Any) -> None:
    """Record a step, what it wrote and how long it was, and report a stale gradient that it used; a hook of PyTorch."""
    opt, here = watched_optimizer(run, optimizer), site()
    stale_gradients.check_step(run, opt, run.events.passes_since_step(opt))
    run.record(Act.STEP, here, opt.parameter_ids, by=opt)
    for tensor, leaf, version in opt.learning:
        if version_of(tensor) != version:
            writes.note_write(run, tensor, version, here)
        leaf.grad_version = tensor.grad._version if tensor.grad is not None else 0
    if opt.values_before:
        learning_rates.measure_step(run, opt, measured(opt))
    opt.learning = []
