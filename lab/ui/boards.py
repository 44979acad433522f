"""Charts that stay in their places on the page while their contents change many times a second."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import streamlit as st

from lab.charts import Chart
from lab.charts.plane import PLANE
from lab.trace.recording import strict_json
from lab.training.config import is_number
from lab.ui.assets import keep_value, loading

_CSS = """
section.figure h2 { margin: 0; padding: 0.25rem 0 0; font-size: 1.05rem; font-weight: 600; line-height: 1.3; }
section.figure h2 small { font-size: 0.8rem; font-weight: 400; opacity: 0.75; }
.figure .picture { width: 100%; }
.figure details { margin: 0 0 1rem; font-size: 0.875rem; }
.figure summary { width: fit-content; cursor: pointer; opacity: 0.8; }
.figure summary:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
.figure table { border-collapse: collapse; }
.figure :is(th, td) { border: 1px solid var(--st-border-color); text-align: left; font-variant-numeric: tabular-nums; }
.unit-maps { display: grid; grid-template-columns: repeat(auto-fill, minmax(36px, 1fr)); gap: 6px; margin: 0 0 0.5rem; }
.unit-maps button { padding: 0; border: 1px solid var(--st-border-color); border-radius: 4px; overflow: hidden;
  aspect-ratio: 1; max-width: 64px; background: none; cursor: pointer; }
.unit-maps button:is(:hover, :focus-visible) { outline: 3px solid var(--st-primary-color); outline-offset: 1px; }
.unit-maps canvas { display: block; width: 100%; height: 100%; }
.run-progress p { margin: 0 0 0.25rem; }
.run-progress progress { display: block; appearance: none; width: 100%; height: 0.5rem; border: 0; border-radius: 4px;
  overflow: hidden; background: var(--st-border-color); }
.run-progress progress::-webkit-progress-bar { background: var(--st-border-color); }
.run-progress progress::-webkit-progress-value { background: var(--st-primary-color); }
.run-progress progress::-moz-progress-bar { background: var(--st-primary-color); }
"""
_component = st.components.v2.component(
    "tensor_ops_lab_charts",
    css=_CSS,
    js=loading("charts/charts.js")
    + """export default function ({ data, parentElement }) {
  loading.then(
    (charts) => charts.show({ data, parentElement }),
    () => parentElement.append("The charts could not be loaded. Load the page again."),
  );
  return () => loading.then((charts) => charts.remove(parentElement), () => {});
}""",
    isolate_styles=False,  # so that a link leads to a heading
)


class Boards:
    """The script lays out boards of charts with `board`; `fill` says what they show, as often as it likes.

    For whatever changes on a page, Streamlit's browser side goes through all of it. So what all charts show travels as
    one text, hidden on the page, which they read. A fragment may write it if the full run of the script has, too.
    """

    def __init__(
        self, name: str, notes: Mapping[str, str] | None = None, heights: Mapping[str, str] | None = None
    ) -> None:
        """name: for this page; notes: chart -> small print beside its heading; heights: chart -> a height in CSS,
        where it is not to have its own."""
        self._name = f"feed-{name}"
        self._notes = notes or {}
        self._heights = heights or {}
        with st.container(key=self._name):
            self._feed = st.empty()

    def board(self, *keys: str) -> None:
        """Room for charts, one below the other, where the page is just now. Two are no charts: "progress" is the bar of
        a run, and "units" are small maps (lab/ui/training/units.py)."""
        data = {"feed": f"st-key-{self._name}", "keys": keys}
        _component(key=f"board {self._name} {keys[0]}", data=strict_json(data).encode())

    def fill(self, charts: Mapping[str, Chart], others: Mapping[str, Any] | None = None) -> None:
        """Show charts in the places that were made for them; others: what is no chart, as plain data."""
        entries = {key: self._entry(key, chart) for key, chart in charts.items()}
        self._feed.text(strict_json(entries | dict(others or {})))

    def _entry(self, key: str, chart: Chart) -> dict[str, Any]:
        entry = {name: getattr(chart, name) for name in ("title", "spec", "alt", "headers", "rows")}
        entry["height"] = self._heights.get(key, f"{chart.height}px")
        if chart.backdrop:
            entry["backdrop"] = {"png": base64.b64encode(chart.backdrop).decode(), "edges": PLANE}
        return entry | {"note": self._notes.get(key, "")}


_teller = st.components.v2.component(
    "tensor_ops_lab_epoch_teller",
    js=loading("charts/charts.js")
    + """export default function (component) {
  const leaving = loading.then((charts) => charts.tellEpoch(component));
  return () => leaving.then((leave) => leave?.());
}""",
)


def clicked_epoch(key: str, slider: str, epochs: tuple[int, int]) -> None:
    """Let a click on a curve move the slider with this key, between the first and the last of the epochs; to be called
    before the slider."""

    def move() -> None:
        epoch = st.session_state[key].get("epoch")
        if type(epoch) is int:
            st.session_state[slider] = min(max(epoch, epochs[0]), epochs[1])

    _teller(key=key, on_epoch_change=move)


_point_teller = st.components.v2.component(
    "tensor_ops_lab_point_teller",
    js=loading("charts/charts.js")
    + """export default function (component) {
  const leaving = component.parentElement.telling ??= loading.then((charts) => charts.tellPoints(component));
  return () => {
    if (component.parentElement.isConnected) return;
    leaving.then((leave) => leave?.());
  };
}""",
)


def clicked_points(key: str) -> list[tuple[float, float]]:
    """The points (x, y) that were clicked on a chart that says `placing`, since this was last called."""
    clicks = _point_teller(key=key, on_clicks_change=keep_value).get("clicks")
    if not isinstance(clicks, dict) or not isinstance(clicks.get("points"), list):
        return []
    page, points = clicks.get("id"), clicks["points"]
    before, count = st.session_state.get(f"{key} heard", (None, 0))
    st.session_state[f"{key} heard"] = page, len(points)
    fresh = points[count:] if page == before else points
    proper = [p for p in fresh if isinstance(p, list) and len(p) == 2 and all(is_number(value) for value in p)]
    return [(float(x), float(y)) for x, y in proper]
