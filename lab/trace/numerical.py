"""Check the gradients of a trace against finite differences, within a budget of work."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from lab.gradcheck import InputResult, compare
from lab.gradcheck.rounding import sensitivity
from lab.gradcheck.slopes import KnownGraph, Slope
from lab.trace.recording import Trace
from lab.trace.schema import Value
from model import Tensor, no_grad

TABLE_BUDGET = 5_000_000  # cells computed for one table: about a fifth of a second
SLIDER_BUDGET = 150_000  # cells computed while a slider moves: two or three milliseconds
NODE_OVERHEAD = 500  # the fixed time of one operation, as the number of cells computed in that time
EVALUATIONS = 4  # of the function for one element, usually: two step sizes on both sides


@dataclass(frozen=True)
class NumericalCheck:
    """A leaf with its gradient from the engine and its numerical gradient.

    analytic   the engine's gradient; None if no path leads from the leaf to the result
    numerical  central differences; None if they would have taken too much work
    slopes     the finding for each of its elements, in reading order; () if it has no gradient
    """

    name: str
    value: Value
    analytic: np.ndarray | None
    numerical: np.ndarray | None
    slopes: tuple[Slope, ...] = ()

    @property
    def agrees(self) -> bool | None:
        """Whether the two agree on all elements with a derivative. None if there is nothing to compare: a gradient is
        missing, no element has a derivative, or all are too small to be judged."""
        kinds = {slope.kind for slope in self.slopes} & {"smooth", "differs"}
        return "differs" not in kinds if kinds else None

    def agrees_with(self, gradient: np.ndarray | None) -> bool:
        """Return whether the engine's gradient is also another engine's, and contradicts no numerical one."""
        mine, other = (np.zeros(np.shape(self.value)) if one is None else one for one in (self.analytic, gradient))
        same = np.shape(mine) == np.shape(other) and np.allclose(mine, other, rtol=1e-5, atol=1e-7, equal_nan=True)
        return bool(same) and self.agrees is not False


def check(
    trace: Trace, build: Callable[..., Tensor], budget: int = TABLE_BUDGET, like_pytorch: bool = True
) -> tuple[list[NumericalCheck], str]:
    """Compare each leaf's gradient with a numerical one; also return a sentence that names unchecked leaves, or "".

    build   the function that was recorded. Without a backward pass there is nothing to check
    budget  in cells computed. Each element of a leaf takes four evaluations of the whole function
    like_pytorch  the gradients come from the lab's engine, whose conventions at kinks are PyTorch's
    """
    upstream = _upstream(trace)
    if upstream is None:
        return [], ""
    graph = _graph(trace, like_pytorch)
    rows = []
    for name, value in _leaves(trace).items():
        cost = EVALUATIONS * np.size(value) * _work(trace)
        found = None
        if cost <= budget:
            budget -= cost
            found = _compared(trace, build, name, upstream, graph)
        gradient = trace.gradients[name]
        numerical = None if found is None else found.numerical
        rows.append(
            NumericalCheck(name, value, gradient, numerical, found.slopes if found and gradient is not None else ())
        )
    left_out = ", ".join(row.name for row in rows if row.numerical is None)
    sentence = f"Not checked numerically, because it would take too long: {left_out}. Smaller arrays can be checked."
    return rows, sentence if left_out else ""


def slopes_of_numbers(trace: Trace, build: Callable[..., Tensor] | None, budget: int = SLIDER_BUDGET) -> list[Slope]:
    """Check the gradients of leaves that are single numbers, the largest gradients first, as far as the budget allows.

    The findings are in the order of the leaves; [] without a function, or if its result is not a single number."""
    upstream = _upstream(trace)
    affordable = budget // (EVALUATIONS * _work(trace))
    if build is None or upstream is None or upstream.ndim or trace.error or not affordable:
        return []
    numbers = {name: g for name, g in trace.gradients.items() if g is not None and np.ndim(g) == 0}
    sizes = {name: np.nan_to_num(abs(gradient), nan=np.inf) for name, gradient in numbers.items()}
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)
    graph = _graph(trace, like_pytorch=True)
    names = [name for name in sizes if name in largest[:affordable]]
    return [slope for name in names for slope in _compared(trace, build, name, upstream, graph).slopes]


def _upstream(trace: Trace) -> np.ndarray | None:
    """Return the gradient that the backward pass started from; None if it has not started."""
    return next((np.asarray(event["grad"]) for event in trace.events if event["kind"] == "seed"), None)


def _leaves(trace: Trace) -> dict[str, Value]:
    return {node["label"]: node["value"] for node in trace.nodes[: len(trace.gradients)]}


def _work(trace: Trace) -> int:
    """Estimate the work of one evaluation, in cells computed."""
    return sum(NODE_OVERHEAD + np.size(node["value"]) for node in trace.nodes)


def _compared(
    trace: Trace, build: Callable[..., Tensor], name: str, upstream: np.ndarray, graph: KnownGraph
) -> InputResult:
    others = {other: Tensor(value) for other, value in _leaves(trace).items() if other != name}

    def evaluate(moved: np.ndarray) -> np.ndarray:
        with no_grad():
            return build(**others, **{name: Tensor(moved)}).numpy()

    def rerun(kind: type[Tensor]) -> np.ndarray | None:
        leaves = {leaf: kind(value) for leaf, value in _leaves(trace).items()}
        build(**leaves).backward(upstream)
        return leaves[name].grad

    with np.errstate(all="ignore"):
        centre = np.asarray(trace.nodes[trace.output]["value"], float)
        point = np.array(_leaves(trace)[name], float)
        return compare(evaluate, name, point, trace.gradients[name], centre, upstream, graph, rerun=rerun)


def _graph(trace: Trace, like_pytorch: bool) -> KnownGraph:
    def operations() -> Iterable[tuple[str, list[np.ndarray], np.ndarray]]:
        for node in trace.nodes:
            if node["op"]:
                operands = [np.asarray(trace.nodes[child]["value"], float) for child in node["children"]]
                yield node["op"], operands, np.asarray(node["value"], float)

    arrived = {event["node"]: event["grad"] for event in trace.events if event["kind"] == "seed"}
    arrived |= {event["node"]: event["after"] for event in trace.events if event["kind"] == "accumulate"}
    inside = sensitivity((node["value"], arrived.get(at)) for at, node in enumerate(trace.nodes) if node["op"])
    return replace(KnownGraph.from_nodes(operations(), like_pytorch), inside=inside)
