"""Read the graph of a loss: its sign, its terms, and whether it is a mean."""

from typing import NamedTuple

import torch

from lab.watch.records import VIEWS, CutRecord, GraphNode, kind, leaves_of, origin_of, seen_nodes, skip
from lab.watch.sites import NOWHERE, Site

COSTS = frozenset(("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "NllLoss", "NllLoss2D", "BinaryCrossEntropy"))
COSTS |= {"BinaryCrossEntropyWithLogits"}
TERMS = VIEWS | {"Add", "Sub", "Neg", "Mul", "Div"}  # what joins the terms of a loss
LOSING = frozenset(("step", "no_grad", "number", "numpy"))  # kinds of cuts that take a term its graph by mistake
MAX_TERMS = 12  # nodes at the end of a loss that are searched


class LossTerm(NamedTuple):
    """A term of a loss: ids of the leaves that it reaches, and the cuts that its operands came through."""

    leaves: frozenset[int]
    cuts: list[CutRecord]


def cost_sign(node: GraphNode) -> tuple[int, Site]:
    """Return 1 for a known cost (cross entropy, squared error), -1 for minus one, else 0, and the line of the minus."""
    sign, where = 1, NOWHERE
    while node is not None:
        name, entry = kind(node), origin_of(node)
        if name in COSTS or (name == "Pow" and getattr(node, "_saved_exponent", 0) == 2):
            return sign, where
        if name == "Neg":
            sign, where = -sign, entry.site if entry is not None else where
        elif name not in VIEWS | {"Mean", "Sum"}:
            break
        node = node.next_functions[0][0] if node.next_functions else None
    return 0, NOWHERE


def is_undivided_mean(loss: torch.Tensor) -> bool:
    """Return whether the loss is a mean over a batch, not divided by anything."""
    node: GraphNode = loss.grad_fn
    entry = origin_of(node)
    scaled = entry is not None and entry.name == "scale"  # by a GradScaler
    node = skip(node.next_functions[0][0] if scaled else node, {"Add"})
    return node is not None and (kind(node) == "Mean" or getattr(node, "_saved_reduction", 0) == 1)


def terms_of(loss: torch.Tensor) -> dict[Site, LossTerm]:
    """Return the terms of a loss by their lines; the line of the cut for one that has lost its graph."""
    terms: dict[Site, LossTerm] = {}
    queue: list[GraphNode] = [loss.grad_fn]
    for node in queue:
        entry = origin_of(node)
        behind = [other for other, _ in node.next_functions if other is not None and not hasattr(other, "variable")]
        if kind(node) in TERMS and behind and len(queue) < MAX_TERMS:
            queue += behind
            if entry is not None and entry.cut is not None and entry.cut.kind in LOSING:
                terms[entry.cut.site] = LossTerm(frozenset(), [entry.cut])
        elif entry is not None:
            cuts_behind = [other.cut for _, other in seen_nodes(node) if other.cut is not None]
            terms[entry.site] = LossTerm(frozenset(map(id, leaves_of(node))), cuts_behind)
    return terms
