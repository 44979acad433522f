"""Records the watcher keeps: of graph nodes, tensors without a graph, leaves, optimizers and backward() lines."""

import itertools
import math
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from lab.watch.sites import NOWHERE, Site

_DISPATCH, _PLAIN = Tensor.__torch_dispatch__, frozenset((Tensor, torch.nn.Parameter))
IN_PLACE = frozenset(["__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__"])
NUMBERS = itertools.count()  # of leaves, optimizers and events, in the order in which they were made
EARLY_ITERATIONS = 10  # in which everything is inspected
MIN_ITERATIONS = 3  # in which a failure must show, where one could be chance


def address_of(tensor: Tensor) -> int:
    """Return where the values of a tensor lie; 0 if it has none of its own: it is sparse, on "meta" or transformed."""
    return tensor.data_ptr() if has_numbers(tensor) and torch._C._has_storage(tensor) else 0


def storage_of(tensor: Tensor) -> int:
    """Return where the memory begins that a tensor shares with its views; 0 if it has none of its own."""
    return tensor.untyped_storage().data_ptr() if has_numbers(tensor) and torch._C._has_storage(tensor) else 0


def version_of(tensor: Tensor) -> int:
    """Return how often a tensor, or a view of it, was written to."""
    return 0 if tensor.is_inference() else tensor._version


def has_numbers(tensor: Tensor) -> bool:
    """Return whether own code can compute with a tensor: not if it is nested, on "meta", the parameter of a lazy layer,
    a zero of forward mode without memory, or of a class that defines what its operations do, such as a fake tensor."""
    own = type(tensor) not in _PLAIN and (type(tensor).__torch_dispatch__ is not _DISPATCH or is_lazy(tensor))
    return not (own or tensor.is_nested or tensor.is_meta or tensor._is_zerotensor())


def writes_in_place(name: str) -> bool:
    """Return whether an operation of this name writes to its first operand."""
    return (name.endswith("_") and not name.startswith("_")) or name in IN_PLACE


