"""Charts that stay in place on the page while their contents change many times a second."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from lab.charts import Chart
from lab.text import strict_json
from lab.ui.assets import component, keep_value
from lab.ui.memoize import memoize

# Isolated styles would put the charts into a shadow tree, where a link cannot reach a heading.
_component = component("charts", "charts/charts.js", lost="The charts", isolate_styles=False)


class ChartHost:
    """Places charts on a page with `place`, and shows their contents with `fill` and then `update`, as often as needed.

    Streamlit's frontend goes through the whole page for every element that changes. So the contents of all charts are
    sent as one hidden text, the payload, which the charts read.
    """

    def __init__(
        self, name: str, notes: Mapping[str, str] | None = None, heights: Mapping[str, str] | None = None
    ) -> None:
        """Name the payload.

        name: unique on the page; notes: chart -> small print next to its heading; heights: chart -> CSS height that
        replaces the chart's own.
        """
        self._name = f"feed-{name}"
        self._notes = notes or {}
        self._heights = heights or {}

    def place(self, *keys: str) -> None:
        """Reserve space at this point of the page for charts, one below the other.

        Two keys are not charts: "progress" is the progress bar of a run, "network" its network
        (lab/charts/network.py).
        """
        data = {"feed": self._name, "keys": keys}
        _component(key=f"charts {self._name} {keys[0]}", data=strict_json(data).encode())

    def fill(self, charts: Mapping[str, Chart], others: Mapping[str, Any] | None = None) -> None:
        """Show charts in their places; others: the contents of "progress" and "network", as plain data.

        A fragment calls it in each of its runs: a newer run of the page may take away at any time what lies outside.
        """
        text = self._text(charts, others)
        with st.container(key=self._name):
            self._payload = st.text(text)
            _component(key=f"{self._name} reader", data=strict_json({"feed": self._name}).encode())

    def update(self, charts: Mapping[str, Chart], others: Mapping[str, Any] | None = None) -> None:
        """Show other contents after `fill`."""
        self._payload.text(self._text(charts, others))

    def _text(self, charts: Mapping[str, Chart], others: Mapping[str, Any] | None) -> str:
        shown = dict(others or {})
        for key, chart in charts.items():
            shown[key] = _entry(chart, self._notes.get(key, ""), self._heights.get(key, ""))
        # Comparing takes a fraction of the time that serializing a large chart does.
        return memoize(f"payload {self._name}", shown, lambda: strict_json(shown))


def show_chart(chart: Chart, key: str, of: str = "") -> None:
    """Draw a single chart between other elements of a page.

    key: unique on the page; of: the engine that the chart is about, as a note and in the alternative text.
    """
    name = re.sub(r"\W", "-", key)
    shown = _entry(replace(chart, alt=f"{of.capitalize()} engine. {chart.alt}") if of else chart, of)
    data = {"keys": [name], "payload": {name: shown}}
    _component(key=f"chart {name}", data=memoize(f"chart data {name}", data, lambda: strict_json(data).encode()))


def _entry(chart: Chart, note: str, height: str = "") -> dict[str, Any]:
    entry = {name: getattr(chart, name) for name in ("title", "spec", "alt", "headers", "rows", "of")}
    entry |= {"note": note, "height": height or f"{chart.height}px"}
    if chart.backdrop:
        edges = [chart.spec["grid"][edge] for edge in ("left", "top", "right", "bottom")]
        entry["backdrop"] = {"png": base64.b64encode(chart.backdrop).decode(), "edges": edges}
    return entry


def teller(kind: str, key: str, **callbacks: Callable[[], None]) -> dict[str, Any]:
    """Mount what tells the page of clicks on charts, and return what it has told.

    Charts that change during training are in a fragment, whose messages wait until it ends; this belongs outside.

    kind: "epoch", "points" or "network" (static/charts/channel.js)
    """
    told: dict[str, Any] = _component(key=key, data=strict_json({"tells": kind}).encode(), **callbacks)
    return told


def clicked_points(key: str) -> list[tuple[float, float]]:
    """Return the points (x, y) clicked since the last call, on a chart whose spec contains `placing`."""
    clicks = teller("points", key, on_clicks_change=keep_value).get("clicks")
    if not isinstance(clicks, dict) or not isinstance(clicks.get("points"), list):
        return []
    page, points = clicks.get("id"), clicks["points"]
    before, count = st.session_state.get(f"{key} acknowledged", (None, 0))
    st.session_state[f"{key} acknowledged"] = page, len(points)
    fresh = points[count:] if page == before else points
    proper = [p for p in fresh if isinstance(p, list) and len(p) == 2 and all(map(_is_number, p))]
    return [(float(x), float(y)) for x, y in proper]


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
