"""A question that the learner answers before the page does. Nothing is chosen at first, and nothing need be."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

FIRST = "Guess first."  # instead of the answer


def guess(question: str, options: Mapping[str, str], key: str) -> str | None:
    """The learner's choice, or None. options: its name in the session -> what the learner reads."""
    return st.segmented_control(question, list(options), format_func=options.__getitem__, key=key)


def verdict(right: bool) -> str:
    """How the guess was, in front of or behind the numbers that say so."""
    return "✓ As you guessed." if right else "✗ Not as you guessed."
