"""Chart of the training losses of a healthy and a broken engine, epoch by epoch."""

import math
from collections.abc import Sequence
from typing import Any

from lab.charts.chart import Chart
from lab.charts.lines import Axis, Line, lines

MIN_LOSS, MAX_LOSS = 1e-4, 1e4  # limits of a logarithmic axis


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
    columns = {"healthy": healthy, "broken": broken}
    drawn = [
        Line(name, [*enumerate(math.nan if loss is None else loss for loss in column)])
        for name, column in columns.items()
    ]
    known = [loss for column in columns.values() for loss in column if loss]
    low, high = min(known), max(known)
    log = high > 20 * low
    ends = (MIN_LOSS if low < MIN_LOSS else None, MAX_LOSS if high > MAX_LOSS else None) if log else (0, None)
    title = "Training loss" + (" (logarithmic)" if log else "")
    return lines(title, drawn, Axis("epoch"), Axis("loss", log, ends), height=220, theme=theme)


def _decade(value: float) -> float:
    return 10.0 ** math.floor(math.log10(value))
