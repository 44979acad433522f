"""What is remembered while a script runs: of graph nodes, of tensors without a graph, of leaves, of optimizers."""

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from lab.watch.sites import NOWHERE, Site

KEY = "lab.watch"  # in the metadata of a graph node
MAX_NODES = 5_000  # of a graph that is walked
VIEWS = frozenset(("View", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Permute", "T", "Slice", "Select"))
VIEWS |= {"Clone", "ToCopy", "Alias", "Expand", "UnsafeView", "AsStrided"}


@dataclass(slots=True)
class Made:
    """How a node of the graph was made: by which operation, where, in which turn.

    turn      how many backward passes had run
    chain     through how many turns, or rounds of a loop, the result was carried by one number added to another
    outer     the outermost line that handed in a tensor of an earlier turn
    module    where the layer of PyTorch that did it was made, if a container called it
    stage     of a difference of two shapes: 1 the difference, 2 its square or size
    """

    name: str
    site: Site
    turn: int
    chain: int = 0
    outer: Site = NOWHERE
    module: Site = NOWHERE
    stage: int = 0
    wide: Site = NOWHERE
    consumers: list[Site] = field(default_factory=list)
    depth: int = 0  # turns of the past that are behind it
    taken: Site = NOWHERE  # the autograd.grad() that freed it
    likely: bool = False  # a log-probability
    watcher: int = 0  # the number of the watcher that saw it
    passed: int = 0  # the number of the first backward pass that went through it
    scaled: bool = False  # by a GradScaler
    negative: bool = False  # times a negative number
    discount: bool = False  # times a number a little below 1
    gain: bool = False  # a log-probability times a gain
    at: int = 0  # how many nodes had been seen before


class Written(NamedTuple):
    """A write in place: the shape, the version that it made, the line, how the tensor was made, and its address."""

    shape: tuple[int, ...]
    version: int
    site: Site
    made: Made | None
    address: int


@dataclass(slots=True)
class CutRecord:
    """Where numbers left the graph: kind is detach, no_grad, number, numpy, step (argmax, comparison), update, or
    call, of a function that runs without gradients."""

    kind: str
    site: Site
    name: str
    leaves: frozenset[int] = frozenset()
    used: bool = False
    user: Site = NOWHERE  # the first line that computed with it
    last: int = 0  # how many cuts there had been when it was made the last time


@dataclass(slots=True)
class TensorOrigin:
    """A tensor without a graph: where it was made, and the cut that its numbers came through."""

    ref: Any
    site: Site
    cut: CutRecord | None = None
    name: str = ""
    column: Site = NOWHERE  # where a view of it made a column of a row


@dataclass
class Leaf:
    """A tensor that requires a gradient and was made, not computed."""

    ref: Any
    site: Site
    shape: tuple[int, ...]
    parameter: bool = False
    order: int = 0  # how many optimizers there were when it was made
    got: int = 0  # backward passes that reached it
    turn: int = -1  # the last of them
    written: bool = False  # since its last backward pass, by hand
    stepped: bool = False  # since its last backward pass, by an optimizer
    grad_version: int = 0  # of its gradient, at the last step of an optimizer
    stale: Site = NOWHERE  # the backward pass that added to the gradient of a step before
    init: Site = NOWHERE  # the last write to it before the first backward pass
    loaded: bool = False
    last_version: int = 0  # at the last backward pass
    changed: bool = False  # since the first backward pass
    moved: int = 0
    given: Any = None  # the gradient that autograd.grad() gave
    asked: bool = False  # autograd.grad() gave a gradient with a graph: it is a place, not something to learn


@dataclass(slots=True)
class MeasuredStep:
    """A step that was measured: by how much of their size it moved the parameters (jump), and by how much of itself
    the loss would fall if its slope stayed as it is (fall)."""

    turn: int
    change: float
    size: float
    along: float
    loss: float

    @property
    def jump(self) -> float:
        return (self.change / self.size) ** 0.5 if self.size else 0.0

    @property
    def fall(self) -> float:
        return -self.along / abs(self.loss) if self.loss else 0.0


@dataclass
class WatchedOptimizer:
    """An optimizer with what happened to it; `owned` are the ids of its parameters."""

    ref: Any
    site: Site
    kind: str
    order: int
    owned: set[int] = field(default_factory=set)
    steps: int = 0
    last_turn: int = 0
    moves: list["MeasuredStep"] = field(default_factory=list)  # the steps that were measured
    before: list[torch.Tensor] = field(default_factory=list)
    windows: list[tuple["Pass", int, bool, Site]] = field(default_factory=list)  # backward passes for each step
    last_step: Site = NOWHERE
    clock: int = 0  # of the watcher, at the last step
    cuts: int = 0  # that had been made before the last step
    late: int = 0  # backward passes of a loss that was computed before the last step


@dataclass
class Pass:
    """One place that calls backward(), with what came through it."""

    site: Site
    values: list[float] = field(default_factory=list)
    since_step: list[int] = field(default_factory=list)
    cleared: Site = NOWHERE  # the zero_grad() between the pass before and the last one from here
    turns: list[int] = field(default_factory=list)
    walked: int = 0
    leaves: list[Any] = field(default_factory=list)
    mean: bool = False
    cost: int = 0  # 1 if the loss is a known cost, -1 if it is one with a minus
    cost_site: Site = NOWHERE  # of the minus
    policy: Site = NOWHERE  # of a gain times log-probabilities that is made smaller
    likelihood: bool = False  # the loss is a sum or mean of log-probabilities, as they are


def node_of(tensor: torch.Tensor) -> Any:
    """The graph node of a tensor. PyTorch refuses to name that of a view that was made and written to under no_grad."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def made(node: Any) -> Made | None:
    """What is known of a graph node; None for one that was not seen, and for none."""
    found: Made | None = None if node is None else node.metadata.get(KEY)
    return found


def walk(node: Any) -> Iterator[Any]:
    """The nodes of a graph from its result on, breadth first, at most MAX_NODES."""
    seen, queue = {node}, [node]
    for current in queue:
        yield current
        for other, _ in current.next_functions:
            if other is not None and other not in seen and len(seen) < MAX_NODES:
                seen.add(other)
                queue.append(other)


def leaves_of(node: Any) -> list[torch.Tensor]:
    """The leaves that a graph ends in."""
    return [found.variable for found in walk(node) if hasattr(found, "variable")]


def kind(node: Any) -> str:
    """`Softmax` of SoftmaxBackward0."""
    return str(node.name()).split("Backward")[0].rsplit("::", 1)[-1]


def before_views(node: Any) -> Any:
    """The first node on the way back that does more than change the shape."""
    while node is not None and kind(node) in VIEWS and node.next_functions:
        node = node.next_functions[0][0]
    return node


def weak(tensor: torch.Tensor, gone: Any = None) -> Any:
    return weakref.ref(tensor, gone)


def freed(result: torch.Tensor) -> bool:
    """True if a backward pass has gone through the graph behind a result, and given back what it had kept."""
    for count, node in enumerate(walk(result.grad_fn)):
        for name in dir(node):
            if name.startswith("_saved_"):
                try:
                    getattr(node, name)
                except RuntimeError:
                    return True
        if count > 50:
            break
    entry = made(result.grad_fn)
    return entry is not None and entry.passed > 0
