"""The gradients of a trace next to numerical ones, as far as a budget of work reaches."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lab.gradcheck import numerical_gradient
from lab.trace.parts import Value
from lab.trace.recording import Trace
from model import Tensor, no_grad

BUDGET = 5_000_000  # cells computed for one table: about a fifth of a second
PER_NODE = 500  # cells that could be computed in the time that an operation takes besides its cells


@dataclass(frozen=True)
class Checked:
    """A leaf and its two gradients.

    analytic   None where no path leads from it to the result
    numerical  None where that would have been too much work
    agrees     None where one of the two is missing
    """

    name: str
    value: Value
    analytic: np.ndarray | None
    numerical: np.ndarray | None

    @property
    def agrees(self) -> bool | None:
        if self.analytic is None or self.numerical is None:
            return None
        return bool(np.allclose(self.analytic, self.numerical, rtol=1e-5, atol=1e-7, equal_nan=True))


def check(trace: Trace, build: Callable[..., Tensor], budget: int = BUDGET) -> tuple[list[Checked], str]:
    """Each leaf's gradient beside a numerical one, in the order of the leaves; and a sentence about those that were
    left out, or "".

    build   the function that was recorded; where no backward pass has started, there is nothing to check
    budget  in cells computed. One element of a leaf takes two evaluations of the whole, whatever else is small
    """
    upstream = next((event["grad"] for event in trace.events if event["kind"] == "seed"), None)
    if upstream is None:
        return [], ""
    leaves = {node["label"]: node["value"] for node in trace.nodes[: len(trace.gradients)]}
    work = sum(PER_NODE + np.size(node["value"]) for node in trace.nodes)  # of one evaluation
    rows = []
    for name, value in leaves.items():
        numerical, cost = None, 2 * np.size(value) * work
        if cost <= budget:
            budget -= cost
            numerical = _numerical(build, leaves, name, np.asarray(upstream))
        rows.append(Checked(name, value, trace.gradients[name], numerical))
    left_out = ", ".join(row.name for row in rows if row.numerical is None)
    sentence = f"Not checked numerically, because it would take too long: {left_out}. Smaller arrays can be checked."
    return rows, sentence if left_out else ""


def _numerical(build: Callable[..., Tensor], leaves: dict[str, Value], name: str, upstream: np.ndarray) -> np.ndarray:
    others = {other: Tensor(value) for other, value in leaves.items() if other != name}
    with no_grad(), np.errstate(all="ignore"):
        return numerical_gradient(
            lambda moved: (build(**others, **{name: moved}) * upstream).sum(), Tensor(leaves[name])
        )
