"""Heatmap of the error at each element of an array, for the gradient check."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lab.charts.chart import COLOURS, Chart, heat_palette, mix
from lab.text import short

LEVELS = 7
MAX_WRITTEN = 6  # columns up to which each cell shows its number
ROW = 34  # height in pixels


def error_map(
    name: str, errors: np.ndarray, kinks: Sequence[tuple[int, ...]], chosen: tuple[int, ...], theme: str = "light"
) -> Chart:
    """Draw errors of shape (n,) or (rows, columns); kinks, chosen: indices into them.

    The stronger the colour, the larger the error; cells show their numbers where there is room. The largest error and
    the kinks are labelled, and `chosen` is framed.
    """
    colours = COLOURS[theme]
    rows, kinked = np.atleast_2d(errors), {(0, *index)[-2:] for index in kinks}
    sizes = np.log10(np.where((rows > 0) & np.isfinite(rows), rows, np.nan))
    low, high = (np.nanmin(sizes), np.nanmax(sizes)) if np.isfinite(sizes).any() else (0.0, 1.0)
    codes = np.rint((LEVELS - 1) * np.nan_to_num((sizes - low) / max(high - low, 1e-9))).astype(int)
    codes[~np.isfinite(rows)] = LEVELS - 1
    worst = np.unravel_index(np.argmax(np.where(np.isnan(rows), np.inf, rows)), rows.shape)
    frame = (0, *chosen)[-2:]
    cells = []
    for (i, j), error in np.ndenumerate(rows):
        words = [short(float(error)) if math.isfinite(error) else "nan"] if rows.shape[1] <= MAX_WRITTEN else []
        words += ["worst"] if (i, j) == worst else []
        words += ["kink"] if (i, j) in kinked else []
        cells.append(
            {
                "value": [j, i, int(codes[i, j])],
                "label": {"show": bool(words), "formatter": ", ".join(words)},
                "itemStyle": {
                    "borderColor": colours["text"] if (i, j) == frame else colours["paper"],
                    "borderWidth": 3 if (i, j) == frame else 1,
                },
            }
        )
    axis = {"type": "category", "splitLine": {"show": False}, "axisTick": {"show": False}}
    spec = {
        "grid": {"left": 36, "right": 12, "top": 8, "bottom": 28},
        "xAxis": axis | {"data": [str(j) for j in range(rows.shape[1])]},
        "yAxis": axis | {"data": [str(i) for i in range(rows.shape[0])], "inverse": True, "show": errors.ndim > 1},
        "visualMap": heat_palette(
            [mix(colours["paper"], colours["gradient"][1], 0.6 * k / (LEVELS - 1)) for k in range(LEVELS)]
            if theme == "light"
            else [mix(colours["paper"], colours["gradient"][0], 0.8 * k / (LEVELS - 1)) for k in range(LEVELS)]
        ),
        "series": [{"type": "heatmap", "data": cells, "label": {"color": colours["text"], "fontSize": 12}}],
    }
    place = ", ".join(str(int(i)) for i in worst[-errors.ndim :])
    alt = f"The error at each element of {name}. Largest at [{place}]: {short(float(rows[worst]))}."
    alt += f" Kinks: {len(kinked)}." if kinked else ""
    return Chart(
        f"The error at each element of {name}",
        spec,
        40 + ROW * max(rows.shape[0], 2),
        alt,
        ("row", *(str(j) for j in range(rows.shape[1]))),
        [(str(i), *map(short, row)) for i, row in enumerate(rows)],
    )
