"""What the depth of a graph does to each design: the chain of doublings, and the long chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.designs.compare import DESIGNS, calls_of, matching

MOST_RUN = 14  # doublings that are really run in the recursive design: each one more takes twice as long
MOST = 60  # doublings that are asked for
ORDERED = ("model", "closures", "functions", "scalars")


@dataclass(frozen=True)
class Doublings:
    """x = x + x, `depth` times: a graph of `depth` operations, in which each is used twice.

    calls      of the rule for `+` in one backward pass, by design; each counted as it ran
    recursive  the same for the design without an order
    counted    whether `recursive` was counted in a run, too; else it is computed, 2^depth - 1
    gradients  of x, each that there was once: it should be 2^depth in all designs
    """

    depth: int
    calls: Mapping[str, int]
    recursive: int
    counted: bool
    gradients: tuple[float, ...]


def doublings(depth: int) -> Doublings:
    """Run the chain in each design that goes backward. ValueError: the depth is not from 1 to MOST."""
    if not 1 <= depth <= MOST:
        raise ValueError(f"The depth goes from 1 to {MOST}, and this one is {depth}.")
    counted = depth <= MOST_RUN
    calls, gradients = {}, set()
    for key in (*ORDERED, "recursive") if counted else ORDERED:
        design = DESIGNS[key]
        leaf = x = design.node(1.0)
        for _ in range(depth):
            x = x + x
        calls[key] = matching(calls_of(design.module, x.backward), design.rules)
        gradients.add(float(leaf.grad))
    recursive = calls.pop("recursive") if counted else 2**depth - 1
    return Doublings(depth, calls, recursive, counted, tuple(sorted(gradients)))


@dataclass(frozen=True)
class AdditionChain:
    """x + 1 + 1 + 1..., `length` operations, in one design.

    gradient  of x, which is 1; None where the pass did not arrive
    error     what Python raised, with its text, or ""
    """

    length: int
    gradient: float | None
    error: str


def chain(key: str, length: int) -> AdditionChain:
    """Go backward through a chain of operations in one design; dual numbers go forward through it."""
    design = DESIGNS[key]
    leaf = x = design.node(1.0) if key != "duals" else design.node(1.0, 1.0)
    for _ in range(length):
        x = x + 1.0
    if key == "duals":
        return AdditionChain(length, float(x.tangent), "")
    try:
        x.backward()
    except RecursionError as error:
        return AdditionChain(length, None, f"RecursionError: {error}")
    return AdditionChain(length, float(leaf.grad), "")
