"""Inspect writes: to tensors in place, to their attributes, and to parameters by hand."""

from typing import Any

import torch

from lab.watch.onlooker import Look
from lab.watch.records import InPlaceWrite, Leaf, address_of, has_numbers, storage_of, version_of
from lab.watch.run import WatchedRun
from lab.watch.sites import Site, outer_frame, site
from lab.watch.training_events import Act

Tensor = torch.Tensor
SCALINGS = frozenset(("div_", "mul_", "__itruediv__", "__imul__"))


def assign(run: WatchedRun, attribute: str, tensor: Tensor, value: Any) -> Look | None:
    """Record what the assignment of an attribute of a tensor means for its gradient."""
    if attribute == "requires_grad":
        return look_at_request(run, tensor, bool(value))
    if attribute == "grad" and value is None and tensor.is_leaf:
        run.record(Act.CLEAR, site(), {id(tensor)})
    if attribute == "data" and has_numbers(tensor) and has_numbers(value):
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
    except RuntimeError as error:
        if origin is not None and not tensor.is_floating_point():
            evidence = f"The tensor made here has dtype {tensor.dtype}; line {site().line} requests gradients for it."
            run.pending[str(error)] = 22, origin.site, evidence, ""
        raise


def note_write(run: WatchedRun, tensor: Tensor, before: int, here: Site) -> None:
    """Record that the script's line wrote to a tensor, which had version `before`."""
    run.tensors.writes.append(InPlaceWrite(storage_of(tensor), before, version_of(tensor), run.clock.nodes, here))


def write_in_place(run: WatchedRun, name: str, tensor: Tensor, given: tuple[Any, ...]) -> Look:
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
    leaf = run.tensors.leaves.get(id(tensor))
    if leaf is not None:
        after_write(run, leaf, tensor, site(), "data")
        if address := address_of(new):
            run.tensors.leaf_ids[address] = id(tensor)
