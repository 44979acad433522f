"""What is written: to tensors in place, to their attributes, and to parameters by hand."""

from typing import Any

import torch

from lab.watch import cuts, differences, errors, operations, rates
from lab.watch.sites import Site, is_library, outside, site
from lab.watch.tracks import KEY, Leaf, Made, Written, made, node_of

Tensor = torch.Tensor
MAX_UPHILL = 6


def assign(watcher: Any, func: Any, args: tuple[Any, ...]) -> Any:
    attribute, tensor = func.__self__.__name__, args[0]
    if attribute == "grad" and args[1] is None:
        watcher.zeroed[id(tensor)] = (watcher.turn, site(2), watcher.forwarded)
    if attribute == "requires_grad" and args[1]:
        cuts.forced(watcher, tensor)
        look_again(watcher)
        return asked(watcher, func, tensor, args, {})
    if attribute == "requires_grad":
        watcher.frozen = site(2)
    if attribute == "data":
        replaced(watcher, tensor, args[1])
    return func(*args)


def asked(watcher: Any, func: Any, tensor: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A tensor is asked for gradients, which one of integers refuses."""
    try:
        return func(*args, **kwargs)
    except RuntimeError as error:
        origin = watcher.origin(tensor)
        if origin is not None and not tensor.is_floating_point():
            told = f"The tensor made here has dtype {tensor.dtype}, and line {site(2).line} asks it for gradients."
            watcher.pending.append((error, errors.finding(22, origin.site, told)))
        raise


def look_again(watcher: Any) -> None:
    """Walk the next graphs: other leaves may be reached from now on."""
    for place in watcher.passes.values():
        place.walked = 0


def write(watcher: Any, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An operation in place."""
    tensor = args[0] if args else kwargs.get("tensor")  # as nn.init hands it on
    if not isinstance(tensor, Tensor):
        return func(*args, **kwargs)
    if name == "requires_grad_":
        cuts.forced(watcher, tensor)
        look_again(watcher)
        if False in (*args[1:], *kwargs.values()):
            watcher.frozen = site(2)
        return asked(watcher, func, tensor, args, kwargs)
    here = site(3)
    differences.look(watcher, name, args, here)
    leaf = watcher.leaves.get(watcher.storages.get(tensor.data_ptr(), 0))
    before = before_write(watcher, leaf, tensor, name)
    version = tensor._version
    node = node_of(tensor)
    source = made(node)
    result = func(*args, **kwargs)
    if name == "zero_":
        note_clear(watcher, tensor, here)
    elif name in ("div_", "mul_", "__itruediv__", "__imul__") and leaf is None and is_gradient(watcher, tensor):
        watcher.scaled = watcher.scaled or outside(2).f_code.co_filename == here.file
    watcher.writes.append(Written(tuple(tensor.shape), version + 1, here, source, tensor.data_ptr()))
    if watcher.raw.get(tensor.data_ptr()) == watcher.turn and tensor.grad_fn is None:
        watcher.raw_writes.append((tensor.data_ptr(), watcher.clock, here))
    if leaf is not None:
        after_write(watcher, leaf, tensor, before, here, name)
    after: Any = node_of(tensor)
    if after is not None and made(after) is None:
        entry = after.metadata[KEY] = Made(name, here, watcher.turn, watcher=watcher.number)
        if source is not None and (source.turn < watcher.turn or source.site == here):
            watcher.carried(entry, source, tensor, tensor)
        if name in ("relu_",):
            operations.operation(watcher, entry, [tensor], tensor, args, kwargs)
    return result


def note_clear(watcher: Any, tensor: Tensor, here: Site) -> None:
    for key, leaf in watcher.leaves.items():
        parameter = leaf.ref()
        if parameter is not None and parameter.grad is tensor:
            watcher.zeroed[key] = (watcher.turn, here, watcher.forwarded)


def is_gradient(watcher: Any, tensor: Tensor) -> bool:
    return any((found := leaf.ref()) is not None and found.grad is tensor for leaf in watcher.leaves.values())


def gradient_of(leaf: Leaf) -> Tensor | None:
    """The gradient that a leaf has, or that autograd.grad() gave for it."""
    parameter = leaf.ref()
    if parameter is not None and parameter.grad is not None:
        return parameter.grad  # type: ignore[no-any-return]
    return leaf.given() if leaf.given is not None else None


def before_write(watcher: Any, leaf: Leaf | None, tensor: Tensor, name: str) -> Tensor | None:
    """The values of a parameter before a step by hand; the first few only."""
    if leaf is None or leaf.moved >= MAX_UPHILL or name == "copy_" or is_library(outside(2).f_code.co_filename):
        return None
    gradient = gradient_of(leaf)
    return None if gradient is None or tensor.shape != gradient.shape else tensor.detach().clone()


def after_write(watcher: Any, leaf: Leaf, tensor: Tensor, before: Tensor | None, here: Site, name: str) -> None:
    if not leaf.got:
        leaf.init = here
        leaf.loaded = leaf.loaded or name == "copy_"
    leaf.written = leaf.got > 0
    if before is not None:
        moved_by_hand(watcher, leaf, tensor.detach() - before, here)


def replaced(watcher: Any, tensor: Tensor, new: Tensor) -> None:
    """`w.data = ...`"""
    leaf = watcher.leaves.get(id(tensor))
    if leaf is None:
        return
    if gradient_of(leaf) is not None and tensor.shape == new.shape and leaf.moved < MAX_UPHILL:
        moved_by_hand(watcher, leaf, new.detach() - tensor.detach(), site(3))
    if not leaf.got:
        leaf.init = site(3)
    leaf.written = True
    watcher.storages[new.data_ptr()] = id(tensor)


def moved_by_hand(watcher: Any, leaf: Leaf, change: Tensor, here: Site) -> None:
    leaf.moved += 1
    gradient = gradient_of(leaf)
    if gradient is not None:
        rates.measure_by_hand(watcher, here, leaf.ref(), change, float((change * gradient).sum()))
