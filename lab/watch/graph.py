"""Read PyTorch's graph: the nodes behind a result, their kinds and leaves, and what is recorded of them."""

from collections.abc import Iterator, Set
from typing import Any, TypeAlias

from torch import Tensor

from lab.watch.records import NodeOrigin, has_numbers

GraphNode: TypeAlias = Any  # torch.autograd.graph.Node, whose `variable` and `_saved_...` no type declares
KEY = "lab.watch"  # under which a graph node's metadata holds its NodeOrigin
MAX_NODES = 5_000  # visited by one walk of a graph
VIEWS = frozenset(("View", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Permute", "T", "Slice", "Select"))
VIEWS |= {"Clone", "ToCopy", "Alias", "Expand", "UnsafeView", "AsStrided"}


def node_of(tensor: Tensor) -> GraphNode:
    """Return a tensor's graph node; None also for a view changed under no_grad, where PyTorch raises an error."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def origin_of(node: GraphNode) -> NodeOrigin | None:
    """Return the record of a graph node; None for a node the watcher did not see, and for None."""
    found: NodeOrigin | None = None if node is None else node.metadata.get(KEY)
    return found


def walk(*roots: GraphNode, most: float = MAX_NODES, unseen: bool = False) -> Iterator[GraphNode]:
    """Yield the nodes of a graph breadth first, from its results on; behind them, all or only the unseen ones."""
    queue = list(dict.fromkeys(roots))
    seen = set(queue)
    for current in queue:
        yield current
        for other, _ in current.next_functions:
            if other is not None and other not in seen and len(seen) < most and not (unseen and origin_of(other)):
                seen.add(other)
                queue.append(other)


def seen_nodes(node: GraphNode) -> Iterator[tuple[GraphNode, NodeOrigin]]:
    """Yield the nodes of a graph that the watcher saw, breadth first, each with its record."""
    return ((found, entry) for found in walk(node) if (entry := origin_of(found)) is not None)


def leaves_of(node: GraphNode) -> list[Tensor]:
    """Return the leaves of the graph behind a node that have numbers."""
    leaves = [found.variable for found in walk(node) if hasattr(found, "variable")]
    return [leaf for leaf in leaves if has_numbers(leaf)]


def saved_by(node: GraphNode) -> dict[str, Tensor]:
    """Return the tensors that a node saved. Raises RuntimeError if PyTorch has freed them, or seen a write to them."""
    saved = {name: getattr(node, name) for name in vars(type(node)) if name.startswith("_saved_")}
    saved |= {str(index): tensor for index, tensor in enumerate(getattr(node, "saved_tensors", ()))}
    return {name: value for name, value in saved.items() if isinstance(value, Tensor) and has_numbers(value)}


def kind(node: GraphNode) -> str:
    """Return the kind of a node without PyTorch's suffix: `Softmax` for SoftmaxBackward0."""
    return str(node.name()).split("Backward")[0].rsplit("::", 1)[-1]


def skip(node: GraphNode, kinds: Set[str] = VIEWS) -> GraphNode:
    """Return the first node on the way back of another kind: with the default, one that changes more than the shape."""
    while node is not None and kind(node) in kinds and node.next_functions:
        node = node.next_functions[0][0]
    return node
