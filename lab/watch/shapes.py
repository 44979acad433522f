"""Find shapes that broadcast where a prediction should meet its own target: (N, 1) combined with (N,), and the like."""

import math

import torch
from torch import Tensor

from lab.watch.graph import kind, node_of, origin_of
from lab.watch.records import NodeOrigin
from lab.watch.run import WatchedRun
from lab.watch.sites import Site

DIFFERENCES = frozenset(("sub", "__sub__", "rsub", "__rsub__", "subtract"))
PRODUCTS = frozenset(("mul", "__mul__", "__rmul__", "multiply", "div", "__truediv__", "__rtruediv__", "true_divide"))
DIMENSION_NODES = frozenset(("Unsqueeze", "View", "Reshape", "Slice", "Index", "UnsafeView"))  # may add a dimension
SUMS = frozenset(("mean", "sum"))
PAIR_LOSSES = frozenset(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"))


def check_shapes(run: WatchedRun, entry: NodeOrigin, operands: list[Tensor], result: Tensor) -> None:
    """Report a loss function of two shapes, or an (N, N) table of pairs that becomes a number.

    The stage of such a table is 1 for a plain difference, whose mean is the same, and 2 for anything else.
    """
    name = entry.name
    if name in PAIR_LOSSES:
        prediction, target = operands[:2]
        shape = tuple(torch.broadcast_shapes(prediction.shape, target.shape))  # type: ignore[no-untyped-call]
        if math.prod(shape) > prediction.numel():  # it repeats its predictions, of which PyTorch warns
            both = f"{tuple(prediction.shape)} and {tuple(target.shape)}"
            evidence = f"The loss broadcast the shapes {both} to {shape}: each prediction meets several targets."
            run.report(8, entry.site, evidence)
        return
    if len(operands) == 2 and (name in DIFFERENCES or name in PRODUCTS) and forms_all_pairs(operands, result):
        a, b = operands
        if compares_with_target(run, a, b, entry.site):
            entry.pairwise_stage, entry.pairwise_site = 1 if name in DIFFERENCES else 2, entry.site
            run.numbers.pairs[entry.site] = f"{tuple(a.shape)} with {tuple(b.shape)} gives {tuple(result.shape)}"
            return
    if result.dim() > 2:
        return
    for operand in operands:
        before = origin_of(node_of(operand))
        if before is None or not before.pairwise_stage:
            continue
        if name in SUMS and before.pairwise_stage == 2 and result.numel() == 1:
            evidence = f"{run.numbers.pairs[before.pairwise_site]} in this line: each row meets each element, not only "
            run.report(8, before.pairwise_site, evidence + "its own.")
        elif result.shape == operand.shape or (name in SUMS and result.dim() == 1):
            entry.pairwise_stage, entry.pairwise_site = 2, before.pairwise_site


def forms_all_pairs(operands: list[Tensor], result: Tensor) -> bool:
    """Return whether the shapes are (N, 1) and (N,), which give (N, N)."""
    a, b = operands
    if {a.dim(), b.dim()} != {1, 2} or result.dim() != 2:
        return False
    column, row = (a, b) if a.dim() == 2 else (b, a)
    return column.shape[1] == 1 and column.shape[0] == row.shape[0] > 1


def compares_with_target(run: WatchedRun, a: Tensor, b: Tensor, here: Site) -> bool:
    """Return whether a prediction meets a target: only one has a graph, and the column was not made in this line."""
    if (a.grad_fn is None) == (b.grad_fn is None) or a.requires_grad == b.requires_grad:
        return False
    column = a if a.dim() == 2 else b
    node = node_of(column)
    origin = run.origin(column)
    if node is None:
        return not column.requires_grad and (origin is None or origin.site.line != here.line)
    entry = origin_of(node)
    return entry is None or entry.site.line != here.line or kind(node) not in DIMENSION_NODES
