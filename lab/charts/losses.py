"""Chart of the training losses of a healthy and a broken engine, epoch by epoch."""

import math
from collections.abc import Sequence
from typing import Any

from lab.charts.chart import COLOURS, DASHES, SYMBOLS, Chart, thinned
from lab.text import short

MIN_LOSS, MAX_LOSS = 1e-4, 1e4  # limits of a logarithmic axis
ROWS = 12  # of the table of losses


def limit_log_axis(spec: dict[str, Any]) -> None:
    """Limit a logarithmic axis, so that extreme values leave the picture instead of squeezing the rest."""
    axis = spec["yAxis"]
    if axis["type"] == "log":
        drawn = [value for line in spec["series"] if "name" in line for value in line["data"] if value]
        low, high = (
            axis.get("min", _decade(min(drawn, default=1.0))),
            axis.get("max", 10 * _decade(max(drawn, default=1.0))),
        )
        axis |= {"min": max(low, MIN_LOSS), "max": min(high, MAX_LOSS)}


def losses(healthy: Sequence[float | None], broken: Sequence[float | None], theme: str) -> Chart:
    """Draw the training losses of both engines by epoch, on a logarithmic axis if they are far apart."""
    colours = COLOURS[theme]
    columns = {"healthy": healthy, "broken": broken}
    epochs = max(len(column) for column in columns.values())
    known = [value for column in columns.values() for value in column if value]
    logarithmic = max(known) > 20 * min(known)
    looks = ((colours["train"], DASHES[0], SYMBOLS[0]), (colours["validation"], DASHES[1], SYMBOLS[1]))
    series: list[dict[str, Any]] = [
        {
            "type": "line",
            "name": name,
            "data": [value or None for value in column],
            "color": colour,
            "lineStyle": {"type": dash, "width": 2},
            "symbol": symbol,
            "symbolSize": 7,
        }
        for (name, column), (colour, dash, symbol) in zip(columns.items(), looks, strict=True)
    ]
    spec = {
        "legend": {"data": list(columns), "top": 0, "left": 0, "itemWidth": 34},
        "grid": {"left": 46, "right": 20, "top": 46, "bottom": 36},
        "tooltip": {"trigger": "axis", "valueFormatter": "%.4g"},
        "xAxis": {
            "type": "category",
            "data": [str(epoch) for epoch in range(epochs)],
            "boundaryGap": False,
            "name": "epoch",
            "nameLocation": "middle",
            "nameGap": 22,
            "axisPointer": {"label": {"formatter": "epoch {value}"}},
        },
        "yAxis": {"type": "log"} if logarithmic else {"type": "value", "min": 0},
        "series": series,
    }
    limit_log_axis(spec)
    shown = thinned(range(epochs), ROWS)
    rows = [(str(epoch), *(_at(column, epoch) for column in columns.values())) for epoch in shown]
    return Chart(
        "Training loss" + (" (logarithmic)" if logarithmic else ""),
        spec,
        220,
        f"Training loss by epoch in both engines. Healthy: {_course(columns['healthy'])}. "
        f"Broken: {_course(columns['broken'])}.",
        ("epoch", "healthy", "broken"),
        rows,
    )


def _decade(value: float) -> float:
    return 10.0 ** math.floor(math.log10(value))


def _at(column: Sequence[float | None], epoch: int) -> str:
    return short(column[epoch]) if epoch < len(column) else "–"


def _course(column: Sequence[float | None]) -> str:
    last = len(column) - 1
    return f"{_at(column, 0)} before training, {_at(column, last)} after {last} epochs"
