"""Points that a learner places on a plane, and their conversion to text for the address, to CSV, and to a dataset."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lab.training.datasets import Dataset, prepare
from lab.training.samples import DataError

Point = tuple[float, float, int]  # x and y from -REACH to REACH, and an index into CLASSES
CLASSES = ("A", "B", "C")
REACH = 1.0
MAX_POINTS = 150  # an address has room for them

# The first points: opposite corners share a class, a little unevenly. No straight line separates them.
START: tuple[Point, ...] = tuple(
    (round(sx * (0.5 + dx), 2), round(sy * (0.5 + dy), 2), int(sx * sy < 0))
    for sx, sy in ((1, 1), (-1, -1), (1, -1), (-1, 1))
    for dx, dy in ((0, 0), (0.2, 0.1), (-0.2, 0.15), (0.1, -0.25), (-0.15, -0.1))
)


def dataset(points: Sequence[Point], val_fraction: float, seed: int) -> Dataset:
    """Make a dataset of the points. Raises DataError, for example while there is only one class."""
    used = sorted({c for _, _, c in points})
    if len(used) < 2:
        raise DataError("Place points of at least two classes, two or more of each.")
    features = np.array([(x, y) for x, y, _ in points], dtype=float).reshape(-1, 2)
    labels = np.array([used.index(c) for _, _, c in points], dtype=int)
    classes, note = [CLASSES[c] for c in used], f"{len(points)} points placed by hand"
    return prepare("points", features, labels, classes, note, val_fraction, seed)


def to_text(points: Sequence[Point]) -> str:
    """Write points as a text that is short enough for an address: "0.5,-0.25,A;1,0,B"."""
    return ";".join(f"{x:g},{y:g},{CLASSES[c]}" for x, y, c in points)


def from_text(text: str) -> tuple[Point, ...]:
    """Parse the text that `to_text` writes. Raises ValueError for any other text."""
    parts = text.split(";") if text else []
    if len(parts) > MAX_POINTS:
        raise ValueError(f"At most {MAX_POINTS} points fit.")
    points = []
    for part in parts:
        x, y, name = part.split(",")
        point = float(x), float(y), CLASSES.index(name)
        if not all(math.isfinite(v) and abs(v) <= REACH for v in point[:2]):
            raise ValueError(f"{part!r} lies outside the plane.")
        points.append(point)
    return tuple(points)


def to_csv(points: Sequence[Point]) -> str:
    return "x,y,class\n" + "".join(f"{x:g},{y:g},{CLASSES[c]}\n" for x, y, c in points)
