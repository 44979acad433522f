"""Find (N, 1) combined with (N,), which pairs every prediction with every target."""

import math
from typing import Any

import torch

from lab.watch.records import NodeOrigin, kind, node_of, origin_of
from lab.watch.sites import Site, outermost_call_with

Tensor = torch.Tensor
DIFFERENCES = frozenset(("sub", "__sub__", "rsub", "__rsub__", "subtract"))
PRODUCTS = frozenset(("mul", "__mul__", "__rmul__", "multiply", "div", "__truediv__", "__rtruediv__", "true_divide"))
EQUALITIES = frozenset(("eq", "ne", "__eq__", "__ne__"))
DIMENSION_NODES = frozenset(("Unsqueeze", "View", "Reshape", "Slice", "Index", "UnsafeView"))  # may add a dimension
DIMENSION_FUNCTIONS = frozenset(("view", "reshape", "unsqueeze"))
SUMS = frozenset(("mean", "sum"))
PAIR_LOSSES = frozenset(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"))


def check_shapes(watcher: Any, entry: NodeOrigin, operands: list[Tensor], result: Tensor) -> None:
    """Report a loss function of two shapes, or an (N, N) table of pairs that becomes a number.

    The stage of such a table is 1 for a plain difference, whose mean is the same, and 2 for anything else.
    """
    name = entry.name
    if name in PAIR_LOSSES:
        a, b = operands[:2]
        shape = tuple(torch.broadcast_shapes(a.shape, b.shape))  # type: ignore[no-untyped-call]
        if math.prod(shape) > max(a.numel(), b.numel()):
            column = column_site(watcher, a) or column_site(watcher, b) or entry.site
            evidence = f"The loss in line {entry.site.line} compared shapes {tuple(a.shape)} and {tuple(b.shape)}: "
            evidence += f"broadcast to {shape}, so every prediction meets every target."
            watcher.report(8, column, evidence)
        return
    if len(operands) == 2 and (name in DIFFERENCES or name in PRODUCTS) and forms_all_pairs(operands, result):
        a, b = operands
        if compares_with_target(watcher, a, b, entry.site):
            entry.pairwise_stage, entry.pairwise_site = 1 if name in DIFFERENCES else 2, entry.site
            if entry.site not in watcher.pairwise_shapes:
                passed_at = outermost_call_with([a, b], [line_of(watcher, a), line_of(watcher, b)])
                watcher.pairwise_shapes[entry.site] = (tuple(a.shape), tuple(b.shape), passed_at)
            return
    if result.dim() > 2:
        return
    for operand in operands:
        before = origin_of(node_of(operand))
        if before is None or not before.pairwise_stage:
            continue
        if name in SUMS and before.pairwise_stage == 2 and result.numel() == 1:
            a_shape, b_shape, passed_at = watcher.pairwise_shapes[before.pairwise_site]
            where = f"line {before.pairwise_site.line}, which got both here" if passed_at.line else "this line"
            evidence = f"{a_shape} with {b_shape} gives {tuple(operand.shape)} in {where}: each row meets each "
            evidence += "element, not only its own."
            watcher.report(8, passed_at if passed_at.line else before.pairwise_site, evidence)
        elif result.shape == operand.shape or (name in SUMS and result.dim() == 1):
            entry.pairwise_stage, entry.pairwise_site = 2, before.pairwise_site


def column_site(watcher: Any, tensor: Tensor) -> Site | None:
    """Return the line that made a column of predictions or targets, or None; layers also end in a dimension of 1."""
    origin = watcher.origin(tensor)
    if origin is not None and origin.column_site.line:
        return origin.column_site  # type: ignore[no-any-return]
    entry = origin_of(node_of(tensor))
    return entry.site if entry is not None and entry.name == "gather" and tensor.shape[-1] == 1 else None


def line_of(watcher: Any, tensor: Tensor) -> int:
    """Return the line in which a tensor was made; 0 if unknown."""
    entry = origin_of(node_of(tensor)) or watcher.origin(tensor)
    return 0 if entry is None else entry.site.line


def forms_all_pairs(operands: list[Tensor], result: Tensor) -> bool:
    """Tell whether the shapes are (N, 1) and (N,), which give (N, N)."""
    a, b = operands
    if {a.dim(), b.dim()} != {1, 2} or result.dim() != 2:
        return False
    column, row = (a, b) if a.dim() == 2 else (b, a)
    return column.shape[1] == 1 and column.shape[0] == row.shape[0] > 1


def compares_with_target(watcher: Any, a: Tensor, b: Tensor, here: Site) -> bool:
    """Tell whether a prediction meets a target: only one has a graph, and the column was not made in this line."""
    if (a.grad_fn is None) == (b.grad_fn is None) or a.requires_grad == b.requires_grad:
        return False
    column = a if a.dim() == 2 else b
    node = node_of(column)
    origin = watcher.origin(column)
    if node is None:
        return not column.requires_grad and (origin is None or origin.site.line != here.line)
    entry = origin_of(node)
    return entry is None or entry.site.line != here.line or kind(node) not in DIMENSION_NODES


def check_accuracy(watcher: Any, name: str, here: Site, operands: list[Tensor], result: Tensor) -> None:
    """Report an accuracy over all pairs: predicted classes compared with labels of another shape."""
    if name not in EQUALITIES or len(operands) != 2 or not forms_all_pairs(operands, result):
        return
    column = operands[0] if operands[0].dim() == 2 else operands[1]
    origins = [watcher.origin(operand) for operand in operands]
    computed = [origin is not None and origin.cut is not None for origin in origins]
    if column._base is None and any(computed) and not all(computed):
        evidence = f"Predictions of shape {tuple(operands[0].shape)} were compared with labels of shape "
        evidence += f"{tuple(operands[1].shape)}: all pairs, {tuple(result.shape)}."
        watcher.report(8, here, evidence)
