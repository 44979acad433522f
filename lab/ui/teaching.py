"""The set that a teacher's link has brought: the pages ask what it hides; Start shows what is to be done."""

from __future__ import annotations

import streamlit as st

HIDDEN = "set hidden"  # in the session: the keys of what is not shown


def hidden(control: str) -> bool:
    """Does the set hide this one of lab/practice/sets.py, CONTROLS? Nothing is hidden without a set."""
    return control in st.session_state.get(HIDDEN, ())
