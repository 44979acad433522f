"""The parts shared by all charts: the Chart class, colours, heatmap helpers, and the format of numbers and names.

Charts are plain ECharts dictionaries, each with an alternative text and a table of its numbers. Colour is never the
only sign: lines differ in dashes and carry their name, classes differ in the shape of their points. Gradients are
orange and weights blue, as in the drawings of graphs; deeper layers are lighter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar

import numpy as np

from lab.text import with_minus

T = TypeVar("T")


class Colours(TypedDict):
    """The colours of one theme by use. gradient, weight: the first and the last shade of a ramp over the layers."""

    train: str
    validation: str
    faint: str
    band: str
    gap: str
    paper: str
    text: str
    gradient: tuple[str, str]
    weight: tuple[str, str]
    classes: tuple[str, ...]


COLOURS: dict[str, Colours] = {
    "light": {
        "train": "#0069A5",
        "validation": "#AA3377",
        "faint": "#7a8794",
        "band": "rgba(0, 130, 90, 0.10)",
        "gap": "rgba(110, 120, 130, 0.22)",
        "paper": "#ffffff",
        "text": "#31333F",
        "gradient": ("#6b2c00", "#d9771a"),
        "weight": ("#003f66", "#3d9bd6"),
        "classes": ("#0072B2", "#AA3377", "#00805d", "#8a6d00", "#555555", "#D55E00"),
    },
    "dark": {
        "train": "#56B4E9",
        "validation": "#F08FC4",
        "faint": "#8b98a5",
        "band": "rgba(60, 200, 150, 0.12)",
        "gap": "rgba(190, 200, 210, 0.20)",
        "paper": "#0e1117",
        "text": "#fafafa",
        "gradient": ("#c25e08", "#ffd9b0"),
        "weight": ("#2f86c1", "#c4e6fb"),
        "classes": ("#56B4E9", "#F08FC4", "#2FBF91", "#F0E442", "#bbbbbb", "#FF8A4C"),
    },
}
DASHES: tuple[Any, ...] = ("solid", [7, 4], [2, 3], [10, 3, 2, 3], [1, 5], [14, 4])
SYMBOLS = ("circle", "triangle", "diamond", "rect", "pin", "arrow")
ROWS = 24  # of a table; longer ones are thinned out evenly
SHADES = 5  # of a class in the plane, from undecided to certain


@dataclass(frozen=True)
class Chart:
    """A chart: its ECharts options, an alternative text for screen readers, and its numbers as a table."""

    title: str
    spec: dict[str, Any]
    height: int  # in pixels; of a square chart, the greatest
    alt: str
    headers: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    backdrop: bytes = b""  # a PNG that fills the grid, behind all series
    of: int = 0  # rows that the table would have if it were not thinned out; 0 if it is not


def undrawn_line(data: list[Any], stack: str | None, fill: str | None = None) -> dict[str, Any]:
    """Make an undrawn line without legend or tooltip entry; `fill` colours the area down to the line below it."""
    return {
        "type": "line",
        "data": data,
        "symbol": "none",
        "silent": True,
        "tooltip": {"show": False},
        "lineStyle": {"opacity": 0},
        "z": 1,
        **({"stack": stack} if stack else {}),
        **({"areaStyle": {"color": fill}} if fill else {}),
    }


def heat_cells(codes: np.ndarray) -> list[list[int]]:
    """Convert codes (rows, columns) to the data of a heatmap: [column, row, code] for each cell."""
    rows, columns = np.indices(codes.shape)
    return np.stack([columns, rows, codes], axis=-1).reshape(-1, 3).tolist()


def heat_palette(colours: Sequence[str]) -> dict[str, Any]:
    """Make a visual map that gives code k of a heatmap, the chart's first series, the k-th colour."""
    pieces = [{"value": code, "color": colour} for code, colour in enumerate(colours)]
    return {"type": "piecewise", "show": False, "seriesIndex": 0, "dimension": 2, "pieces": pieces}


def percent(value: float) -> float:
    return round(100 * value, 2)


def signed(value: float, digits: str = ".3g") -> str:
    """Format a difference with its sign."""
    return with_minus(f"{value:+{digits}}")


def nth(choices: Sequence[T], index: int) -> T:
    return choices[index % len(choices)]


def thinned(records: Sequence[T], most: int = ROWS) -> list[T]:
    """Return at most `most` of the records, evenly spread, with the first and the last."""
    if len(records) <= most:
        return list(records)
    return [records[round(i)] for i in np.linspace(0, len(records) - 1, most)]


def mix(one: str, other: str, share: float) -> str:
    """Mix two colours, both #rrggbb: `share` of the way from one to the other."""
    a, b = (np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) for colour in (one, other))
    return "#" + "".join(f"{round(value):02x}" for value in a + share * (b - a))


def ramp(ends: tuple[str, str], count: int) -> list[str]:
    return [mix(*ends, i / max(count - 1, 1)) for i in range(count)]
