"""Heatmap of a Jacobian: one row for each output, one column for each input, filled pass by pass."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lab.charts.chart import COLOURS, SHADES, Chart, heat_palette, mix
from lab.text import numeral

UNKNOWN = "·"
MAX_LETTERS = 30  # in a row of cells with large digits: more would run together on a phone
MIN_SHADE, MAX_SHADE = 0.12, 0.45  # share of its colour in a cell that is not 0


def jacobian(
    matrix: np.ndarray,
    known: np.ndarray,
    outputs: Mapping[str, float],
    inputs: Mapping[str, float],
    theme: str = "light",
) -> Chart:
    """Draw the derivatives (m, n) of outputs with respect to inputs, both given as name -> value.

    known (m, n): True for the cells that a pass has filled; the others show a dot. Positive cells are blue, negative
    ones pink with a minus sign, both visibly coloured however small the number. An exact 0 has a dashed frame and no
    colour.
    """
    colours = COLOURS[theme]
    finite = np.where(known & np.isfinite(matrix), matrix, 0.0)
    # Rounded up, so that only an exact 0 has no colour.
    sizes = np.ceil(SHADES * np.abs(finite) / (np.abs(finite).max(initial=0.0) or 1.0)).astype(int)
    codes = np.where(known, np.where(finite < 0, SHADES + 1 + sizes, sizes), 2 * SHADES + 2)
    shades = [
        mix(colours["paper"], colours[ink], MIN_SHADE + (MAX_SHADE - MIN_SHADE) * k / SHADES if k else 0.0)
        for ink in ("train", "validation")
        for k in range(SHADES + 1)
    ]
    palette = [*shades, mix(colours["paper"], colours["faint"], 0.15)]
    texts = [
        [numeral(value) if there else UNKNOWN for value, there in zip(*row, strict=True)]
        for row in zip(matrix.tolist(), known, strict=True)
    ]
    small = 10 if len(inputs) > 5 or len(inputs) * max(len(text) for row in texts for text in row) > MAX_LETTERS else 12
    zero = {"borderColor": colours["faint"], "borderType": "dashed", "borderWidth": 1.5}
    cells = [
        {
            "value": [j, i, int(codes[i, j])],
            "label": {"formatter": texts[i][j], "fontSize": small},
            "itemStyle": zero if known[i, j] and matrix[i, j] == 0 else {},
        }
        for i in range(len(outputs))
        for j in range(len(inputs))
    ]
    label = {"interval": 0, "fontSize": small, "lineHeight": 14}
    axis = {"type": "category", "splitArea": {"show": False}, "axisTick": {"show": False}, "axisLabel": label}
    rows = _labels(outputs, " = ")
    filled = int(known.sum())
    zeros = int(np.sum(known & (matrix == 0)))
    return Chart(
        "The Jacobian",
        {
            "grid": {"left": min(130, small // 2 * max(map(len, rows)) + 16), "right": 4, "top": 44, "bottom": 4},
            "xAxis": {**axis, "data": _labels(inputs, "\n"), "position": "top"},
            "yAxis": {**axis, "data": rows, "inverse": True},
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
        52 + (48 if len(outputs) < 6 else 36) * max(2, len(outputs)),
        f"The Jacobian, {len(outputs)} outputs by {len(inputs)} inputs: {filled} of {known.size} cells are filled, "
        f"{zeros} of them are 0.",
        ("output", *(f"by {name}" for name in inputs)),
        [(name, *row) for name, row in zip(outputs, texts, strict=True)],
    )


def _labels(named: Mapping[str, float], sign: str) -> list[str]:
    return [f"{name}{sign}{numeral(value)}" for name, value in named.items()]
