"""Show what a deep graph does to each design: a chain of doublings, and a long chain of additions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.designs.compare import DESIGNS, calls_of, matching

MAX_RUN = 14  # doublings that are run in the recursive design: each one more takes twice as long
MAX_DEPTH = 60  # doublings that can be chosen
ORDERED = ("model", "closures", "functions", "scalars")


@dataclass(frozen=True)
class Doublings:
    """The result of x = x + x, `depth` times: a graph of `depth` operations, in which each is used twice.

    calls      how often the rule for `+` ran in one backward pass, by design; counted in a run
    recursive  the same for the design without an order
    counted    whether `recursive` was counted in a run; otherwise it is computed, 2^depth - 1
    gradients  the different gradients of x; it should be 2^depth in all designs
    """

    depth: int
    calls: Mapping[str, int]
    recursive: int
    counted: bool
    gradients: tuple[float, ...]


def doublings(depth: int) -> Doublings:
    """Run the chain in each reverse-mode design. Raises ValueError if the depth is not from 1 to MAX_DEPTH."""
    if not 1 <= depth <= MAX_DEPTH:
        raise ValueError(f"The depth goes from 1 to {MAX_DEPTH}, and this one is {depth}.")
    counted = depth <= MAX_RUN
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
    """The result of x + 1 + 1 + 1..., `length` operations, in one design.

    gradient  the gradient of x, which is 1; None if the pass failed
    error     the type and message of the error that Python raised, or ""
    """

    length: int
    gradient: float | None
    error: str


def chain(key: str, length: int) -> AdditionChain:
    """Run a chain of additions and its backward pass in one design; dual numbers run it forward only."""
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
