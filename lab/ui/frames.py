"""Charts that stay in their places on the page while their contents change many times a second."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.ui.charts import PLANE, Chart
from lab.ui.table import markdown_table


@dataclass
class _Frame:
    picture: DeltaGenerator
    backdrop: DeltaGenerator
    table: DeltaGenerator | None  # None while it is closed
    first: Chart
    shown: Chart | None = None


class Frames:
    """The script lays the charts out with `add`; then they are filled, and filled again, with `fill`.

    What a fragment adds for itself, headings and expanders too, would be sent and compared again with every update:
    most of the work of an update, in the browser, was this. A fragment can fill only what it has filled in the full
    run of the script as well: Streamlit then keeps the place for it.
    """

    def __init__(self) -> None:
        self._frames: dict[str, _Frame] = {}

    def add(self, key: str, chart: Chart, note: str = "") -> None:
        """Where the page is just now: the chart's heading, and room for the chart and for its numbers as a table."""
        st.header(f"{chart.title} :small[:gray[{note}]]" if note else chart.title, anchor=f"training-{key}")
        with st.container(key=f"chart-{key}", gap=None):
            picture, backdrop = st.empty(), st.empty()
        table = st.expander("As a table", key=f"table-{key}", on_change="rerun", type="compact")
        self._frames[key] = _Frame(picture, backdrop, table.empty() if table.open else None, chart)

    def show(self, key: str, chart: Chart, note: str = "") -> None:
        """A chart under its heading, with its numbers as a table, all at once."""
        self.add(key, chart, note)
        self.fill(key, chart)

    def fill_all(self) -> None:
        """Show every chart that was added."""
        for key, frame in self._frames.items():
            self.fill(key, frame.first)

    def fill(self, key: str, chart: Chart) -> None:
        """Show a chart in the place that was made for it. One that is there already is not sent again."""
        frame = self._frames[key]
        if chart == frame.shown:
            return
        frame.shown = chart
        if chart.backdrop:
            left, top, right, bottom = PLANE
            frame.backdrop.html(
                f"<style>.st-key-chart-{key} canvas {{"
                f"background: {left}px {top}px / calc(100% - {left + right}px) calc(100% - {top + bottom}px) no-repeat "
                f"url(data:image/png;base64,{base64.b64encode(chart.backdrop).decode()})}}</style><i></i>"
            )
        frame.picture.echarts_chart(chart.spec, height=chart.height, alt=chart.alt)
        if frame.table:
            frame.table.markdown(markdown_table(chart.headers, chart.rows))
