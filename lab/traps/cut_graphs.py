"""Show `detach()` and `no_grad()`: the same values forward, a cut graph, and the gradients that do not arrive."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.gradcheck import numerical_gradient
from lab.text import run_lines
from lab.trace.recording import Trace, record
from model import Tensor, no_grad

UNCUT = "h = a * b\nL = h * a\n"
CUTS = {
    "uncut": UNCUT,
    "detach": "h = a * b\nL = h.detach() * a  # the values of h, without its history\n",
    "no_grad": "with no_grad():\n    h = a * b  # computed, but not recorded\nL = h * a\n",
    "all": "with no_grad():\n    h = a * b\n    L = h * a\n",
}


@dataclass(frozen=True)
class CutDemo:
    """The result of one of CUTS: a forward and a backward pass.

    code        the lines that ran
    graph       the recorded passes; None if nothing was recorded
    missing     (from, to, why): the names between which no gradient flows because of the cut
    loss        L, the same for all of CUTS
    gradients   the gradients of a and b; None if none arrived
    error       the message of the error that backward() raised, or ""
    """

    code: str
    graph: Trace | None
    missing: list[tuple[str, str, str]]
    loss: float
    gradients: dict[str, float | None]
    error: str


def run_cut(name: str, a: float, b: float) -> CutDemo:
    """Run the lines of one of CUTS with the real engine, and the backward pass."""
    leaves = {"a": Tensor(a, label="a"), "b": Tensor(b, label="b")}
    h, loss = _forward(CUTS[name], **leaves)
    missing = _missing(h, loss)
    error = ""
    try:
        loss.backward()
    except RuntimeError as problem:
        error = str(problem)
    gradients = {name: None if leaf.grad is None else float(leaf.grad) for name, leaf in leaves.items()}
    # The graph is the one that the engine keeps, without what is behind a cut.
    graph = None if error else record(lambda a, b: _forward(CUTS[name], a, b)[1], {"a": a, "b": b})
    return CutDemo(CUTS[name], graph, missing, loss.item(), gradients, error)


def numerical(a: float, b: float) -> dict[str, float]:
    """Compute how L really changes with a and b, by differences: they use no graph, so no cut changes them."""
    return {
        "a": float(numerical_gradient(lambda x: _forward(UNCUT, x, Tensor(b))[1], np.array(a))),
        "b": float(numerical_gradient(lambda x: _forward(UNCUT, Tensor(a), x)[1], np.array(b))),
    }


def _forward(lines: str, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Run the lines, and return h and L with their labels."""
    names: dict[str, Any] = {"a": a, "b": b, "no_grad": no_grad}
    run_lines(lines, names)
    h, loss = names["h"], names["L"]
    h.label, loss.label = "h", "L"
    for child in loss.children:
        if child is not h and not child.requires_grad:
            child.label = "h.detach()"
    return h, loss


def _missing(h: Tensor, loss: Tensor) -> list[tuple[str, str, str]]:
    if any(child.label == "h.detach()" for child in loss.children):
        return [("h", "h.detach()", "values only")]
    operands = ((h, ("a", "b")), (loss, ("h", "a")))
    cut = [(result.label, names) for result, names in operands if not result.children]
    return [(name, result, "not recorded") for result, names in cut for name in names]
