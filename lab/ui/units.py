"""The units of a layer as small maps of the plane, which say at which of them the visitor points.

Two Streamlit components, whose JavaScript is in static/units/: the maps are redrawn by a fragment while training, and
what a component inside a fragment says waits for the fragment to end; so another one, outside, says it.
"""

from __future__ import annotations

import json

import numpy as np
import streamlit as st

from lab.ui.charts import signed_shades
from lab.ui.script import keep_value, loading

_LOADING = loading("units/units.js")
_CSS = """
[role=group] { display: grid; grid-template-columns: repeat(auto-fill, minmax(36px, 1fr)); gap: 6px; }
button { padding: 0; border: 1px solid var(--st-border-color); border-radius: 4px; overflow: hidden; aspect-ratio: 1;
  max-width: 64px; background: none; cursor: pointer; }
button:hover, button:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 1px; }
canvas { display: block; width: 100%; height: 100%; }
"""
_maps = st.components.v2.component(
    "tensor_ops_lab_units",
    html='<div role="group"></div>',
    css=_CSS,
    js=_LOADING + "export default function (component) { loading.then((units) => units.show(component)); }",
)
_teller = st.components.v2.component(
    "tensor_ops_lab_unit_teller",
    js=_LOADING
    + """export default function (component) {
  const leaving = loading.then((units) => units.tell(component));
  return () => leaving.then((leave) => leave?.());
}""",
)


def small_maps(maps: np.ndarray, layer: str, theme: str) -> None:
    """Show the outputs (rows, columns, units) of a layer's units over a plane, the smallest y in the first row."""
    codes, palette = [], []
    for k in range(maps.shape[-1]):
        shades, palette = signed_shades(maps[::-1, :, k], theme)
        codes.append("".join(np.base_repr(code, 36) for code in shades.ravel()))
    label = f"{maps.shape[-1]} small maps of the plane, one for the output of each unit of {layer}"
    data = {"maps": codes, "palette": palette, "side": maps.shape[0], "label": label}
    _maps(key="training-units", data=json.dumps(data).encode())  # a dict would make Streamlit import pandas


def pointed_at(units: int) -> int | None:
    """The unit that the visitor points at, from 0, of a layer that has so many."""
    unit = _teller(key="training-unit-teller", on_unit_change=keep_value).get("unit")
    return unit if type(unit) is int and 0 <= unit < units else None
