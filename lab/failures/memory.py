"""What a loss keeps alive, node by node, and what lets it go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.designs.compare import kept_by
from model import Tensor, topological_order


@dataclass(frozen=True)
class Held:
    """A node that the loss of one batch holds: its operation or name, its shape, and the bytes of numbers that are kept
    because of it, and of no node before it."""

    name: str
    shape: tuple[int, ...]
    bytes: int


@dataclass(frozen=True)
class Batch:
    """nodes: in the order in which they were computed. before, after: bytes that the loss alone holds, besides the
    parameter, before its backward pass and after it."""

    nodes: tuple[Held, ...]
    before: int
    after: int


def batch(x: float) -> Batch:
    """One batch of the program that keeps graphs, and what its loss holds."""
    w = Tensor(np.ones(1000), label="w")
    loss = (w * x).tanh().mean()
    order = topological_order(loss)
    kept = [kept_by(order[:count]).numbers for count in range(len(order) + 1)]
    held = tuple(
        Held(node.label or node.op or "a number", node.shape, kept[i + 1] - kept[i]) for i, node in enumerate(order)
    )
    own = kept_by(w).numbers
    before = kept_by(loss).numbers - own
    loss.backward()
    return Batch(held, before, kept_by(loss).numbers)
