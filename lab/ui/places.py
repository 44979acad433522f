"""What the browser draws from the visitor's progress, or reads from it: static/progress/lists.js.

The kinds are "path", "assignment", "tasks", "note" and "engines"; static/types.d.ts has their data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from lab.lessons.achievements import Achievement
from lab.lessons.pages import BY_FILE
from lab.text import strict_json
from lab.ui import state
from lab.ui.assets import component

_component = component("progress", "progress/lists.js", lost="Your progress")


def mount(kind: str, key: str, shown: Mapping[str, Any], **callbacks: Callable[[], None]) -> None:
    """Mount a list, or what stores or sends the visitor's progress. key: its session key; shown: its data."""
    _component(key=key, data=strict_json({"kind": kind, **shown}).encode(), **callbacks)


def show(kind: str, key: str, shown: Mapping[str, Any], places: Mapping[str, Achievement]) -> None:
    """Draw a list of links, and open the one that the visitor has clicked.

    kind, key, shown  as for `mount`
    places            key of a line -> the page that it opens
    """
    session = st.session_state

    def go() -> None:
        match session[key].get("go"):
            case {"key": str(chosen), "here": str(here)}:
                session[f"{key} asked"] = chosen, here

    mount(kind, key, shown, on_go_change=go)
    chosen, here = session.pop(f"{key} asked", ("", ""))
    if chosen in places:
        place = places[chosen]
        state.leave(place.file, here, BY_FILE[place.file].parameters(place.query))
