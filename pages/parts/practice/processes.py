"""The pool of processes that run learners' code."""

import streamlit as st

from lab.practice.sandbox import Pool


@st.cache_resource(show_spinner=False)
def pool() -> Pool:
    """Return the server's pool, which all pages and visitors share."""
    return Pool()
