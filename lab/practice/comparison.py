"""Compares a learner's values with the right ones, and says what is striking about a wrong one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lab.practice.runner import Answer
from practice.task import Check

NUMBERS = (int, float, np.ndarray)


def agree(one: Check, got: Answer, expected: Answer) -> bool:
    """Return whether two answers agree, within the tolerance of the check. Exceptions agree if their kinds do; with a
    judge, the verdicts are compared instead of the values."""
    if "" in (got.verdict, expected.verdict):
        return got.verdict == expected.verdict
    if (got.problem and got.problem.kind) != (expected.problem and expected.problem.kind):
        return False
    return got.values.keys() == expected.values.keys() and all(
        same(got.values[show], value, one.rtol) for show, value in expected.values.items()
    )


def same(got: Any, expected: Any, rtol: float) -> bool:
    """Return whether two values are equal: in shape, and each number within `rtol` of the largest one; nan equals nan.
    Numbers that cancel may differ by rounding: by 2e-9 for an rtol of 1e-6, 2e-6 for the 1e-4 of float32."""
    if type(got) is type(expected) is float:  # the commonest values: without arrays it takes a tenth of the time
        size = abs(expected) if math.isfinite(expected) else 0
        near = abs(got - expected) <= max(rtol * size, 2 * rtol**1.5)
        return got == expected or near or (math.isnan(got) and math.isnan(expected))
    wrong = wrong_elements(got, expected, rtol)
    return not wrong.any() if wrong is not None else False


def wrong_elements(got: Any, expected: Any, rtol: float) -> np.ndarray | None:
    """Return which elements of two values differ, a boolean array; None if they cannot be compared one by one."""
    if isinstance(expected, dict) and isinstance(got, dict):
        equal = got.keys() == expected.keys() and all(same(got[key], expected[key], rtol) for key in expected)
        return np.array(not equal)
    if isinstance(expected, (bool, str, dict, type(None))) or isinstance(got, (bool, str, dict, type(None))):
        return np.array(type(got) is not type(expected) or got != expected)
    if isinstance(expected, list) or isinstance(got, list):
        if type(got) is not type(expected) or len(got) != len(expected):
            return None
        return np.array([not same(*pair, rtol) for pair in zip(got, expected, strict=True)], bool)
    if np.shape(got) != np.shape(expected) or _is_float32(expected) > _is_float32(got):
        return None
    a, b = np.asarray(got, float), np.asarray(expected, float)
    if (a == b).all():
        return np.zeros(a.shape, bool)
    finite = np.abs(b[np.isfinite(b)])
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf, and the difference of two huge numbers
        near = np.abs(a - b) <= max(rtol * finite.max(initial=0), 2 * rtol**1.5)
        return np.asarray(~((a == b) | near | np.isnan(a) & np.isnan(b)))


def _is_float32(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float32


# -- Remarks on a wrong value ------------------------------------------------------------------------------------------


def resemblance(show: str, got: Any, expected: Any, rtol: float, others: Sequence[tuple[Any, Any]] = ()) -> str:
    """Describe in one sentence what is striking about a wrong value, such as its shape or type; "" if nothing is.

    show    the expression whose value it is
    others  (got, expected) in other failing cases: a small case may be 0 by chance
    """
    if got is None and expected is not None:
        return _none(show, expected)
    if isinstance(got, dict) and got.keys() == {"type"}:  # a value that the driver could not encode
        return f"It is of another type: `{got['type']}`."
    if isinstance(got, list) and isinstance(expected, list):
        return _list_remark(show, got, expected)
    if isinstance(got, (str, bool)) and isinstance(expected, (str, bool)):
        return f"It is {got!r} and should be {expected!r}."
    if not isinstance(got, NUMBERS) or not isinstance(expected, NUMBERS):
        return ""
    a, b = np.asarray(got, float), np.asarray(expected, float)
    if a.shape != b.shape:
        if a.T.shape == b.shape and same(a.T, b, rtol):
            return "It is the transpose of what it should be."
        return f"Its shape is {a.shape} and should be {b.shape}."
    if np.isnan(a).any() and not np.isnan(b).any():
        return "It is nan where a number should be."
    if np.isinf(a).any() and np.isfinite(b).all():
        return "It is infinite where a number should be: something overflowed, or was divided by 0, or is log(0)."
    if not a.any() and not any(not isinstance(each, NUMBERS) or np.any(each) for each, _ in others):
        return "It is 0 everywhere." if a.ndim else "It is 0."
    return ""


def _list_remark(show: str, got: list[Any], expected: list[Any]) -> str:
    """Describe a list with other items, fewer, or in another order. Children in a set are a common cause."""
    children = "_children" in show
    if len(got) != len(expected):
        if children and {*map(repr, got)} == {*map(repr, expected)} and len(got) == len({*map(repr, got)}):
            return "It has each item only once, but one belongs there twice. A set does that: use a tuple."
        return f"Its length is {len(got)} and should be {len(expected)}."
    if sorted(map(repr, got)) == sorted(map(repr, expected)):
        return "It has the right items in the wrong order." + " A set has no order: use a tuple." * children
    return ""


def _none(show: str, expected: Any) -> str:
    """Describe a value that is None and should not be."""
    if show.endswith(".grad"):
        return "It is None: no gradient has arrived there."
    if isinstance(expected, (str, bool, list, dict)):
        return f"It is None and should be {expected!r}." if not isinstance(expected, dict) else "It is None."
    return "It is None: it was never set, or a function ended without `return`."
