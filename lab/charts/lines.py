"""Line chart over any quantity, for pages that compute a result for many values of one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lab.charts.chart import COLOURS, DASHES, SYMBOLS, Chart, nth, thinned
from lab.text import short

TICKS = 8  # approximate number on a logarithmic axis whose ends are given
LEGEND_WIDTH, LEGEND_ROW, LEGEND_MARK, LETTER = 400, 24, 49, 6.5  # pixels: of the legend, a row, a mark, a letter
MAX_ROWS = 100  # of the table
MAX_MARKERS = 40  # along a line: more would hide it


@dataclass(frozen=True)
class Line:
    """A named line through points (x, y), the smallest x first. dots: True draws the points without a line."""

    name: str
    points: Sequence[tuple[float, float]]
    dots: bool = False


@dataclass(frozen=True)
class Mark:
    """A labelled marker line at a position on one of the axes."""

    axis: Literal["x", "y"]
    at: float
    word: str


@dataclass(frozen=True)
class Axis:
    """An axis: its name, whether it is logarithmic (which excludes values up to 0), and its ends if they are fixed."""

    name: str
    log: bool = False
    ends: tuple[float | None, float | None] = (None, None)

    def holds(self, value: float) -> bool:
        return math.isfinite(value) and (value > 0 or not self.log)

    def spec(self) -> dict[str, Any]:
        low, high = self.ends
        ends = {"min": low} if low is not None else {}
        ends |= {"max": high} if high is not None else {}
        if self.log and low and high:
            ends["interval"] = max(1, round(math.log10(high / low) / TICKS))  # powers of ten between two ticks
        return {"type": "log" if self.log else "value", "name": self.name, **ends}


def lines(
    title: str,
    drawn: Sequence[Line],
    x: Axis,
    y: Axis,
    *,
    marks: Sequence[Mark] = (),
    height: int = 300,
    theme: str = "light",
) -> Chart:
    """Draw lines with a legend, a table of their numbers, and a text that says where each begins, ends and is lowest.

    Values that an axis cannot show (nan, inf, zero on a logarithmic axis) are only in the table.
    """
    colours = COLOURS[theme]
    more = LEGEND_ROW * (_legend_rows(drawn) - 1)
    series = [_series(line, index, x, y, theme) for index, line in enumerate(drawn)]
    if series:
        series[0]["markLine"] = {
            "silent": True,
            "symbol": "none",
            "precision": -1,  # otherwise ECharts rounds the position to two decimals
            "label": {"formatter": "{b}", "position": "insideEndTop", "color": colours["text"], "fontSize": 12},
            "lineStyle": {"type": "dashed", "color": colours["faint"]},
            "data": [
                {f"{mark.axis}Axis": mark.at, "name": mark.word}
                for mark in marks
                if (x if mark.axis == "x" else y).holds(mark.at)
            ],
        }
    spec = {
        "legend": {"data": [line.name for line in drawn], "type": "plain", "top": 0, "left": 0, "itemWidth": 34},
        "grid": {"left": 64, "right": 24, "top": 52 + more, "bottom": 44},
        "tooltip": {"trigger": "axis", "valueFormatter": "%.4g"},
        "xAxis": [x.spec() | {"nameLocation": "middle", "nameGap": 26}],
        "yAxis": y.spec() | {"nameLocation": "end", "nameGap": 10, "nameTextStyle": {"align": "left"}},
        "series": series,
    }
    columns = [dict(line.points) for line in drawn]
    places = sorted({place for column in columns for place in column})
    rows = [
        (short(place), *(short(column[place]) if place in column else "" for column in columns))
        for place in thinned(places, MAX_ROWS)
    ]
    headers = (x.name, *(line.name for line in drawn))
    return Chart(title, spec, height + more, _words(title, drawn, marks), headers, rows, of=len(places))


def _legend_rows(drawn: Sequence[Line]) -> int:
    """Estimate the rows that the legend needs in the narrowest chart, so that no name is cut off."""
    rows, room = 1, float(LEGEND_WIDTH)
    for line in drawn:
        width = LEGEND_MARK + LETTER * len(line.name)
        if room < width:
            rows, room = rows + 1, float(LEGEND_WIDTH)
        room -= width
    return rows


def _series(line: Line, index: int, x: Axis, y: Axis, theme: str) -> dict[str, Any]:
    colours = COLOURS[theme]
    points = [[a, b] if x.holds(a) and y.holds(b) else [a if x.holds(a) else None, None] for a, b in line.points]
    return {
        "type": "scatter" if line.dots else "line",
        "name": line.name,
        "data": points,
        "color": nth(colours["classes"], index),
        "lineStyle": {"type": nth(DASHES, index), "width": 2},
        "symbol": nth(SYMBOLS, index),
        "symbolSize": 13 if line.dots else 7,
        "showSymbol": len(points) <= MAX_MARKERS,
        "z": 3,
    }


def _words(title: str, drawn: Sequence[Line], marks: Sequence[Mark]) -> str:
    sentences = [f"{title}."]
    for line in drawn:
        if not line.points:
            continue
        (x0, y0), (x1, y1) = line.points[0], line.points[-1]
        sentences.append(f"{line.name}: {short(y0)} at {short(x0)}, {short(y1)} at {short(x1)}.")
        finite = [(y, x) for x, y in line.points if math.isfinite(y)]
        if finite and min(finite)[0] < min(y0, y1):
            sentences.append(f"Lowest: {short(min(finite)[0])} at {short(min(finite)[1])}.")
    sentences += [f"Marked: {mark.word}, {mark.axis} = {short(mark.at)}." for mark in marks]
    return " ".join(sentences)
