"""(N, 1) against (N,): every prediction meets every target."""

import math
from typing import Any

import torch

from lab.watch.sites import Site, handed_in
from lab.watch.tracks import Made, kind, made, node_of

Tensor = torch.Tensor
DIFFERENCES = frozenset(("sub", "__sub__", "rsub", "__rsub__", "subtract"))
PRODUCTS = frozenset(("mul", "__mul__", "__rmul__", "multiply", "div", "__truediv__", "__rtruediv__", "true_divide"))
EQUAL = frozenset(("eq", "ne", "__eq__", "__ne__"))
ADDING = frozenset(("Unsqueeze", "View", "Reshape", "Slice", "Index", "UnsafeView"))  # a dimension
ADDS_A_DIMENSION = frozenset(("view", "reshape", "unsqueeze"))
SUMS = frozenset(("mean", "sum"))
PAIR_LOSSES = frozenset(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"))


def shapes(watcher: Any, entry: Made, operands: list[Tensor], result: Tensor) -> None:
    """A loss function of two shapes, or a table of pairs that becomes a number.

    The stage of such a table is 1 for a difference as it is (its mean is the same), and 2 for anything else.
    """
    name = entry.name
    if name in PAIR_LOSSES:
        a, b = operands[:2]
        shape = tuple(torch.broadcast_shapes(a.shape, b.shape))  # type: ignore[no-untyped-call]
        if math.prod(shape) > max(a.numel(), b.numel()):
            column = column_line(watcher, a) or column_line(watcher, b) or entry.site
            watcher.say(
                8,
                column,
                f"The loss in line {entry.site.line} compared shapes {tuple(a.shape)} and "
                f"{tuple(b.shape)}: broadcast to {shape}, so every prediction meets every target.",
            )
        return
    if len(operands) == 2 and (name in DIFFERENCES or name in PRODUCTS) and pairs(operands, result):
        a, b = operands
        if one_sided(watcher, a, b, entry.site):
            entry.stage, entry.wide = 1 if name in DIFFERENCES else 2, entry.site
            if entry.site not in watcher.wide:
                giver = handed_in([a, b], [line_of(watcher, a), line_of(watcher, b)])
                watcher.wide[entry.site] = (tuple(a.shape), tuple(b.shape), giver)
            return
    if result.dim() > 2:
        return
    for operand in operands:
        before = made(node_of(operand))
        if before is None or not before.stage:
            continue
        if name in SUMS and before.stage == 2 and result.numel() == 1:
            a_shape, b_shape, giver = watcher.wide[before.wide]
            where = f"line {before.wide.line}, which got both here" if giver.line else "this line"
            evidence = f"{a_shape} with {b_shape} gives {tuple(operand.shape)} in {where}: each row meets each "
            evidence += "element, and not its own one alone."
            watcher.say(8, giver if giver.line else before.wide, evidence)
        elif result.shape == operand.shape or (name in SUMS and result.dim() == 1):
            entry.stage, entry.wide = 2, before.wide


def column_line(watcher: Any, tensor: Tensor) -> Site | None:
    """The line that made a column of the answers, or of the targets: its dimension of 1 is not that of a layer."""
    origin = watcher.origin(tensor)
    if origin is not None and origin.column.line:
        return origin.column  # type: ignore[no-any-return]
    entry = made(node_of(tensor))
    return entry.site if entry is not None and entry.name == "gather" and tensor.shape[-1] == 1 else None


def line_of(watcher: Any, tensor: Tensor) -> int:
    """The line in which a tensor was made; 0 where that is not known."""
    entry = made(node_of(tensor)) or watcher.origin(tensor)
    return 0 if entry is None else entry.site.line


def pairs(operands: list[Tensor], result: Tensor) -> bool:
    """True for (N, 1) with (N,), which give (N, N)."""
    a, b = operands
    if {a.dim(), b.dim()} != {1, 2} or result.dim() != 2:
        return False
    column, row = (a, b) if a.dim() == 2 else (b, a)
    return column.shape[1] == 1 and column.shape[0] == row.shape[0] > 1


def one_sided(watcher: Any, a: Tensor, b: Tensor, here: Site) -> bool:
    """True for a prediction against a target: only one has a graph, and the column was not made for this line."""
    if (a.grad_fn is None) == (b.grad_fn is None) or a.requires_grad == b.requires_grad:
        return False
    column = a if a.dim() == 2 else b
    node = node_of(column)
    origin = watcher.origin(column)
    if node is None:
        return not column.requires_grad and (origin is None or origin.site.line != here.line)
    entry = made(node)
    return entry is None or entry.site.line != here.line or kind(node) not in ADDING


def hits(watcher: Any, name: str, here: Site, operands: list[Tensor], result: Tensor) -> None:
    """Answers compared with labels: an accuracy over all pairs."""
    if name not in EQUAL or len(operands) != 2 or not pairs(operands, result):
        return
    column = operands[0] if operands[0].dim() == 2 else operands[1]
    origins = [watcher.origin(operand) for operand in operands]
    computed = [origin is not None and origin.cut is not None for origin in origins]
    if column._base is None and any(computed) and not all(computed):
        watcher.say(
            8,
            here,
            f"Answers of shape {tuple(operands[0].shape)} were compared with labels of shape "
            f"{tuple(operands[1].shape)}: all pairs, {tuple(result.shape)}.",
        )
