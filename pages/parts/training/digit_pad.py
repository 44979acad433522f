"""A pad to draw a digit on, as a Streamlit component. Its JavaScript is in static/digit_pad/."""

from __future__ import annotations

import numpy as np

from lab.training.images import parse_drawing
from lab.ui.assets import component, keep_value

_component = component("digit_pad", "digit_pad/digit_pad.js", lost="The pad")


def digit_pad(key: str) -> np.ndarray | None:
    """Show the pad and return the drawing as a bitmap (32, 32) of 0 and 1, or None while it is empty."""
    sent = _component(key=key, on_ink_change=keep_value).get("ink")
    try:
        bitmap = parse_drawing(sent) if isinstance(sent, str) else None
    except ValueError:  # the pad never sends this, but a visitor can
        return None
    return bitmap if bitmap is not None and bitmap.any() else None
