"""A pad to draw a digit on, as a Streamlit component. Its JavaScript is in static/digit_pad/."""

from __future__ import annotations

import numpy as np

from lab.text import strict_json
from lab.training.images import parse_drawing
from lab.ui.assets import component, keep_value

_component = component("digit_pad", "digit_pad/digit_pad.js", lost="The pad")


def digit_pad(key: str, led: bool) -> np.ndarray | None:
    """Show the pad, in the window if a link has led to it, and return the drawing: a bitmap (32, 32), None if empty."""
    sent = _component(key=key, data=strict_json({"led": led}).encode(), on_ink_change=keep_value).get("ink")
    try:
        bitmap = parse_drawing(sent) if isinstance(sent, str) else None
    except ValueError:  # the pad never sends this, but a visitor can
        return None
    return bitmap if bitmap is not None and bitmap.any() else None
