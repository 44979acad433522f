"""Detect writes, as PyTorch does: an engine that refuses a backward pass whose values have changed since.

In `model.py` no write can reach a closure, so a write between the passes is harmless. This engine reports it: it keeps
a copy of each array that a closure captured, also in an operation of your own, and compares before the backward pass.
That reads every captured array twice, so it is meant for lessons and for debugging.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import FunctionType
from typing import Any, NamedTuple, cast

import numpy as np

from lab.trace.recording import rebuilt, variables
from model import Tensor, topological_order


class MutationError(RuntimeError):
    """Values that a backward pass needs were written to after the forward pass."""


class Fingerprint(NamedTuple):
    """An array that a closure captured. owner: the tensor with these values, 0 for the result, 1, 2, ... for the
    operands, None for an array of the operation itself. then: a copy of the values."""

    name: str
    owner: int | None
    then: np.ndarray


@contextmanager
def detect_mutation(tensor: type[Tensor] = Tensor) -> Iterator[type[Tensor]]:
    """Provide a watched tensor class to use in a `with` block instead of `tensor` (by default `model.Tensor`).

        with detect_mutation() as Tensor:
            x = Tensor([1.0, 2.0])
            y = x * x
            x.data += 1.0
            y.sum().backward()  # MutationError

    Results have the class of their first operand, so everything computed from x is watched, also in a network that x
    goes through. Tensors of another class, such as a network's weights, are not watched: an operation whose first
    operand is one of them is as in `tensor`. A write that changes no gradient is not refused.
    """
    yield _watched(cast(Any, tensor))


@lru_cache(maxsize=16)
def _watched(tensor: Any) -> type[Tensor]:
    return type(f"Fingerprinted{tensor.__name__}", (Fingerprinted, tensor), {"__slots__": ("fingerprints",)})


class Fingerprinted(Tensor):
    """A Tensor that checks, before a backward pass, that nothing a closure needs has changed."""

    __slots__ = ()
    fingerprints: list[Fingerprint]  # of the arrays that its closure captured; a slot in the class made above

    def node(self, values: Any, children: tuple[Tensor, ...], op: str, closure: Callable) -> Tensor:
        out: Any = super().node(values, children, op, closure)
        tensors = (out, *children)
        out.fingerprints = [
            Fingerprint(name, owner(array, tensors), np.array(array))
            for name, array in captured_arrays(closure).items()
        ]
        return out

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        for node in topological_order(self):
            if isinstance(node, Fingerprinted) and node.closure is not None:
                node.refuse_changes()
        super().backward(grad, retain_graph)

    def refuse_changes(self) -> None:
        """Raise MutationError if the closure would send other gradients than right after the forward pass."""
        tensors, held = (self, *self.children), captured_arrays(self.closure)
        now = {
            one.name: held.get(one.name) if one.owner is None else tensors[one.owner].numpy()
            for one in self.fingerprints
        }
        changed = [one for one in self.fingerprints if not _same(one.then, now[one.name])]
        then = {one.name: one.then for one in self.fingerprints}
        gone = any(array is None for array in now.values())
        if changed and (gone or not _same_messages(self, then, now)):
            raise MutationError(_sentence(self.op, changed[0], tensors))


def _sentence(op: str, changed: Fingerprint, tensors: tuple[Tensor, ...]) -> str:
    if changed.owner is None:
        what = f"the array `{changed.name.split(': ')[-1]}`, captured by its closure,"
    else:
        tensor = tensors[changed.owner]
        kind = f"'{tensor.label}'" if tensor.label else f"the result of `{tensor.op}`" if tensor.op else "a tensor"
        what = f"{'its input' if changed.owner else 'its own output'}, {kind} of shape {tensor.shape},"
    return (
        f"The backward pass of `{op}` needs {what} as it was in the forward pass, but it has been written to since. No "
        "gradient was computed. Run the forward pass again after the change, or make a new tensor (t = t + change) "
        "instead of writing to t; an optimizer steps after backward(), not before."
    )


def captured_arrays(closure: Callable) -> dict[str, Any]:
    """Return each array that a closure captured, also through a function inside it, by the name of the variable."""
    function = inspect.unwrap(closure)  # a recorder wraps it
    found: dict[str, Any] = {}
    for name, value in variables(function).items() if isinstance(function, FunctionType) else ():
        if isinstance(value, np.ndarray | np.generic):
            found[name] = value
        elif isinstance(value, FunctionType):
            found |= {f"{name}: {inner}": array for inner, array in captured_arrays(value).items()}
    return found


def owner(array: Any, tensors: Sequence[Tensor]) -> int | None:
    """Return the place of the tensor with these values: with this very array or, if its array has been handed out, so
    that each `read()` is a copy, with an equal one."""
    very = (place for place, tensor in enumerate(tensors) if tensor.read() is array)
    handed_out = (place for place, tensor in enumerate(tensors) if tensor.read() is not tensor.read())
    return next(very, next((place for place in handed_out if _same(tensors[place].read(), array)), None))


def _same(one: Any, other: Any) -> bool:
    """Return whether two arrays are equal byte by byte: then nan equals nan."""
    one, other = np.asarray(one), np.asarray(other)
    return (one.shape, one.dtype, one.tobytes()) == (other.shape, other.dtype, other.tobytes())


def _same_messages(node: Tensor, then: dict[str, Any], now: dict[str, Any]) -> bool:
    """Return whether the closure of a node sends the same gradients with either set of arrays."""
    upstream = np.random.default_rng(0).uniform(1.0, 2.0, node.shape).astype(node.dtype)[()]
    sent = []
    for arrays in (then, now):
        receivers = {child: Tensor(np.zeros(child.shape, child.dtype), child.requires_grad) for child in node.children}
        with np.errstate(all="ignore"):
            _reading(inspect.unwrap(node.closure), receivers, arrays)(upstream)
        sent.append([receiver.grad for receiver in receivers.values()])
    return all((a is b is None) or np.array_equal(a, b, equal_nan=True) for a, b in zip(*sent, strict=True))


def _reading(closure: Any, receivers: dict[Tensor, Tensor], arrays: dict[str, Any], path: str = "") -> Any:
    """Return a copy of a closure that reads other arrays, and sends its gradients to other tensors."""

    def replaced(name: str, value: Any) -> Any:
        if isinstance(value, Tensor):
            return receivers.get(value, value)
        if isinstance(value, tuple | list):
            return type(value)(replaced("", one) for one in value)
        if isinstance(value, FunctionType):
            return _reading(value, receivers, arrays, f"{path}{name}: ")
        return arrays.get(f"{path}{name}", value)

    return rebuilt(closure, replaced)
