"""A list of links, such as the cards of the path, that static/progress/places.js draws in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from lab.lessons.achievements import Achievement
from lab.text import strict_json
from lab.ui import state


def show(component: Callable[..., Any], key: str, shown: Mapping[str, Any], places: Mapping[str, Achievement]) -> None:
    """Draw a list of links, and open the one that the visitor has clicked.

    component  draws the list; key is its session key
    shown      data for the component
    places     key of a line -> the page that it opens
    """
    session = st.session_state

    def go() -> None:
        match session[key].get("go"):
            case {"key": str(chosen), "here": str(here)}:
                session[f"{key} asked"] = chosen, here

    component(key=key, data=strict_json(shown).encode(), on_go_change=go)
    chosen, here = session.pop(f"{key} asked", ("", ""))
    if chosen in places:
        state.leave(places[chosen].file, here, places[chosen].query)
