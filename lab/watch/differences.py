"""A gradient that is compared, by hand, with finite differences in single precision."""

from typing import Any

import torch

from lab.watch.shapes import DIFFERENCES
from lab.watch.sites import Site, line_of_dtype, site
from lab.watch.tracks import made, node_of

Tensor = torch.Tensor
QUOTIENTS = frozenset(("div", "__truediv__", "true_divide"))
NUDGES = frozenset(("add", "sub", "__add__", "__sub__", "__iadd__", "__isub__", "add_", "sub_"))
COARSE = 1e-3  # a step of a check that single precision has digits for
TINY = 2.1e-4  # a step, or two of them, that single precision is too coarse for


def look(watcher: Any, name: str, args: Any, here: Site) -> None:
    """Notice a number moved by a tiny step, and a difference divided by one."""
    if len(args) < 2 or not isinstance(args[1], float) or not 0 < abs(args[1]) < TINY:
        return
    tensor = args[0]
    if not isinstance(tensor, Tensor) or tensor.dtype != torch.float32:
        return
    if name in QUOTIENTS and tensor.numel() == 1:
        entry = made(node_of(tensor))
        origin = watcher.origin(tensor)
        operation = entry.name if entry is not None else origin.name if origin is not None else ""
        if operation in DIFFERENCES:
            watcher.quotients += 1
            watcher.tiny = here, abs(args[1])
    elif name in NUDGES:
        down = (args[1] < 0) != ("sub" in name)
        watcher.nudges.setdefault(here.file, ([], []))[down].append(abs(args[1]))
        watcher.tiny = watcher.tiny if watcher.quotients else (here, abs(args[1]))


def compared_by_hand(watcher: Any) -> None:
    """Say that finite differences were taken of a tensor that has a gradient of its own to compare with."""
    both = any(up and down and min(up + down) * 2.1 > max(up + down) for up, down in watcher.nudges.values())
    single = [
        leaf
        for leaf in watcher.leaves.values()
        if (tensor := leaf.ref()) is not None and tensor.dtype == torch.float32 and (leaf.got or leaf.given)
    ]
    if (watcher.quotients >= 2 or both) and single and not any(track.steps for track in watcher.optimizers):
        at, step = watcher.tiny
        made_at = single[0].site
        where = Site(made_at.file, line_of_dtype(made_at.file, made_at.line))
        evidence = f"Finite differences with a tiny step ({step:.1g} in line {at.line}) were taken of numbers that "
        evidence += f"are float32, made in line {made_at.line}: rounding is larger than they are."
        watcher.say(23, where, evidence)


def checked(watcher: Any, check: Any, function: Any, inputs: Any, args: Any, kwargs: Any) -> Any:
    """A gradient check of the script; what it computes is not its own."""
    given = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    single = [
        t for t in given if isinstance(t, Tensor) and t.requires_grad and t.dtype in (torch.float32, torch.float16)
    ]
    here, passed = site(2), False
    step = kwargs.get("eps", args[0] if args else 1e-6)
    watcher.quiet += 1
    try:
        passed = check(function, inputs, *args, **kwargs)
    finally:
        watcher.quiet -= 1
        if single and not passed and step < COARSE:
            origin = watcher.origin(single[0])
            where = origin.site if origin is not None else here
            evidence = f"gradcheck in line {here.line} was given an input of {single[0].dtype}, and failed: for steps "
            evidence += f"of {step:.0e} single precision is too coarse."
            watcher.say(23, where, evidence)
    return passed
