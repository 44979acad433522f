"""Finds out whether a wrong value is one that the learner's code has written over: an operand, or a gradient."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from practice.task import Check, Inputs

LEAF = re.compile(r"^(\w+) = (?:Tensor|Value)\((\w+)\)$", re.MULTILINE)
ORDINALS = ("first", "second", "third")


def overwritten(one: Check, show: str, inputs: Inputs, expected: Any, earlier: Iterable[Check]) -> str:
    """Say in a sentence that a wrong value was an input of the program, which the learner's code has changed; "" if
    that is not certain.

    show      the expression whose value is wrong
    expected  its right value: the input's, if the program leaves it alone
    earlier   the checks of earlier tasks, which have passed
    """
    name, _, part = show.partition(".")
    if part == "data" and "backward(" in one.program:
        leaves = dict(LEAF.findall(one.program))
        if name in [*leaves][: len(ORDINALS)] and _is_input(inputs, leaves[name], expected):
            which = ORDINALS[[*leaves].index(name)]
            return (
                f"The operation changes its {which} operand: `{show}` is not what it was before. Put the result in a "
                f"new {'array' if np.ndim(expected) else 'value'}."
            )
    if part == "grad" and (given := _upstream(one.program, name)):
        set_here = f"{show} = {given}" in one.program
        right_before = set_here or any(show in check.shows and _upstream(check.program, name) for check in earlier)
        if right_before and _is_input(inputs, given, expected):
            return (
                f"The rule changes the upstream gradient: `{show}` is not what it was before. Compute each message "
                "without writing to it."
            )
    return ""


def _upstream(program: str, name: str) -> str:
    """Return the name of the input that is the upstream gradient of a result, "" if there is none."""
    found = re.search(rf"^{name}\.(?:backward\((\w+)\)|grad = (\w+))$", program, re.MULTILINE)
    return (found[1] or found[2]) if found else ""


def _is_input(inputs: Inputs, name: str, value: Any) -> bool:
    return name in inputs and isinstance(value, (int, float, np.ndarray)) and np.array_equal(inputs[name], value)
