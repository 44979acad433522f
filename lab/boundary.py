"""What a network answers over a whole plane: probabilities on a grid, and the line where two classes are equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model import MLP, no_grad

MARGIN = 0.12  # of the extent of the points, around them


def grid(points: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """The centres of the cells along x and along y, each (cells,), for a square plane that holds points (n, 2)."""
    low, high = points.min(axis=0), points.max(axis=0)
    reach = max(float((high - low).max()) / 2, 1e-6) * (1 + 2 * MARGIN)
    centre = (low + high) / 2
    along = (np.arange(cells) + 0.5) / cells * 2 - 1
    return centre[0] + reach * along, centre[1] + reach * along


def probabilities(model: MLP, inputs: np.ndarray) -> np.ndarray:
    """What the network answers for inputs (n, features): softmax probabilities (n, classes), float64.

    A network whose weights are not finite gives nan.
    """
    with no_grad(), np.errstate(all="ignore"):
        logits = model(inputs.astype(np.float32, copy=False)).numpy().astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        return odds / odds.sum(axis=1, keepdims=True)


def over_plane(model: MLP, xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """Probabilities (rows, columns, classes) at every point of the grid ys x xs, the smallest y in the first row."""
    plane = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    return probabilities(model, plane).reshape(len(ys), len(xs), -1)


def contour(field: np.ndarray, xs: np.ndarray, ys: np.ndarray, level: float = 0.0) -> list[list[Sequence[float]]]:
    """The line where a field (rows, columns) crosses the level, as segments [[x0, y0], [x1, y1]] (marching squares).

    Where a square is crossed twice, two of its corners are cut off.
    """
    above = field > level
    segments = []
    # A square whose four corners are not all on the same side is crossed by the line.
    corners = above[:-1, :-1].astype(int) + above[:-1, 1:] + above[1:, :-1] + above[1:, 1:]
    for i, j in np.argwhere((corners > 0) & (corners < 4)):
        ring = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
        crossings = []
        for (r0, c0), (r1, c1) in zip(ring, ring[1:] + ring[:1], strict=True):
            if above[r0, c0] != above[r1, c1]:
                share = float((level - field[r0, c0]) / (field[r1, c1] - field[r0, c0]))
                x = xs[c0] + share * (xs[c1] - xs[c0])
                y = ys[r0] + share * (ys[r1] - ys[r0])
                crossings.append((round(float(x), 4), round(float(y), 4)))
        segments += [[crossings[k], crossings[k + 1]] for k in range(0, len(crossings), 2)]
    return segments


def frontiers(answers: np.ndarray, xs: np.ndarray, ys: np.ndarray) -> list[list[Sequence[float]]]:
    """The lines where one class takes over from another, as segments, for probabilities (rows, columns, classes)."""
    if not np.isfinite(answers).all():
        return []
    classes = answers.shape[-1]
    segments = []
    for own in range(classes if classes > 2 else 1):  # of two classes, one line is the other's too
        ahead = answers[..., own] - np.delete(answers, own, axis=-1).max(axis=-1)
        segments += contour(ahead, xs, ys)
    return segments
