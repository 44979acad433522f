"""What the visitor brought, kept in their own browser: static/keep/ stores it there and sends it again after a reload.

The server keeps nothing. What comes back may be anything, so it is checked like an upload.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping

import streamlit as st

from lab.training.live import Position
from lab.ui.assets import component

KEY = "training kept"
CHANGE = "training keep"  # session key: a name for what the browser is to do, and the parts that it keeps; None: none
_component = component("keep", "keep/keep.js")


def exchange(receive: Callable[[str, str], None]) -> None:
    """Tell the browser what has changed, and take over what it has kept; call this in each run of the page.

    receive: callback for the name and the text of each part that a browser sends to a new visit.
    """

    def take_over() -> None:
        sent = st.session_state[KEY].get("kept")
        for name, text in sent.items() if isinstance(sent, dict) else ():
            if isinstance(text, str):
                receive(name, text)

    def acknowledge() -> None:
        if st.session_state[KEY].get("stored") == st.session_state.get(CHANGE, ("",))[0]:
            del st.session_state[CHANGE]

    change, parts = st.session_state.get(CHANGE, ("", None))
    asked = {"session": visit(), "change": change, "parts": parts}
    _component(key=KEY, data=json.dumps(asked).encode(), on_kept_change=take_over, on_stored_change=acknowledge)


def visit() -> str:
    """Return a name for this visit."""
    name: str = st.session_state.setdefault("training visit", secrets.token_hex(4))
    return name


def keep(name: str, text: str) -> None:
    """Let the browser keep a text, in place of an earlier one of this name; it is sent until the browser answers."""
    _, parts = st.session_state.get(CHANGE, ("", None))
    _ask((parts or {}) | {name: text})


def forget() -> None:
    """Let the browser forget everything that it keeps."""
    _ask(None)


def _ask(parts: Mapping[str, str] | None) -> None:
    st.session_state[CHANGE] = secrets.token_hex(4), parts


# ---------------------------------------------------------------- how far a run was trained, in the address


def position_text(position: Position) -> str:
    """Write a position as "12", or as "12.5" with 5 batches of the next epoch; "" for an untrained run.

    static/keep/reached.js writes it into the address.
    """
    epoch, batch = position
    return f"{epoch}.{batch}" if batch else str(epoch or "")


def parse_position(text: str) -> Position:
    """Parse the text that `position_text` writes. Raises ValueError for another text."""
    epoch, _, batch = text.partition(".")
    position = int(epoch), int(batch or 0)
    if min(position) < 0 or position_text(position) != text:
        raise ValueError(text)
    return position
