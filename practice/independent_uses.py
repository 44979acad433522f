"""Checks that each use of an operation keeps its own values; the three courses share it as a judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from practice.task import Inputs


def uses_are_independent(inputs: Inputs, values: Mapping[str, Any]) -> str:
    """Object if a rule sends other messages once the same operation was used again. `values`: the messages of the
    first run, then those of the second."""
    alone, again = values.values()
    pairs = [*zip(alone, again, strict=True)]
    if all(np.shape(one) == np.shape(other) and np.allclose(one, other) for one, other in pairs):
        return ""
    return (
        "The messages change when the operation is used again before its rule runs: what the rule remembers was "
        "overwritten. Is it kept on the class, or in a global name? Each use must keep its own."
    )
