"""Keeps a pasted text in the page's address, so that a reload and a link bring it back."""

import streamlit as st

from lab.practice.learner_program import MAX_LINKED, pack, unpack
from lab.ui import binding


def held(key: str) -> binding.HeldValue:
    """Return a text that the address carries packed, if it is short enough."""
    return binding.HeldValue(key, "", unpack, lambda text: pack(text) or None)


def restore(value: binding.HeldValue, widget: str) -> str:
    """Put the text of the address, if there is one, into a widget that is not drawn yet, and return it."""
    text: str = st.session_state[value.key]
    if text:
        st.session_state[widget] = text
    return text


def hold(value: binding.HeldValue, text: str) -> None:
    """Keep the present text; say so if it is too long to be kept."""
    st.session_state[value.key] = text
    if len(text) > MAX_LINKED:
        st.caption(f"The address carries up to {MAX_LINKED:,} characters: a reload forgets this text.")
