"""What a page has computed for its present inputs, for as long as they stay the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

T = TypeVar("T")
KEPT = "computed"  # all in one place: many widgets go through all that the session has


def memoize(name: str, inputs: object, compute: Callable[[], T]) -> T:
    """compute(), run in this visit when the inputs are others than the last time; its errors pass through and are not
    kept. Of each name, in the whole lab, the last result is kept."""
    kept = st.session_state.setdefault(KEPT, {})
    if name not in kept or kept[name][0] != inputs:
        kept[name] = inputs, compute()
    result: T = kept[name][1]
    return result


def forget(name: str) -> None:
    """Compute it anew the next time, whatever the inputs: what depends on the moment, such as a measured time."""
    st.session_state.get(KEPT, {}).pop(name, None)
