"""Two ways to sort a graph topologically, each of which tells how its list grows: depth first, and Kahn's algorithm.

A graph is a dict: node -> the nodes that it was computed from.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

Graph = Mapping[str, Sequence[str]]
SortingStep = tuple[str, list[str]]  # what happened, and the list after it


def depth_first(graph: Graph, root: str) -> Iterator[SortingStep]:
    """List each node after all that it was computed from."""
    topo: list[str] = []
    visited = set()

    def build_topo(node: str) -> Iterator[SortingStep]:
        if node in visited:
            yield f"{node} again: skip", [*topo]
            return
        visited.add(node)
        yield f"visit {node}", [*topo]
        for child in graph[node]:
            yield from build_topo(child)
        topo.append(node)
        yield f"append {node}", [*topo]

    yield from build_topo(root)


def kahn(graph: Graph, root: str) -> Iterator[SortingStep]:
    """List each node as soon as all that use it are listed: the order in which they send their messages."""
    unlisted_users = Counter(child for children in graph.values() for child in children)
    order, ready = [], [root]
    while ready:
        node = ready.pop(0)
        order.append(node)
        for child in graph[node]:
            unlisted_users[child] -= 1
            if unlisted_users[child] == 0:
                ready.append(child)
        yield f"{node}; ready: {', '.join(ready) or 'none'}", [*order]
