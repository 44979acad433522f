"""Run one operation on small arrays forward and backward, and keep each message as the closure sent it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lab.autodiff.gradient_sources import Shape
from model import Tensor


class _MessageKeeper(Tensor):
    """A tensor that keeps the last message sent to it, before broadcasting is undone."""

    __slots__ = ("sent",)

    def accumulate(self, message):
        self.sent = np.array(message)
        super().accumulate(message)


@dataclass(frozen=True)
class Run:
    """The arrays of one operation. messages: as the closure sent them, in the shape of the result if the operand was
    broadcast; gradients: as the operands hold them. Both are zeros for an operand that received no message."""

    operands: tuple[np.ndarray, ...]
    result: np.ndarray
    upstream: np.ndarray
    messages: tuple[np.ndarray, ...]
    gradients: tuple[np.ndarray, ...]


def counted(shape: Shape, step: float = 1.0) -> np.ndarray:
    """Fill an array with step, 2 step, 3 step, … in reading order, so that each cell can be recognised."""
    return step * np.arange(1.0, np.prod(shape, dtype=int) + 1).reshape(shape)


def run(operation: Callable[..., Tensor], *operands: np.ndarray) -> Run:
    """Run operation(*tensors) and its backward pass, from the upstream gradient 1, 2, 3, …"""
    leaves = [_MessageKeeper(operand) for operand in operands]
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
