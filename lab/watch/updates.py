"""Record what changes parameters and their gradients: optimizers, writes in place, and assignments to attributes."""

import weakref
from functools import partial

import torch
from torch import Tensor

from lab.watch import event_order, learning_rates, unreached_parameters
from lab.watch.onlooker import Args, Look
from lab.watch.records import InPlaceWrite, Leaf, WatchedOptimizer, address_of, has_numbers, storage_of, version_of
from lab.watch.run import WatchedRun
from lab.watch.sites import NOWHERE, Site, outer_frame, site, site_of, user_frames
from lab.watch.training_events import Act

Optimizer = torch.optim.Optimizer
MAX_MEASURED_STEPS = 6  # first steps of an optimizer that are measured; later, one in MEASURE_EVERY
MEASURE_EVERY = 10
MAX_MEASURED_TENSORS = 20
SCALINGS = frozenset(("div_", "mul_", "__itruediv__", "__imul__"))


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


def update_parameters(run: WatchedRun, opt: WatchedOptimizer, optimizer: Optimizer) -> list[tuple[Tensor, Leaf, int]]:
    """Return the parameters of an optimizer with their records and versions."""
    learning = [(tensor, run.leaf(tensor), version_of(tensor)) for tensor in parameters_of(optimizer)]
    opt.parameter_ids = frozenset(id(tensor) for tensor, *_ in learning)
    return learning


def note_zero_grad(run: WatchedRun, owner: Optimizer | torch.nn.Module, here: Site) -> None:
    """Record that zero_grad() of an optimizer or a module is called."""
    parameters = parameters_of(owner) if isinstance(owner, Optimizer) else list(owner.parameters())
    found = "" if any(tensor.grad is not None for tensor in parameters) else "nothing"
    run.record(Act.ZERO_GRAD, here, map(id, parameters), found=found)


def before_step(run: WatchedRun, optimizer: Optimizer, *given: object) -> None:
    """Report a step without gradients, and keep what it changes; a hook of PyTorch."""
    opt = watched_optimizer(run, optimizer)
    opt.learning = update_parameters(run, opt, optimizer)
    for tensor, leaf, _ in opt.learning:
        if not leaf.backward_count and tensor.grad is not None:  # the graph of that pass was not searched
            leaf.backward_count = 1
    event_order.check_step(run, opt, run.events.passes_since_step(opt), site())
    if opt.steps < MAX_MEASURED_STEPS or not opt.steps % MEASURE_EVERY:
        opt.values_before = [learning_rates.sample(tensor).clone() for tensor in measured(opt)]
    opt.steps += 1


def measured(opt: WatchedOptimizer) -> list[Tensor]:
    return [tensor for tensor, *_ in opt.learning[:MAX_MEASURED_TENSORS] if has_numbers(tensor) and tensor.dim() >= 1]


def after_step(run: WatchedRun, optimizer: Optimizer, *given: object) -> None:
    """Record a step, what it wrote and how long it was, and report a stale gradient that it used; a hook of PyTorch."""
    opt, here = watched_optimizer(run, optimizer), site()
    event_order.check_stale(run, opt, run.events.passes_since_step(opt))
    run.record(Act.STEP, here, opt.parameter_ids, opt=opt)
    for tensor, leaf, version in opt.learning:
        if tensor.grad is not None:  # also where it writes through `.data`, and the version stays
            note_write(run, tensor, version, here)
            leaf.changed = True
        leaf.grad_version = tensor.grad._version if tensor.grad is not None else 0
    if opt.values_before:
        learning_rates.measure_step(run, opt, measured(opt))
    opt.learning = []


def assign(run: WatchedRun, attribute: str, tensor: Tensor, value: object) -> Look | None:
    """Record what the assignment of an attribute of a tensor means for its gradient."""
    if attribute == "requires_grad":
        return look_at_request(run, tensor, bool(value))
    if attribute == "grad" and value is None and tensor.is_leaf:
        run.record(Act.CLEAR, site(), {id(tensor)})
    if attribute == "data" and isinstance(value, Tensor) and has_numbers(tensor) and has_numbers(value):
        replace_data(run, tensor, value)
    return None


def look_at_request(run: WatchedRun, tensor: Tensor, wanted: bool) -> Look:
    """Look at a setting of requires_grad; an integer tensor refuses it, which becomes a finding."""
    origin = run.origin(tensor)
    if not wanted:
        run.cuts.freeze_site = site()
    elif origin is not None and has_numbers(tensor) and tensor.numel() == 1:
        origin.forced_at = site()
        if origin.cut is not None:
            origin.cut.used = True
    for call in run.training.calls.values():
        call.walk_count = 0  # search the next graphs for leaves again: new ones may be reached from now on
    try:
        yield
    except RuntimeError:
        run.tensors.refused = NOWHERE if origin is None else origin.site
        raise


def note_write(run: WatchedRun, tensor: Tensor, before: int, here: Site) -> None:
    """Record that the script's line wrote to a tensor, which had version `before`."""
    run.tensors.writes.append(InPlaceWrite(storage_of(tensor), before, version_of(tensor), run.clock.nodes, here))


def write_in_place(run: WatchedRun, name: str, tensor: Tensor, given: Args) -> Look:
    """Look at an operation in place, and record the write."""
    if name == "requires_grad_":
        yield from look_at_request(run, tensor, not any(value is False for value in given))
        return
    here, tensors = site(), run.tensors
    leaf = tensors.leaves.get(tensors.leaf_ids.get(address_of(tensor), 0))
    version, slope = version_of(tensor), None if leaf is None else leaf.gradient
    before = None if slope is None or slope.is_sparse or slope.shape != tensor.shape else tensor.detach().clone()
    yield
    owners = leaves_with_gradient(run, tensor) if name == "zero_" or (name in SCALINGS and leaf is None) else []
    if owners and name == "zero_":
        run.record(Act.CLEAR, here, {id(leaf.ref()) for leaf in owners})
    elif owners:
        run.training.gradients_scaled |= outer_frame().f_code.co_filename == here.file
    if version_of(tensor) != version:
        note_write(run, tensor, version, here)
    if leaf is not None:
        along = None if before is None or slope is None else (tensor.detach() - before) * slope
        uphill = along is not None and float(along.sum().real) > 0
        after_write(run, leaf, tensor, here, name, "uphill" if uphill else "")


def leaves_with_gradient(run: WatchedRun, tensor: Tensor) -> list[Leaf]:
    """Return the leaves whose gradient is this very tensor."""
    return [leaf for leaf in run.tensors.leaves.copy().values() if leaf.gradient is tensor]


def after_write(run: WatchedRun, leaf: Leaf, tensor: Tensor, here: Site, name: str, found: str = "") -> None:
    """Record a write to a leaf: an initialisation before its first gradient, or a step by hand."""
    if not leaf.backward_count:
        leaf.init_site = here
        leaf.loaded = leaf.loaded or (name == "copy_" and tensor.shape == leaf.shape)  # not into a few of its rows
    else:
        leaf.changed = True
        run.record(Act.WRITE, here, {id(leaf.ref())}, found=found)


def replace_data(run: WatchedRun, tensor: Tensor, new: Tensor) -> None:
    """Record `w.data = ...` as a step by hand or an initialisation."""
    leaf, here = run.tensors.leaves.get(id(tensor)), site()
    note_write(run, new, version_of(new), here)
    if leaf is not None:
        after_write(run, leaf, tensor, here, "data")
        if address := address_of(new):
            run.tensors.leaf_ids[address] = id(tensor)
