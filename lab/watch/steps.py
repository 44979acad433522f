"""What is looked at when an optimizer, a scheduler or zero_grad() is called."""

import weakref
from functools import partial
from typing import Any

import torch

from lab.watch import backward, ending, rates
from lab.watch.sites import NOWHERE, Site, site, site_outside
from lab.watch.tracks import WatchedOptimizer, made, node_of

Tensor = torch.Tensor
MAX_JUMPS = 6  # steps of an optimizer that are measured, at first all and then one in EARLY


def before_step(watcher: Any, optimizer: Any, args: Any, kwargs: Any) -> None:
    """PyTorch calls this before each step of each optimizer."""
    track, here = track_of(watcher, optimizer), site(2)
    with torch._C.DisableTorchFunction():  # what is looked at is not the script's, and need not pass the mode
        check_before(watcher, track, optimizer, here)
    closure = args[1] if len(args) > 1 else kwargs.get("closure")
    track.steps += 1
    if not callable(closure):
        watcher.quiet += 1


def after_step(watcher: Any, optimizer: Any, args: Any, kwargs: Any) -> None:
    closure = args[1] if len(args) > 1 else kwargs.get("closure")
    if not callable(closure):
        watcher.quiet = max(0, watcher.quiet - 1)
    track, here = track_of(watcher, optimizer), site(2)
    with torch._C.DisableTorchFunction():
        check_after(watcher, track, optimizer, here)


def track_of(watcher: Any, optimizer: Any) -> WatchedOptimizer:
    known: list[WatchedOptimizer] = watcher.optimizers
    for track in known:
        if track.ref() is optimizer:
            return track
    ref = weakref.ref(optimizer, partial(dropped, watcher))
    track = WatchedOptimizer(ref, site_outside(optimizer), type(optimizer).__name__, len(known))
    known.append(track)
    owned(watcher, track, optimizer)
    return track


def dropped(watcher: Any, ref: Any) -> None:
    """The script lets go of an optimizer, at the end of a function: its parameters may be gone at the end."""
    for track in watcher.optimizers:
        if track.ref is ref:
            ending.never_reached(watcher, track)


def owned(watcher: Any, track: WatchedOptimizer, optimizer: Any) -> list[Tensor]:
    parameters = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    for tensor in parameters:
        watcher.leaf(tensor)
    if track.steps < 2:
        watcher.owned_sites.update(watcher.leaf(tensor).site for tensor in parameters)
    track.owned = set(map(id, parameters))
    return parameters


def clears(watcher: Any, owner: Any, here: Site) -> None:
    """zero_grad() of an optimizer or a module is called."""
    groups = getattr(owner, "param_groups", None)
    parameters = list(owner.parameters()) if groups is None else [p for group in groups for p in group["params"]]
    for tensor in parameters:
        watcher.cleared[id(tensor)] = here
    place = watcher.last_place
    if place is not None and place.since_step and any(tensor.grad is not None for tensor in parameters):
        count = watcher.lost_gradients.get(place.site, (0, here))[0]
        watcher.lost_gradients[place.site] = count + 1, here
    watcher.last_clear = watcher.turn, here


def scheduled(watcher: Any, scheduler: Any, here: Site) -> None:
    """The script calls the step of a scheduler."""
    track = next((track for track in watcher.optimizers if track.ref() is scheduler.optimizer), None)
    if track is not None and not track.steps:
        watcher.early_schedules.setdefault(track.order, here)


def scaled_loss(watcher: Any, result: Any) -> None:
    """A GradScaler gave a scaled loss."""
    watcher.scalers = True
    entry = made(node_of(result)) if isinstance(result, Tensor) else None
    if entry is not None:
        entry.scaled = True


def check_before(watcher: Any, track: WatchedOptimizer, optimizer: Any, here: Site) -> None:
    parameters = owned(watcher, track, optimizer)
    leaves = [watcher.leaf(tensor) for tensor in parameters]
    for tensor, leaf in zip(parameters, leaves, strict=True):
        if not leaf.got and tensor.grad is not None:  # by a pass whose graph was not walked
            leaf.got = 1
    received = [tensor for tensor, leaf in zip(parameters, leaves, strict=True) if leaf.turn > track.last_turn]
    received.sort(key=Tensor.numel)  # the first gradient that is not zero ends the search: begin with a small one
    if received and all(tensor.grad is None or not bool(tensor.grad.any()) for tensor in received):
        turn, cleared, forwarded = next(
            (watcher.zeroed[id(tensor)] for tensor in received if id(tensor) in watcher.zeroed), (-1, NOWHERE, False)
        )
        if turn == watcher.turn and cleared.line:
            where = here if forwarded or watcher.forwarded else cleared
            watcher.say(
                18,
                where,
                f"{track.kind}.step() in line {here.line} found no gradient: those of the last "
                f"backward() were cleared in line {cleared.line}.",
            )
    for place in watcher.passes.values():
        if place.since_step and any(id(ref()) in track.owned for ref in place.leaves):
            track.windows.append((place, len(place.since_step), place.mean, here))
            place.since_step.clear()
    if track.steps < MAX_JUMPS or not track.steps % backward.EARLY:
        track.before = [rates.sample(tensor).clone() for tensor in parameters[:20] if tensor.dim() >= 1]


def check_after(watcher: Any, track: WatchedOptimizer, optimizer: Any, here: Site) -> None:
    parameters = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    leaves = [watcher.leaf(tensor) for tensor in parameters]
    for tensor, leaf in zip(parameters, leaves, strict=True):
        if leaf.stale.line and tensor.grad is not None and leaf.turn > track.last_turn:
            backward.not_cleared(watcher, leaf.stale, tensor)
            break
    track.last_turn = watcher.turn
    track.last_step = here
    track.clock, track.cuts = watcher.clock, watcher.last_cut
    for tensor, leaf in zip(parameters, leaves, strict=True):
        leaf.stepped = True
        leaf.grad_version = tensor.grad._version if tensor.grad is not None else 0
    if track.before:
        rates.measure(watcher, track, [tensor for tensor in parameters[:20] if tensor.dim() >= 1])
