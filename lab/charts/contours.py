"""The lines where a field over a plane crosses 0, and where one class takes over from another."""

from __future__ import annotations

import numpy as np

Segment = tuple[tuple[float, float], tuple[float, float]]


def contour(field: np.ndarray, xs: np.ndarray, ys: np.ndarray) -> list[Segment]:
    """The line where a field (rows, columns) crosses 0, as segments (marching squares).

    Where a square is crossed twice, two of its corners are cut off. A field with inf or nan has no line.
    """
    if not np.isfinite(field).all():
        return []
    above = field > 0
    corners = above[:-1, :-1].astype(int) + above[:-1, 1:] + above[1:, :-1] + above[1:, 1:]
    segments = []
    for i, j in np.argwhere((corners > 0) & (corners < 4)):  # elsewhere all four are on one side
        ring = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
        crossings = []
        for (r0, c0), (r1, c1) in zip(ring, ring[1:] + ring[:1], strict=True):
            if above[r0, c0] != above[r1, c1]:
                share = field[r0, c0] / (field[r0, c0] - field[r1, c1])
                x, y = xs[c0] + share * (xs[c1] - xs[c0]), ys[r0] + share * (ys[r1] - ys[r0])
                crossings.append((round(float(x), 4), round(float(y), 4)))
        segments += [(crossings[k], crossings[k + 1]) for k in range(0, len(crossings), 2)]
    return segments


def frontiers(answers: np.ndarray, xs: np.ndarray, ys: np.ndarray) -> list[Segment]:
    """The lines where one class takes over from another, for probabilities (rows, columns, classes)."""
    classes = answers.shape[-1]
    segments = []
    for own in range(classes if classes > 2 else 1):  # of two classes, the line of one is that of the other
        ahead = answers[..., own] - np.delete(answers, own, axis=-1).max(axis=-1)
        segments += contour(ahead, xs, ys)
    return segments