def packs_saved_tensors() -> bool:
    """Return whether hooks pack the tensors that graph nodes save, as in a checkpoint."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True) is not None


def is_batched(gradients: Sequence[Tensor | None] | None) -> bool:
    """Return whether an engine run gets a batch of gradients at once, which its hooks cannot read."""
    parts = (part for part in gradients or () if isinstance(part, Tensor))
    return any("Batched" in str(torch._C._dispatch_keys(part)) for part in parts)


@dataclass(slots=True)
class NodeOrigin:
    """The operation that made a node of the graph, with the line and the iteration in which it ran."""

    name: str
    site: Site
    iteration: int  # backward passes that had run before
    watcher_number: int  # WatchedRun.number of the run that saw it
    node_number: int  # Clock.nodes when it was made
    chain: int = 0  # iterations, or rounds of a loop, that the running sum behind this node spans
    carry_site: Site = NOWHERE  # outermost line that brought in a tensor of an earlier iteration
    module_site: Site = NOWHERE  # where the PyTorch layer was constructed, if a container called it
    pairwise_stage: int = 0  # of an (N, N) table from (N, 1) and (N,): 1 for their difference, 2 for its square or size
    pairwise_site: Site = NOWHERE  # the line that broadcast the two shapes
    past_iterations: int = 0  # number of earlier iterations whose graph this node still reaches
    sum_site: Site = NOWHERE  # the line of the running sum behind this node
    first_backward: int = 0  # number of the first backward pass through it; 0 for none
    cut: "CutRecord | None" = None  # that one of its operands came through
    saved: list["SavedTensor"] = field(default_factory=list)

    @property
    def place(self) -> Site:
        """Where the layer was constructed, if a container called it, else the line of the operation."""
        return self.module_site or self.site


class SavedTensor(NamedTuple):
    """A tensor that a graph node saved, as it was then."""

    shape: tuple[int, ...]
    version: int
    storage: int


class InPlaceWrite(NamedTuple):
    """A write in place that took a tensor's version from `before` to `after`; `nodes` is the clock's."""

    storage: int
    before: int
    after: int
    nodes: int
    site: Site


@dataclass(slots=True)
class CutRecord:
    """A line where values leave the graph. Its kind is a key of `cuts.CAUSES`."""

    kind: str
    site: Site
    name: str
    leaves: frozenset[int] = frozenset()
    used: bool = False
    count: int = 0  # cuts there
    last_number: int = 0  # Clock.cuts when this line last cut a graph
    operands: frozenset[int] = frozenset()  # numbers of the nodes of its operands
    bypassed: bool = False  # the result is added to one of them: a straight-through estimator


class LossTerm(NamedTuple):
    """A term of a loss: ids of the leaves that it reaches, and the cuts that its operands came through."""

    leaves: frozenset[int]
    cuts: list[CutRecord]


@dataclass(slots=True)
class TensorOrigin:
    """The line that made a tensor without a graph, and the cut that its values came through."""

    ref: "weakref.ref[Tensor]"
    site: Site
    cut: CutRecord | None = None
    name: str = ""
    forced_at: Site = NOWHERE  # the line that requested gradients for it


@dataclass
class Leaf:
    """A tensor that requires a gradient and is not the result of an operation."""

    ref: "weakref.ref[Tensor]"
    site: Site
    shape: tuple[int, ...]
    is_parameter: bool = False
    made_in_forward: bool = False  # while a module ran
    backward_count: int = 0  # backward passes that reached it
    grad_version: int = 0  # version of its gradient at the last optimizer step
    init_site: Site = NOWHERE  # the last write before its first backward pass
    loaded: bool = False  # copied from another tensor before its first backward pass
    version_at_backward: int = 0
    changed: bool = False  # since the first backward pass
    differentiated: bool = False  # by autograd.grad(): an input, not a parameter
    number: int = field(default_factory=NUMBERS.__next__)

    @property
    def gradient(self) -> Tensor | None:
        """Its gradient, if both are there."""
        tensor = self.ref()
        return None if tensor is None else tensor.grad


def shapes_of(leaves: Sequence[Leaf]) -> str:
    return ", ".join(str(leaf.shape) for leaf in leaves[:3]) + (", ..." if len(leaves) > 3 else "")


class MeasuredStep(NamedTuple):
    """The measured size of one step."""

    relative_length: float  # as a fraction of the parameters' norm
    along_gradient: float  # dot product of the change with the gradient
    predicted_fall: float  # how far the loss would fall along its tangent, as a fraction of the loss
    loss: float
    rate: float  # the learning rate
    iteration: int  # backward passes that had run


@dataclass(eq=False)
class WatchedOptimizer:
    """An optimizer of the script and its history."""

    ref: "weakref.ref[torch.optim.Optimizer]"
    site: Site
    kind: str
    parameter_ids: frozenset[int] = frozenset()
    steps: int = 0
    measured_steps: list["MeasuredStep"] = field(default_factory=list)
    values_before: list[Tensor] = field(default_factory=list)  # of the parameters, before the running step
    learning: list[tuple[Tensor, Leaf, int]] = field(default_factory=list)  # parameters and versions, in a step
    given_rate: float = 0.0  # the largest of its learning rates when it was made
    scheduler_site: Site = NOWHERE  # the line that made its scheduler
    number: int = field(default_factory=NUMBERS.__next__)

    @property
    def groups(self) -> list[dict[str, Any]]:
        """Its parameter groups; none if the script has deleted it."""
        optimizer = self.ref()
        return [] if optimizer is None else optimizer.param_groups


@dataclass(eq=False)
class BackwardCall:
    """A line that calls backward(), with the losses it was called on."""

    site: Site
    losses: list[float] = field(default_factory=list)
    walk_count: int = 0  # how often the graph was searched for leaves
    leaves: list["weakref.ref[Tensor]"] = field(default_factory=list)
    touched: frozenset[int] = frozenset()  # ids of these
    undivided_mean: bool = False
    in_step: bool = False  # an optimizer's step calls it, by a closure
    cost_sign: int = 0  # 1 if the loss is a known cost, -1 if it is minus one, 0 otherwise
    minus_site: Site = NOWHERE  # the line of that minus

    @property
    def overflows(self) -> bool:
        """Whether the loss overflowed after it climbed step by step: too long steps, not a bad value."""
        finite = [abs(value) for value in self.losses if math.isfinite(value)]
        return len(finite) >= 3 and finite[-1] > 1e6 * (finite[0] + 1) and finite[-1] > finite[-2] > finite[-3]

    def keep(self, leaves: Sequence[Tensor]) -> None:
        """Keep the leaves that the coming pass reaches."""
        self.leaves, self.touched = list(map(weakref.ref, leaves)), frozenset(map(id, leaves))

    @property
    def tensors(self) -> list[Tensor]:
        """The leaves that are still there."""
        return [tensor for ref in self.leaves if (tensor := ref()) is not None]
