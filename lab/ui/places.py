"""A list of places to go to, such as the cards of the path, which the browser draws: static/progress/places.js."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from lab.lessons.abilities import Deed
from lab.lessons.cards import Card
from lab.text import strict_json
from lab.ui import state


def show(component: Callable[..., Any], key: str, shown: Mapping[str, Any], places: Mapping[str, Card | Deed]) -> None:
    """Draw the list, and go where the visitor has chosen to.

    component  that draws it; its key in the session
    shown      what it is told
    places     the key of a line -> where it leads to
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
