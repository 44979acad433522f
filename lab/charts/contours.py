"""Contour lines: where a field over a plane crosses 0, and the boundaries between the likeliest classes."""

from __future__ import annotations

from typing import Any

import contourpy
import numpy as np


def contour(field: np.ndarray, xs: np.ndarray, ys: np.ndarray) -> list[np.ndarray]:
    """Find the lines where a field (rows, columns) over the grid ys x xs crosses 0, each as points (n, 2).

    A field with inf or nan has no line.
    """
    if not np.isfinite(field).all():
        return []
    lines: Any = contourpy.contour_generator(xs, ys, field).lines(0.0)  # a list of arrays for this type of line
    return lines


def frontiers(answers: np.ndarray, xs: np.ndarray, ys: np.ndarray) -> list[np.ndarray]:
    """Find the lines where the likeliest class changes, for probabilities (rows, columns, classes)."""
    classes = answers.shape[-1]
    lines = []
    for own in range(classes if classes > 2 else 1):  # two classes share one line
        ahead = answers[..., own] - np.delete(answers, own, axis=-1).max(axis=-1)
        lines += contour(ahead, xs, ys)
    return lines
