"""Contour map of a function of two parameters, with the paths of optimizers that descend it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.charts.chart import COLOURS, DASHES, SYMBOLS, Chart, mix, nth
from lab.charts.contours import contour
from lab.charts.decision_boundary import colour_picture
from lab.text import short

LEVELS = 12  # number of contours, with equal areas between them
MARGINS = (26, 30, 28, 24)  # pixels around the grid: left, top, right, bottom; equal sums leave a square in a square
STEP_MS = 200  # milliseconds that a step takes in the picture
MAX_MARKERS = 60  # steps of a path that are marked one by one; more would hide it


@dataclass(frozen=True)
class Track:
    """The path of an optimizer: its points so far, the present one last; where its next step would land (ahead), None
    if there is none; and its state as a word."""

    name: str
    places: Sequence[tuple[float, float]]
    ahead: tuple[float, float] | None
    word: str


def landscape(
    title: str,
    heights: np.ndarray,
    xs: np.ndarray,
    ys: np.ndarray,
    tracks: Sequence[Track],
    names: tuple[str, str],
    lowest: tuple[float, float] | None = None,
    theme: str = "light",
) -> Chart:
    """Draw contours of heights (rows, columns) over the grid ys x xs, darker where lower, and the tracks on them.

    The picture is square: over equal ranges both axes have one scale, and a gradient is perpendicular to the contours.
    `clicked_points` receives clicks on it. Points that are not finite or outside are only in the table.
    """
    colours = COLOURS[theme]
    levels = np.unique(np.quantile(heights, (np.arange(LEVELS) + 0.5) / LEVELS))
    shades = [
        mix(colours["paper"], colours["classes"][0], 0.45 * (1 - k / len(levels))) for k in range(len(levels) + 1)
    ]
    lines: list[Any] = []
    for level in levels:
        for line in contour(heights - level, xs, ys):
            thinned = np.concatenate([line[:-1:2], line[-1:]])  # half of the points look the same and load faster
            lines += [*thinned.round(3).tolist(), (None, None)]
    series: list[dict[str, Any]] = [
        {
            "id": "contours",
            "type": "line",
            "animation": False,
            "data": lines,
            "symbol": "none",
            "silent": True,
            "lineStyle": {"color": colours["text"], "width": 0.7, "opacity": 0.35},
            "z": 2,
        }
    ]
    if lowest is not None:
        series.append(
            {
                "id": "minimum",
                "type": "scatter",
                "data": [list(lowest)],
                "symbol": "rect",
                "symbolSize": 5,
                "color": colours["text"],
                "label": {"show": True, "formatter": "minimum", "position": "right", "color": colours["text"]},
                "silent": True,
                "z": 3,
            }
        )
    for index, track in enumerate(tracks):
        series += _track(track, index, colours["classes"], colours["paper"])
    half = float(xs[1] - xs[0]) / 2, float(ys[1] - ys[0]) / 2  # the axes end at the edges of the outermost cells
    axis = {
        "type": "value",
        "splitLine": {"show": False},
        "axisLabel": {"showMinLabel": False, "showMaxLabel": False},
        "nameTextStyle": {"color": colours["text"]},
    }
    spec = {
        "placing": True,
        "animation": True,
        "animationDurationUpdate": STEP_MS,
        "animationEasingUpdate": "linear",
        "square": True,
        "grid": dict(zip(("left", "top", "right", "bottom"), MARGINS, strict=True)),
        "legend": {"top": 0, "left": 0, "itemWidth": 24, "itemGap": 6, "data": [track.name for track in tracks]},
        "xAxis": [{**axis, "min": float(xs[0]) - half[0], "max": float(xs[-1]) + half[0]}],
        "yAxis": [{**axis, "min": float(ys[0]) - half[1], "max": float(ys[-1]) + half[1]}],
        "series": series,
    }
    across, up = names
    sentences = [
        f"{track.name}: {track.word}, steps taken: {len(track.places) - 1}, at {across} {short(track.places[-1][0])}, "
        f"{up} {short(track.places[-1][1])}."
        for track in tracks
    ]
    codes = np.searchsorted(levels, heights)
    return Chart(
        title,
        spec,
        420,
        f"Contours over {across} and {up}, darker where the function is lower. {' '.join(sentences)}",
        ("optimizer", "steps", across, up, "next step lands at", "state"),
        [
            (
                track.name,
                str(len(track.places) - 1),
                short(track.places[-1][0]),
                short(track.places[-1][1]),
                f"({short(track.ahead[0])}, {short(track.ahead[1])})" if track.ahead else "no next step",
                track.word,
            )
            for track in tracks
        ],
        colour_picture(codes, shades),
    )


def _track(track: Track, index: int, classes: Sequence[str], paper: str) -> list[dict[str, Any]]:
    """Draw a track: its path; the present point, filled; and the next point, hollow, with a thin line to it."""
    colour, symbol = nth(classes, index + 1), nth(SYMBOLS, index)
    places = [_drawable(place) for place in track.places]
    here, ahead = places[-1], _drawable(track.ahead) if track.ahead else None
    common: dict[str, Any] = {"name": track.name, "color": colour, "symbol": symbol, "silent": True}
    series = [
        {
            **common,
            "id": f"{track.name}, path",
            "type": "line",
            "data": places,
            "showSymbol": len(places) <= MAX_MARKERS,
            "symbolSize": 5,
            "lineStyle": {"type": nth(DASHES, index), "width": 2},
            "z": 4,
        },
        {
            **common,
            "id": f"{track.name}, point",
            "type": "scatter",
            "data": [here],
            "symbolSize": 13,
            "itemStyle": {"borderColor": paper, "borderWidth": 1.5},
            "z": 6,
        },
    ]
    if ahead:
        series += [
            {
                **common,
                "id": f"{track.name}, next step",
                "type": "line",
                "data": [here, ahead],
                "showSymbol": False,
                "lineStyle": {"type": "dotted", "width": 1.2},
                "z": 4,
            },
            {
                **common,
                "id": f"{track.name}, next point",
                "type": "scatter",
                "data": [ahead],
                "symbolSize": 12,
                "itemStyle": {"color": "transparent", "borderColor": colour, "borderWidth": 2},
                "z": 5,
            },
        ]
    return series


def _drawable(place: tuple[float, float]) -> list[float | None]:
    return [*place] if all(map(math.isfinite, place)) else [None, None]
