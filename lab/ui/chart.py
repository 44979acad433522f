"""A single chart between other elements of a page."""

from __future__ import annotations

import re
from dataclasses import replace

from lab.charts import Chart
from lab.ui.chart_host import ChartHost


def show_chart(chart: Chart, key: str, of: str = "") -> None:
    """Draw a chart with its heading and data table.

    key: unique on the page; of: the engine that the chart is about, as a note and in the alternative text.
    """
    name = re.sub(r"\W", "-", key)
    host = ChartHost(name, {name: of})
    host.place(name)
    host.fill({name: replace(chart, alt=f"{of.capitalize()} engine. {chart.alt}") if of else chart})
