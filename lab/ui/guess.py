"""A question that the learner may answer before the page does; at first no answer is chosen."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

FIRST = "Guess first."  # shown in place of the answer


def guess(question: str, options: Mapping[str, str], key: str) -> str | None:
    """Ask a question and return the learner's choice, or None. options: name in the session -> text of the answer."""
    return st.segmented_control(question, list(options), format_func=options.__getitem__, key=key)


def verdict(right: bool) -> str:
    """Say whether the guess was right; the caller adds the numbers that show it."""
    return "✓ As you guessed." if right else "✗ Not as you guessed."
