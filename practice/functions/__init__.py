"""The course "Function objects": the rules of a two-layer network as classes, and the machinery that calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from practice.independent_uses import uses_are_independent
from practice.task import Cases, Course, Inputs, read_tasks

# -- Inputs ------------------------------------------------------------------------------------------------------------


def _array(rng: Generator, shape: tuple[int, ...], size: int) -> np.ndarray:
    """Draw an array: integers for size 0, some zeros for size 2, fractions otherwise."""
    if size == 0:
        return rng.integers(1, 5, shape).astype(float)
    array = np.round(rng.choice([-1, 1], shape) * rng.uniform(0.5, 2.5, shape), 1 if size < 3 else 6)
    return np.where(rng.random(shape) < 0.15, 0.0, array) if size == 2 else array


def _alike(*names: str) -> Cases:
    """Make cases with arrays of one shape under these names, with one to three axes."""

    def inputs(rng: Generator, size: int) -> Inputs:
        shape = tuple(rng.integers(1 + (size > 0), 3 + size, 1 if size == 0 else rng.integers(1, 4)).tolist())
        return {name: _array(rng, shape, size) for name in names}

    return inputs


def _with_zeros(*names: str) -> Cases:
    """Make cases of size 2, which has zeros, at every size."""
    return lambda rng, size: _alike(*names)(rng, 2)


def _nonzero(rng: Generator, size: int) -> Inputs:
    shape = tuple(rng.integers(2, 3 + size, 2).tolist())
    return {name: _array(rng, shape, 1) for name in ("x", "v")}


def _power(rng: Generator, size: int) -> Inputs:
    inputs = _nonzero(rng, size)
    return {**inputs, "n": int(rng.choice([2, 3] if size == 0 else [-2, -1, 1, 3, 4]))}


def _product(rng: Generator, size: int, n: int, k: int, m: int) -> Inputs:
    return {"x": _array(rng, (n, k), size), "y": _array(rng, (k, m), size), "v": _array(rng, (n, m), size)}


def _square(rng: Generator, size: int) -> Inputs:
    return _product(rng, size, *3 * [2 + size])


def _matrices(rng: Generator, size: int) -> Inputs:
    return _product(rng, size, *rng.permutation([1 + size, 2 + size, 3 + size]).tolist())


def _total(rng: Generator, size: int) -> Inputs:
    """Draw an array with at least two rows, and a number: the upstream gradient of its sum."""
    shape = tuple(rng.integers(2, 4 + size, rng.integers(1, 4)).tolist())
    return {"x": _array(rng, shape, size), "v": float(_array(rng, (), 1) + 3)}


def _row(rng: Generator, size: int) -> Inputs:
    n, k = (2, 2) if size == 0 else rng.permutation([2 + size, 3 + size]).tolist()
    return {"x": _array(rng, (n, k), size), "r": _array(rng, (k,), size), "v": _array(rng, (n, k), size)}


def _network(rng: Generator, size: int) -> Inputs:
    n, k, h, m = (1, 1, 1, 1) if size == 0 else rng.integers(2, 4 + size, 4).tolist()
    return {
        "x": np.round(rng.normal(size=(n, k)), 2),
        "y": np.round(rng.random((n, m)), 2),
        "w1": np.round(rng.normal(size=(k, h)), 2),
        "b1": np.round(rng.uniform(0.1, 1, h), 2),
        "w2": np.round(rng.normal(size=(h, m)), 2),
        "b2": np.round(rng.normal(size=m), 2),
    }


FUNCTIONS: Mapping[str, Callable[..., Any]] = {  # what the rows of tasks.toml name
    "alike": _alike,
    "with_zeros": _with_zeros,
    "nonzero": _nonzero,
    "power": _power,
    "square": _square,
    "matrices": _matrices,
    "total": _total,
    "row": _row,
    "network": _network,
    "uses_are_independent": uses_are_independent,
}
COURSE = Course(
    "functions",
    "Function objects",
    "Can an operation be an object that knows both ways? Build the machinery and the rules of a two-layer network.",
    Path(__file__).parent,
    read_tasks(Path(__file__).parent, FUNCTIONS),
)
