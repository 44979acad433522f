"""The thorough guard: an engine that fingerprints every array that a closure captures, whoever wrote the closure.

The guard of `model.py` knows what the engine's own operations keep. It cannot know of an array that a learner's
operation captures: that one it has never handed out. This engine looks into the closures themselves, at the price of
reading every captured array twice, so it is for lessons and for debugging operations of your own.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from model import Tensor, _mutation_error, _unguarded, topological_order


@contextmanager
def detect_mutation(tensor: type[Tensor] = Tensor) -> Iterator[type[Tensor]]:
    """The class of tensors to use in a `with` block instead of `tensor`; `model.Tensor` unless you have your own.

        with detect_mutation() as Tensor:
            x = Tensor([1.0, 2.0])
            y = scaled(x)  # an operation of your own
            y.sum().backward()  # MutationError, if an array that a closure captured has changed since

    Results have the class of their first operand, so what is computed from x is watched, also by a network that x goes
    through. Tensors made outside the block, or by `model.py` itself such as a network's weights, are not made anew:
    an operation that begins with one of them has the engine's own guard only. That one is on in the block, too, even
    inside `allow_mutation()`.
    """
    outer = _unguarded.get()
    _unguarded.set(0)
    try:
        yield type(f"Fingerprinted{tensor.__name__}", (Fingerprinted, tensor), {"__slots__": ("fingerprints",)})
    finally:
        _unguarded.set(outer)


class Fingerprinted(Tensor):
    """What a watched tensor does besides being one."""

    __slots__ = ()
    fingerprints: dict[str, int]  # of the arrays that its closure captured; the slot is in the class made above

    def _node(self, data: Any, children: tuple, op: str, backward: Callable) -> Tensor:
        out: Any = super()._node(data, children, op, backward)
        out.fingerprints = _fingerprints(backward) if out.requires_grad else {}
        return out

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        for node in topological_order(self):
            if isinstance(node, Fingerprinted) and node._children:  # a leaf and a freed node keep nothing
                now = _fingerprints(node._backward)
                for name, fingerprint in node.fingerprints.items():
                    if now.get(name) != fingerprint:
                        raise _mutation_error(node, f"the array `{name}`, captured by its closure,")
        super().backward(grad, retain_graph)


def _fingerprints(closure: Callable) -> dict[str, int]:
    """A hash for each array that a closure captured, also through a function inside it; by variable name."""
    found = {}
    for name, cell in zip(closure.__code__.co_freevars, closure.__closure__ or (), strict=True):
        if isinstance(cell.cell_contents, np.ndarray):
            found[name] = hash(cell.cell_contents.tobytes())
        elif hasattr(cell.cell_contents, "__closure__"):
            found |= _fingerprints(cell.cell_contents)
    return found
