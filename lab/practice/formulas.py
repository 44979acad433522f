"""Searches for a short formula that gives the learner's numbers in every case, from the inputs or the right result."""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

UNARY: Mapping[str, Callable[[Any], Any]] = {
    "-{}": np.negative,
    "{}.T": np.transpose,
    "1 / {}": np.reciprocal,
    "{} ** 2": np.square,
    "exp({})": np.exp,
    "log({})": np.log,
    "{}.sum()": np.sum,
    "{}.sum(axis=0)": lambda a: np.sum(a, axis=0),
    "{}.sum(axis=-1)": lambda a: np.sum(a, axis=-1),
    "{}.mean()": np.mean,
}
BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "{} + {}": np.add,
    "{} - {}": np.subtract,
    "{} * {}": np.multiply,
    "{} / {}": np.divide,
    "{} @ {}": np.matmul,
}
Values = list[np.ndarray]  # of one quantity, one for each case


def formula(
    quantities: Mapping[str, Sequence[Any]],
    got: Sequence[Any],
    expected: Sequence[Any],
    agree: Callable[[Any, Any], bool],
) -> str:
    """Find a formula for the learner's numbers, in words that follow "it is"; "" if there is none.

    quantities  what the formula may use: its name in code -> its value in each case
    agree       tells whether two values are the same
    """
    given = (*got, *expected)
    if not all(isinstance(each, (int, float, np.ndarray)) and not isinstance(each, bool) for each in given):
        return ""
    known = {text: [np.asarray(value, float) for value in values] for text, values in quantities.items()}
    right = [np.asarray(value, float) for value in expected]
    with np.errstate(all="ignore"):
        for words, values in itertools.chain(_like(right), _off_by_a_factor(known, right), _formulas(known)):
            with contextlib.suppress(ValueError):  # shapes that do not fit
                if all(agree(mine, value) for mine, value in zip(got, values, strict=True)):
                    return words
    return ""


def _like(right: Values) -> Iterator[tuple[str, Iterator[Any]]]:
    """Yield 0, 1, and what differs from the right result by its sign, or by the order of its axes."""
    yield "`0`", map(np.zeros_like, right)
    yield "`1`", map(np.ones_like, right)
    yield "what it should be, with the wrong sign", map(np.negative, right)
    yield "the transpose of what it should be", map(np.transpose, right)


def _off_by_a_factor(known: Mapping[str, Values], right: Values) -> Iterator[tuple[str, Iterator[Any]]]:
    """Yield the right result times, and divided by, the size of an array, the length of an axis, or a small number."""
    for text, values in known.items():
        sizes = {f"{text}.size": [value.size for value in values]}
        if len(axes := {value.ndim for value in values}) == 1:
            for axis in range(*axes):
                sizes[f"{text}.shape[{axis}]"] = [value.shape[axis] for value in values]
        for size, counts in sizes.items():
            if any(count > 1 for count in counts):
                yield f"what it should be, times `{size}`", map(np.multiply, right, counts)
                yield f"what it should be, divided by `{size}`", map(np.divide, right, counts)
    for factor in (2, 3, 4):
        yield f"{factor} times what it should be", map(partial(np.multiply, factor), right)
        yield f"1/{factor} of what it should be", map(partial(np.multiply, 1 / factor), right)


def _formulas(known: Mapping[str, Values]) -> Iterator[tuple[str, Iterator[Any]]]:
    """Yield the quantities, functions of one of them, and operations on two of all these, the short ones first."""
    single = dict(known)
    for (text, values), (form, function) in itertools.product(known.items(), UNARY.items()):
        if (applied := _apply(function, values)) is not None:
            single[form.format(text)] = applied
    for text, values in single.items():
        yield f"`{text}`", iter(values)
    for ((one, a), (other, b)), (form, operation) in itertools.product(
        itertools.product(single.items(), repeat=2), BINARY.items()
    ):
        if _apply(operation, a[:1], b[:1]) is not None:
            yield f"`{form.format(_in_parentheses(one), _in_parentheses(other))}`", map(operation, a, b)


def _apply(function: Callable[..., Any], *values: Values) -> Values | None:
    """Apply a function to the values of each case; None if the shapes do not fit."""
    try:
        return [np.asarray(function(*each)) for each in zip(*values, strict=True)]
    except ValueError:
        return None


def _in_parentheses(text: str) -> str:
    return f"({text})" if " " in text or text.startswith("-") else text
