"""The units of a layer as small maps of the plane, which say at which of them the visitor points.

The maps are drawn on a board of charts, by static/units/; a component, outside of what is redrawn while training, says
at which of them the visitor points: what one inside a fragment says waits for the fragment to end.
"""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from lab.charts.plane import signed_shades, unit_table
from lab.ui.assets import component, keep_value

DIGITS = np.array(list(string.digits + string.ascii_uppercase))  # of base 36: one for each shade
_teller = component("unit_teller", "units/units.js", "tell")


def small_maps(maps: np.ndarray, layer: str, theme: str) -> dict[str, Any]:
    """What a board shows as "units": the outputs (rows, columns, units) of a layer's units over a plane, the smallest y
    in the first row."""
    codes: list[str] = []
    palette: list[str] = []
    for k in range(maps.shape[-1]):
        shades, palette = signed_shades(maps[::-1, :, k], theme)
        codes.append("".join(DIGITS[shades].flat))
    label = f"{maps.shape[-1]} small maps of the plane, one for the output of each unit of {layer}"
    headers, rows = unit_table(maps)
    return {
        "maps": codes,
        "palette": palette,
        "side": maps.shape[0],
        "label": label,
        "headers": headers,
        "rows": rows,
    }


def pointed_at(units: int) -> int | None:
    """The unit that the visitor points at, from 0, of a layer that has so many."""
    unit = _teller(key="training-unit-teller", on_unit_change=keep_value).get("unit")
    return unit if type(unit) is int and 0 <= unit < units else None
