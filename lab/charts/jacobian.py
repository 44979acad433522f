"""A Jacobian as a picture: one row for each output, one column for each input, filled pass by pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lab.charts.chart import COLOURS, SHADES, Chart, heat_palette, mix
from lab.text import numeral

UNKNOWN = "·"


def jacobian(
    matrix: np.ndarray, known: np.ndarray, outputs: Sequence[str], inputs: Sequence[str], theme: str = "light"
) -> Chart:
    """matrix (m, n): derivatives of outputs with respect to inputs; known (m, n): which cells a pass has filled.

    Above zero is blue, below zero has a minus sign and is pink; a cell that no pass has filled has a dot, never 0.
    """
    colours = COLOURS[theme]
    finite = np.where(known & np.isfinite(matrix), matrix, 0.0)
    # Rounded up: only what is exactly 0 has no colour.
    sizes = np.ceil(SHADES * np.abs(finite) / (np.abs(finite).max(initial=0.0) or 1.0)).astype(int)
    codes = np.where(known, np.where(finite < 0, SHADES + 1 + sizes, sizes), 2 * SHADES + 2)
    shades = [
        mix(colours["paper"], colours[ink], 0.45 * k / SHADES)
        for ink in ("train", "validation")
        for k in range(SHADES + 1)
    ]
    palette = [*shades, mix(colours["paper"], colours["faint"], 0.15)]
    small = 10 if len(inputs) > 5 else 12
    cells = [
        {
            "value": [j, i, int(codes[i, j])],
            "label": {"formatter": numeral(matrix[i, j]) if known[i, j] else UNKNOWN, "fontSize": small},
        }
        for i in range(len(outputs))
        for j in range(len(inputs))
    ]
    axis = {"type": "category", "splitArea": {"show": False}, "axisTick": {"show": False}}
    label = {"interval": 0, "fontSize": small}
    filled = int(known.sum())
    zeros = int(np.sum(known & (matrix == 0)))
    return Chart(
        "The Jacobian",
        {
            "animation": False,
            "grid": {"left": 70, "right": 4, "top": 30, "bottom": 4, "outerBoundsMode": "none"},
            "xAxis": {**axis, "data": list(inputs), "position": "top", "axisLabel": label},
            "yAxis": {**axis, "data": list(outputs), "inverse": True, "axisLabel": label},
            "visualMap": heat_palette(palette),
            "series": [
                {
                    "type": "heatmap",
                    "data": cells,
                    "label": {"show": True, "color": colours["text"]},
                    "itemStyle": {"borderColor": colours["paper"], "borderWidth": 2},
                    "silent": True,
                }
            ],
        },
        38 + (48 if len(outputs) < 6 else 36) * max(2, len(outputs)),
        f"The Jacobian, {len(outputs)} outputs by {len(inputs)} inputs: {filled} of {known.size} cells are filled, "
        f"{zeros} of them are 0.",
        ("output", *(f"by {name}" for name in inputs)),
        [
            (name, *(numeral(value) if there else UNKNOWN for value, there in zip(row, mask, strict=True)))
            for name, row, mask in zip(outputs, matrix.tolist(), known, strict=True)
        ],
    )
