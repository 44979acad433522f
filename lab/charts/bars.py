"""Bar chart of a few things, each with the same few quantities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.charts.chart import COLOURS, Chart, nth
from lab.text import short

THICKNESS, AROUND = 14, 40  # height in pixels of a bar, and of the legend above the bars


def bars(title: str, names: Sequence[str], quantities: Mapping[str, Sequence[float]], theme: str = "light") -> Chart:
    """Draw a group of bars for each name, one for each quantity (a value per name), on one axis from 0, with labels."""
    colours = COLOURS[theme]
    spec = {
        "legend": {"data": list(quantities), "top": 0, "left": 0, "itemWidth": 18},
        "grid": {"left": 112, "right": 56, "top": 32, "bottom": 4},
        "xAxis": {"type": "value", "min": 0, "show": False},
        "yAxis": {"type": "category", "data": list(names), "inverse": True, "axisTick": {"show": False}},
        "series": [
            {
                "type": "bar",
                "name": quantity,
                "data": [{"value": one, "label": {"formatter": short(one)}} for one in values],
                "color": nth(colours["classes"], index),
                "label": {"show": True, "position": "right", "color": colours["text"]},
                "silent": True,
            }
            for index, (quantity, values) in enumerate(quantities.items())
        ],
    }
    rows = [(name, *(short(one) for one in values)) for name, *values in zip(names, *quantities.values(), strict=True)]
    sentences = [f"{name}: {', '.join(map(' '.join, zip(quantities, values, strict=True)))}." for name, *values in rows]
    height = AROUND + THICKNESS * len(names) * (len(quantities) + 1)
    return Chart(title, spec, height, " ".join((f"{title}.", *sentences)), ("", *quantities), rows)
