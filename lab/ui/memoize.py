"""A cache in the visitor's session that keeps each result until its inputs change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

T = TypeVar("T")
CACHE = "memoized"  # one session entry for all results: many widgets iterate over the whole session


def memoize(name: str, inputs: object, compute: Callable[[], T]) -> T:
    """Return compute(), or its last result if the inputs are equal to those of the last call with this name.

    Names are unique in the whole lab. An exception is passed on and not cached.
    """
    cache = st.session_state.setdefault(CACHE, {})
    if name not in cache or cache[name][0] != inputs:
        cache[name] = inputs, compute()
    result: T = cache[name][1]
    return result


def forget(name: str) -> None:
    """Drop a cached result, so that something like a measured time is computed again for the same inputs."""
    st.session_state.get(CACHE, {}).pop(name, None)
