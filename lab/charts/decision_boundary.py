"""Charts over the plane of two inputs: the decision boundary, the output of a unit, and the learner's own points."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from lab.charts.chart import COLOURS, SHADES, SYMBOLS, Chart, mix, nth, undrawn_line
from lab.charts.contours import contour, frontiers
from lab.text import numeral, short

MAX_OUTLINED = 100  # samples: more are drawn in one go, without outlines
PLANE = (26, 30, 4, 24)  # margins in pixels around the grid of the plane: left, top, right, bottom


# ---------------------------------------------------------------- the plane of two inputs


@dataclass(frozen=True)
class Plane:
    """A grid ys x xs over the plane, and samples on it: points (n, 2) with their labels (n,)."""

    xs: np.ndarray
    ys: np.ndarray
    points: np.ndarray
    labels: np.ndarray
    classes: Sequence[str]
    theme: str = "light"


def boundary(answers: np.ndarray, plane: Plane) -> Chart:
    """Draw probabilities over the plane as shades, the lines where the likeliest class changes, and samples.

    answers: probabilities (rows, columns, classes) on the grid.
    """
    colours, classes, labels = COLOURS[plane.theme], plane.classes, plane.labels
    count = len(classes)
    winner = answers.argmax(axis=-1)
    certainty = (np.nan_to_num(answers.max(axis=-1), nan=1 / count) - 1 / count) / (1 - 1 / count)
    shade = np.clip(SHADES * certainty, 0, SHADES - 1).astype(int)
    palette = [
        mix(colours["paper"], nth(colours["classes"], c), 0.1 + 0.14 * k) for c in range(count) for k in range(SHADES)
    ]
    spec = _spec(frontiers(answers, plane.xs, plane.ys), plane)
    shares = [float(np.mean(winner == c)) for c in range(count)]
    parts = ", ".join(f"class {name} holds {part:.0%}" for name, part in zip(classes, shares, strict=True))
    unsure = float(np.mean(certainty < 0.8))
    hits = winner[_cells(plane.ys, plane.points[:, 1]), _cells(plane.xs, plane.points[:, 0])] == labels
    return Chart(
        "Decision boundary",
        spec,
        410,
        f"The plane of the two inputs, coloured by the likeliest class: {parts}. "
        f"The network is less than 80 % on the way from undecided to certain over {unsure:.0%} of the plane.",
        ("class", "share of the plane", "samples shown", "in their class's region"),
        [
            (name, f"{part:.1%}", str(int(np.sum(labels == c))), str(int(hits[labels == c].sum())))
            for c, (name, part) in enumerate(zip(classes, shares, strict=True))
        ],
        colour_picture(winner * SHADES + shade, palette),
    )


def unit(outputs: np.ndarray, name: str, plane: Plane) -> Chart:
    """Draw a hidden unit's outputs (rows, columns) over the plane: blue above 0, pink below, a line where it is 0."""
    codes, palette = signed_shades(outputs, plane.theme)
    spec = _spec(contour(outputs, plane.xs, plane.ys), plane)
    low, high = float(np.min(outputs)), float(np.max(outputs))
    corners = [("bottom left", 0, 0), ("bottom right", 0, -1), ("top left", -1, 0), ("top right", -1, -1)]
    return Chart(
        f"Output of {name}",
        spec,
        410,
        f"The output of {name} over the plane of the two inputs, from {short(low)} to {short(high)}; "
        f"it is above 0 over {np.mean(outputs > 0):.0%} of the plane.",
        ("corner", f"output of {name}"),
        [(corner, short(float(outputs[i, j]))) for corner, i, j in corners],
        colour_picture(codes, palette),
    )


def signed_shades(outputs: np.ndarray, theme: str) -> tuple[np.ndarray, list[str]]:
    """Map values of either sign to shade codes of the same shape; return the codes and the colours they stand for."""
    reach = float(np.nanmax(np.abs(outputs), initial=0)) or 1.0
    with np.errstate(invalid="ignore"):
        codes = np.nan_to_num(np.rint(SHADES * outputs / reach)).clip(-SHADES, SHADES).astype(int) + SHADES
    return codes, list(_signed_palette(theme))


