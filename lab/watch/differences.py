"""Find gradients that are compared with finite differences in single precision."""

import torch
from torch import Tensor

from lab.watch.graph import node_of, origin_of
from lab.watch.onlooker import Args, Function, Kwargs, Look, arguments, tensors_in
from lab.watch.run import WatchedRun
from lab.watch.shapes import DIFFERENCES
from lab.watch.sites import Site, site, site_of_argument

QUOTIENTS = frozenset(("div", "__truediv__", "true_divide"))
MIN_SINGLE_STEP = 1e-3  # smallest step of a check for which float32 has enough digits
MAX_TINY_STEP = 2.1e-4  # one step or two: up to here float32 is too coarse


def note_finite_difference(run: WatchedRun, name: str, args: Args, here: Site) -> None:
    """Notice a difference in single precision that is divided by a tiny number."""
    if name not in QUOTIENTS or len(args) < 2 or not isinstance(args[0], Tensor) or not isinstance(args[1], float):
        return
    tensor, step = args[:2]
    if tensor.dtype == torch.float32 and tensor.numel() == 1 and 0 < abs(step) < MAX_TINY_STEP:
        made = origin_of(node_of(tensor)) or run.origin(tensor)
        if made is not None and made.name in DIFFERENCES:
            run.numbers.tiny_steps.append((here, abs(step)))


def judge(run: WatchedRun) -> None:
    """Report finite differences, computed by hand in float32, of a tensor that also has a gradient."""
    leaves = [leaf for leaf in run.tensors.leaves.copy().values() if leaf.backward_count or leaf.asked]
    single = [leaf for leaf in leaves if (tensor := leaf.ref()) is not None and tensor.dtype == torch.float32]
    if len(run.numbers.tiny_steps) == 2 and single and not any(opt.steps for opt in run.training.optimizers):
        at, step = run.numbers.tiny_steps[-1]
        evidence = f"The differences in line {at.line}, with a step of {step:.1g}, drown in the errors of float32."
        run.report(23, site_of_argument(single[0].site, "dtype"), evidence)


def look_at_gradcheck(run: WatchedRun, check: Function, args: Args, kwargs: Kwargs) -> Look:
    """Look at a gradient check of the script, which runs unwatched; report it if it failed for lack of precision."""
    bound, here, passed = arguments(check, args, kwargs), site(), False
    given, step = tensors_in((bound.get("inputs"),)), bound.get("eps", 0)
    single = [tensor for tensor in given if tensor.requires_grad and tensor.dtype in (torch.float32, torch.float16)]
    try:
        passed = yield
    finally:
        if single and not passed and step < MIN_SINGLE_STEP:
            origin = run.origin(single[0])
            where = here if origin is None else site_of_argument(origin.site, "dtype")
            evidence = f"gradcheck in line {here.line} failed: {single[0].dtype} is too coarse for steps of {step:.0e}."
            run.report(23, where, evidence)
