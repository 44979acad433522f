"""A chart among the text of a page."""

from __future__ import annotations

import streamlit as st

from lab.charts import Chart
from lab.ui.table import markdown_table


def show_chart(chart: Chart, key: str, of: str = "") -> None:
    """A chart under its heading, and its numbers as a table for whoever opens it. of: which engine's it is."""
    st.markdown(f"**{chart.title}**" + (f", {of}" if of else ""))
    alt = f"{of.capitalize()} engine. {chart.alt}" if of else chart.alt
    st.echarts_chart(chart.spec, height=chart.height, alt=alt, key=f"{key} chart")
    table = st.expander("As a table", key=f"{key} table", on_change="rerun", type="compact")
    if table.open:
        table.markdown(markdown_table(chart.headers, chart.rows))