@cache  # every unit of every drawing needs it
def _signed_palette(theme: str) -> tuple[str, ...]:
    colours = COLOURS[theme]
    return tuple(
        mix(colours["paper"], colours["classes"][0 if k > 0 else 1], 0.05 + 0.15 * abs(k))
        for k in range(-SHADES, SHADES + 1)
    )


def colour_picture(codes: np.ndarray, palette: Sequence[str]) -> bytes:
    """Draw codes (rows, columns) as a PNG with the k-th colour for code k, the first row at the bottom.

    An image costs the browser a hundredth of a heatmap with as many cells.
    """
    from PIL import Image  # imported here, because pages without this picture load faster without it

    picture = Image.fromarray(np.ascontiguousarray(codes[::-1], dtype=np.uint8), "P")
    picture.putpalette(bytes.fromhex("".join(colour.removeprefix("#") for colour in palette)))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def _spec(lines: Sequence[np.ndarray], plane: Plane) -> dict[str, Any]:
    """Make the options that all charts of the plane share: lines and samples."""
    colours, xs, ys, points = COLOURS[plane.theme], plane.xs, plane.ys, plane.points
    reach = float(xs[1] - xs[0]) / 2, float(ys[1] - ys[0]) / 2
    number = {
        "type": "value",
        "splitLine": {"show": False},
        "axisLabel": {"showMinLabel": False, "showMaxLabel": False},
    }
    path: list[Any] = []
    for line in lines:
        path += [*line.round(4).tolist(), (None, None)]
    scatter = [
        {
            "type": "scatter",
            "name": f"class {name}",
            "symbol": nth(SYMBOLS, c),
            "symbolSize": 7,
            "color": nth(colours["classes"], c),
            "itemStyle": {"borderColor": colours["paper"], "borderWidth": 1},
            "data": points[plane.labels == c].round(3).tolist(),
            "large": len(points) > MAX_OUTLINED,
            "largeThreshold": 0,
            "silent": True,
        }
        for c, name in enumerate(plane.classes)
    ]
    return {
        "grid": dict(zip(("left", "top", "right", "bottom"), PLANE, strict=True)),
        "legend": {"top": 0, "left": 0, "data": [line["name"] for line in scatter]},
        "xAxis": [{**number, "min": float(xs[0]) - reach[0], "max": float(xs[-1]) + reach[0]}],
        "yAxis": [{**number, "min": float(ys[0]) - reach[1], "max": float(ys[-1]) + reach[1]}],
        "series": [
            {**undrawn_line(path, None), "lineStyle": {"color": colours["text"], "width": 2.5}, "z": 3},
            *scatter,
        ],
    }


def _cells(centres: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the index of the cell nearest to each value."""
    nearest: np.ndarray = np.abs(centres - values[:, np.newaxis]).argmin(axis=1)
    return nearest


def placed_points(
    points: Sequence[tuple[float, float, int]], classes: Sequence[str], reach: float, theme: str = "light"
) -> Chart:
    """Draw the plane from -reach to reach on which the learner places points, with the points placed so far."""
    ends = np.array([-reach, reach])
    places = np.array([(x, y) for x, y, _ in points], dtype=float).reshape(-1, 2)
    labels = np.array([c for _, _, c in points], dtype=int)
    spec = _spec([], Plane(ends, ends, places, labels, classes, theme))
    for axis in ("xAxis", "yAxis"):
        spec[axis][0] |= {"min": -reach, "max": reach, "splitLine": {"show": True}}
    counts = [int((labels == c).sum()) for c in range(len(classes))]
    listed = ", ".join(f"{count} of class {name}" for name, count in zip(classes, counts, strict=True))
    return Chart(
        "Your points",
        spec | {"placing": True},
        410,
        f"The plane with your points: {listed}.",
        ("x", "y", "class"),
        [(numeral(x), numeral(y), classes[c]) for x, y, c in points],
    )
