"""The thorough guard: an engine that fingerprints every array that a closure captures, also in your own operations.

The guard of `model.py` knows the arrays that the engine's own operations keep. It cannot know an array that a learner's
operation captures, because it never handed that array out. This engine inspects the closures themselves. It reads every
captured array twice, so it is meant for lessons and for debugging your own operations.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from model import Tensor, _mutation_error, _unguarded, topological_order


@contextmanager
def detect_mutation(tensor: type[Tensor] = Tensor) -> Iterator[type[Tensor]]:
    """Provide a watched tensor class to use in a `with` block instead of `tensor` (by default `model.Tensor`).

        with detect_mutation() as Tensor:
            x = Tensor([1.0, 2.0])
            y = scaled(x)  # an operation of your own
            y.sum().backward()  # MutationError, if an array that a closure captured has changed since

    Results have the class of their first operand, so everything computed from x is watched, also in a network that x
    goes through. Tensors made outside the block, or by `model.py` itself such as a network's weights, are not watched:
    an operation whose first operand is one of them has only the engine's own guard. That guard is on in the block, even
    inside `allow_mutation()`.
    """
    depth = _unguarded.get()
    _unguarded.set(0)
    try:
        yield type(f"Fingerprinted{tensor.__name__}", (Fingerprinted, tensor), {"__slots__": ("fingerprints",)})
    finally:
        _unguarded.set(depth)


class Fingerprinted(Tensor):
    """A Tensor that checks, before a backward pass, that no captured array has changed."""

    __slots__ = ()
    fingerprints: dict[str, int]  # variable -> hash of an array that its closure captured; slot in the class made above

    def _node(self, data: Any, children: tuple, op: str, backward: Callable) -> Tensor:
        out: Any = super()._node(data, children, op, backward)
        out.fingerprints = _fingerprints(backward) if out.requires_grad else {}
        return out

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        for node in topological_order(self):
            if isinstance(node, Fingerprinted) and node._children:  # leaves and freed nodes have no closure
                now = _fingerprints(node._backward)
                for name, fingerprint in node.fingerprints.items():
                    if now.get(name) != fingerprint:
                        raise _mutation_error(node, f"the array `{name}`, captured by its closure,")
        super().backward(grad, retain_graph)


def _fingerprints(closure: Callable) -> dict[str, int]:
    """Hash each array that a closure captured, also through a function inside it; by variable name."""
    found = {}
    for name, cell in zip(closure.__code__.co_freevars, closure.__closure__ or (), strict=True):
        if isinstance(cell.cell_contents, np.ndarray):
            found[name] = hash(cell.cell_contents.tobytes())
        elif hasattr(cell.cell_contents, "__closure__"):
            found |= _fingerprints(cell.cell_contents)
    return found
