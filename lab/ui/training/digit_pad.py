"""A pad to draw a digit on, as a Streamlit component. Its JavaScript is in static/digit_pad/."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lab.training.digit import parse
from lab.ui.assets import keep_value, loading

_HTML = """
<canvas width="320" height="320" tabindex="0" role="application"
  aria-label="Pad to draw a digit on. By keyboard: the arrow keys move, space draws or erases a block."></canvas>
<button type="button">Clear the pad</button>
"""
_CSS = """
canvas { display: block; width: min(320px, 100%); aspect-ratio: 1; touch-action: none; cursor: crosshair;
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius); }
canvas:focus-visible, button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
button { margin-top: 0.5rem; padding: 0.35rem 0.75rem; font: inherit; color: var(--st-text-color); cursor: pointer;
  background: var(--st-secondary-background-color); border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius); }
"""
_JS = loading("digit_pad/digit_pad.js") + (
    "export default function (component) { loading.then((pad) => pad.show(component)); }"
)
_component = st.components.v2.component("tensor_ops_lab_digit_pad", html=_HTML, css=_CSS, js=_JS)


def digit_pad(key: str) -> np.ndarray | None:
    """Show the pad; what is drawn on it as a bitmap (32, 32) of 0 and 1, or None while it is empty."""
    sent = _component(key=key, on_ink_change=keep_value).get("ink")
    try:
        bitmap = parse(sent) if isinstance(sent, str) else None
    except ValueError:  # a visitor's input: not sent by the pad
        return None
    return bitmap if bitmap is not None and bitmap.any() else None
