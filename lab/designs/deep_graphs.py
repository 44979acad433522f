"""Run deep graphs in each design: a chain of doublings, and a long chain of additions."""

from __future__ import annotations

from typing import Any

from lab.designs.compare import DESIGNS, calls_of, matching

MAX_DOUBLINGS = 14  # that are run: in the recursive design, each one more takes twice as long


def doubling_calls(key: str, doublings: int) -> int:
    """Run x = x + x so many times in one design, where each result is used twice, and its backward pass. Return how
    often the pass called the rule for `+`."""
    design = DESIGNS[key]
    x = design.node(1.0)
    for _ in range(doublings):
        x = x + x
    return matching(calls_of(design.module, x.backward), design.rules)


def chain_gradient(key: str, length: int) -> float:
    """Run x + 1 + 1 + 1..., `length` operations, and its backward pass in one design, and return the gradient of x.

    Dual numbers run it forward only. Raises RecursionError if the design's functions call each other too deeply.
    """
    design = DESIGNS[key]
    leaf: Any = design.node(1.0, 1.0) if key == "duals" else design.node(1.0)
    x = leaf
    for _ in range(length):
        x = x + 1.0
    if key == "duals":
        return float(x.tangent)
    x.backward()
    return float(leaf.grad)
