"""Charts of a regression: its curve through the samples, or its predictions against the targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lab.charts.chart import COLOURS, DASHES, SYMBOLS, Chart, Colours
from lab.charts.decision_boundary import MAX_OUTLINED, PLANE
from lab.text import short

ROWS = 13  # of the table


def curve(xs: np.ndarray, answers: np.ndarray, inputs: np.ndarray, wanted: np.ndarray, theme: str = "light") -> Chart:
    """Draw predictions (n,) at the inputs xs (n,) as a curve, over samples: inputs and targets (wanted), each (m,)."""
    colours = COLOURS[theme]
    line = np.stack([xs, answers], axis=1)
    drawn = line[np.isfinite(answers)]
    listed = np.linspace(0, len(xs) - 1, ROWS).round().astype(int).tolist()
    return Chart(
        "The curve that the network has learned",
        _spec(drawn, np.stack([inputs, wanted], axis=1), ("the network", "samples"), ("input", "target"), colours),
        410,
        f"The answers of the network as a curve over its input, through {len(inputs)} samples: {short(answers[0])} at "
        f"{short(xs[0])}, {short(answers[len(xs) // 2])} at {short(xs[len(xs) // 2])}, {short(answers[-1])} at "
        f"{short(xs[-1])}.",
        ("input", "answer of the network"),
        [(short(xs[i]), short(answers[i])) for i in listed],
    )


def answers_against_targets(answers: np.ndarray, wanted: np.ndarray, theme: str = "light") -> Chart:
    """Draw predictions against targets (wanted), each (n,), with the line on which both are equal."""
    colours = COLOURS[theme]
    known = np.isfinite(answers)
    ends = np.array(
        [min(wanted.min(), answers[known].min(initial=np.inf)), max(wanted.max(), answers[known].max(initial=-np.inf))]
    )
    points = np.stack([wanted, answers], axis=1)
    off = np.sqrt(np.mean((answers - wanted) ** 2))
    order = np.argsort(wanted)[np.linspace(0, len(wanted) - 1, min(ROWS, len(wanted))).round().astype(int)]
    return Chart(
        "Answers against targets",
        _spec(np.stack([ends, ends], axis=1), points[known], ("equal", "samples"), ("target", "answer"), colours),
        410,
        f"The answers of the network to {len(wanted)} samples against their targets. Root of the mean squared "
        f"error: {short(off)}.",
        ("target", "answer of the network"),
        [(short(wanted[i]), short(answers[i])) for i in order.tolist()],
    )


def _spec(
    line: np.ndarray, points: np.ndarray, names: Sequence[str], axes: Sequence[str], colours: Colours
) -> dict[str, Any]:
    """Make the options of a chart with a line, and points behind it."""
    number = {
        "type": "value",
        "scale": True,
        "splitLine": {"show": False},
        "axisLabel": {"showMinLabel": False, "showMaxLabel": False},
        "nameLocation": "middle",
    }
    left, top, right, bottom = PLANE
    return {
        "grid": {"left": left + 30, "top": top, "right": right, "bottom": bottom + 14},
        "legend": {"top": 0, "left": 0, "data": list(names)},
        "xAxis": [{**number, "name": axes[0], "nameGap": 22}],
        "yAxis": [{**number, "name": axes[1], "nameGap": 36}],
        "series": [
            {
                "type": "scatter",
                "name": names[1],
                "symbol": SYMBOLS[0],
                "symbolSize": 6,
                "color": colours["faint"],
                "data": points.round(4).tolist(),
                "large": len(points) > MAX_OUTLINED,
                "largeThreshold": 0,
                "silent": True,
            },
            {
                "type": "line",
                "name": names[0],
                "data": line.round(4).tolist(),
                "symbol": "none",
                "color": colours["train"],
                "lineStyle": {"type": DASHES[0], "width": 3},
                "silent": True,
                "z": 3,
            },
        ],
    }
