"""Run one operation on small arrays forward and backward, and keep each message as its closure sent it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lab.autodiff.sources import Shape
from model import Tensor


class _Noting(Tensor):
    """Remembers the last message as it came, before it is summed to the shape of the tensor."""

    __slots__ = ("sent",)

    def _accumulate(self, message):
        self.sent = np.array(message)
        super()._accumulate(message)


@dataclass(frozen=True)
class Run:
    """Arrays of one operation. messages: as the closure sent them, in the shape of the result where they were copied;
    gradients: as the operands hold them. An operand that received none has zeros."""

    operands: tuple[np.ndarray, ...]
    result: np.ndarray
    upstream: np.ndarray
    messages: tuple[np.ndarray, ...]
    gradients: tuple[np.ndarray, ...]


def counted(shape: Shape, step: float = 1.0) -> np.ndarray:
    """step, 2 step, 3 step, … in reading order: numbers by which a cell can be told."""
    return step * np.arange(1.0, np.prod(shape, dtype=int) + 1).reshape(shape)


def run(operation: Callable[..., Tensor], *operands: np.ndarray) -> Run:
    """operation(*tensors) and its backward pass, which starts from 1, 2, 3, …; the engine's errors pass through."""
    leaves = [_Noting(operand) for operand in operands]
    result = operation(*leaves)
    upstream = counted(result.shape)
    result.backward(upstream)
    nothing = [np.zeros(leaf.shape) for leaf in leaves]
    return Run(
        tuple(leaf.numpy() for leaf in leaves),
        result.numpy(),
        upstream,
        tuple(getattr(leaf, "sent", none) for leaf, none in zip(leaves, nothing, strict=True)),
        tuple(none if leaf.grad is None else leaf.grad for leaf, none in zip(leaves, nothing, strict=True)),
    )
