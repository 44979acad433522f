"""The processes for learners' code."""

import streamlit as st

from lab.practice.sandbox import Pool


@st.cache_resource(show_spinner=False)
def pool() -> Pool:
    """One for all pages and visitors, for as long as the server lives."""
    return Pool()
