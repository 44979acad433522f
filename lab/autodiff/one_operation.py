"""Run one operation on small arrays forward and backward: which upstream cells does each cell of a gradient sum?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lab.autodiff.jacobian import pull_back
from lab.autodiff.shapes import Shape
from model import Tensor


class Summand(NamedTuple):
    """One summand of a cell of a gradient: upstream[cell] * factor. Cells are counted in reading order."""

    cell: int
    factor: float


@dataclass(frozen=True)
class Run:
    """The arrays of one operation. sources: for each cell of each operand, the summands of its gradient, which are a
    column of the Jacobian without its zeros."""

    operands: tuple[np.ndarray, ...]
    result: np.ndarray
    upstream: np.ndarray
    gradients: tuple[np.ndarray, ...]
    sources: tuple[list[list[Summand]], ...]


def count_up(shape: Shape, step: float = 1.0) -> np.ndarray:
    """Fill an array with step, 2 step, 3 step, … in reading order, so that each cell can be recognised."""
    return step * np.arange(1.0, np.prod(shape, dtype=int) + 1).reshape(shape)


def run(operation: Callable[..., Tensor], *operands: np.ndarray) -> Run:
    """Run operation(*tensors), and its backward pass from each cell of the result and from the upstream gradient
    1, 2, 3, …"""
    leaves = [Tensor(operand) for operand in operands]
    result = operation(*leaves)
    rows = [pull_back(result, leaves, one) for one in np.eye(result.size)]
    jacobians = [np.array([row[number].ravel() for row in rows]) for number in range(len(leaves))]
    upstream = count_up(result.shape)
    gradients = pull_back(result, leaves, upstream)
    return Run(
        tuple(leaf.numpy() for leaf in leaves),
        result.numpy(),
        upstream,
        tuple(gradients),
        tuple([_summands(column) for column in jacobian.T] for jacobian in jacobians),
    )


def _summands(column: np.ndarray) -> list[Summand]:
    return [Summand(int(cell), float(column[cell])) for cell in np.flatnonzero(column)]
