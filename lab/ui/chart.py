"""A chart among the text of a page."""

from __future__ import annotations

import re
from dataclasses import replace

from lab.charts import Chart
from lab.ui.chart_host import ChartHost


def show_chart(chart: Chart, key: str, of: str = "") -> None:
    """A chart under its heading, with its table. key: its own on the page; of: which engine's it is."""
    name = re.sub(r"\W", "-", key)
    boards = ChartHost(name, {name: of})
    boards.board(name)
    boards.fill({name: replace(chart, alt=f"{of.capitalize()} engine. {chart.alt}") if of else chart})
