"""From any page to “What went wrong?”, with what is in the clipboard. The window that takes it is in static/finder/."""

from __future__ import annotations

from urllib.parse import parse_qsl

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from lab.ui import state
from lab.ui.assets import component, keep_value

PAGE = "pages/what_went_wrong.py"
ASKED = "finder asked"  # a text that this page is to look up
LONGEST = 100_000  # characters
_component = component("finder", "finder/finder.js", style="finder/finder.css")


def reachable() -> None:
    """Let the visitor ask from this page; once on a page, before anything that takes time. A page that is shown within
    another site has no bar at the top for it."""
    if st.context.is_embedded:
        return
    said = _component(key="finder", on_asked_change=keep_value).get("asked")
    if not said:
        return
    st.session_state[ASKED] = str(said["text"])[:LONGEST]
    try:
        st.switch_page(PAGE, query_params=parse_qsl(said["query"], keep_blank_values=True))
    except StreamlitPageNotFoundError:  # the page was opened alone, without app.py
        del st.session_state[ASKED]


def asked(page: str) -> str:
    """What has been asked on another page, or here, once; "" for nothing. For the page that answers, before it reads
    its address: that is still the one of the page where it was asked."""
    if ASKED not in st.session_state:
        return ""
    if st.session_state.get("page") == page:
        state.step()
    state.begin(page)
    return str(st.session_state.pop(ASKED))
