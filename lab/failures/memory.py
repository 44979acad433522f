"""Count the bytes that a loss keeps alive, node by node, before and after its backward pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.designs.compare import kept_by
from model import Tensor, topological_order


@dataclass(frozen=True)
class HeldNode:
    """A node of the graph that a loss holds.

    name   its label or operation
    bytes  of numbers that it keeps alive and no earlier node does
    """

    name: str
    shape: tuple[int, ...]
    bytes: int


@dataclass(frozen=True)
class Batch:
    """What the loss of one batch holds.

    nodes   in the order in which they were computed
    before  bytes that the loss holds before its backward pass, without the parameter
    after   the same after the backward pass
    """

    nodes: tuple[HeldNode, ...]
    before: int
    after: int


def batch(x: float) -> Batch:
    """Run one batch of the program that keeps graphs, and measure what its loss holds."""
    w = Tensor(np.ones(1000), label="w")
    loss = (w * x).tanh().mean()
    order = topological_order(loss)
    kept = [kept_by(order[:count]).numbers for count in range(len(order) + 1)]
    held = tuple(
        HeldNode(node.label or node.op or "a number", node.shape, kept[i + 1] - kept[i]) for i, node in enumerate(order)
    )
    own = kept_by(w).numbers
    before = kept_by(loss).numbers - own
    loss.backward()
    return Batch(held, before, kept_by(loss).numbers)
