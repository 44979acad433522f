"""A drawn digit, brought into the form of the digits that a network has learned from."""

from __future__ import annotations

import numpy as np

SIDE = 32  # of the bitmap that is drawn on, as those of the UCI digits were
BLOCK = 4  # the share of ink in each block of 4x4 pixels is one pixel of the 8x8 image
LEVELS = BLOCK * BLOCK
IMAGE_SHAPE = (SIDE // BLOCK, SIDE // BLOCK)  # of the images that a network must have learned from


def parse(text: str) -> np.ndarray:
    """A bitmap (32, 32) of 0 and 1 from a text of as many characters. Raises ValueError for any other text."""
    if len(text) != SIDE * SIDE or set(text) - {"0", "1"}:
        raise ValueError("A drawing is a text of 1024 zeros and ones.")
    return np.array([int(mark) for mark in text], dtype=np.uint8).reshape(SIDE, SIDE)


def normalise(bitmap: np.ndarray) -> np.ndarray:
    """The drawing as an 8x8 image from 0 to 16: moved to the middle, scaled to the full height, counted by blocks.

    The digits to learn from were prepared like that; a network knows nothing of a digit in a corner.
    """
    rows, columns = np.flatnonzero(bitmap.any(axis=1)), np.flatnonzero(bitmap.any(axis=0))
    if not len(rows):
        return np.zeros(IMAGE_SHAPE)
    cropped = bitmap[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = SIDE / max(cropped.shape)
    height, width = (max(1, min(SIDE, round(length * scale))) for length in cropped.shape)
    # each pixel of the scaled drawing takes the pixel of the original that lies at its centre
    i = ((np.arange(height) + 0.5) * cropped.shape[0] / height).astype(int)
    j = ((np.arange(width) + 0.5) * cropped.shape[1] / width).astype(int)
    square = np.zeros((SIDE, SIDE))
    top, left = (SIDE - height) // 2, (SIDE - width) // 2
    square[top : top + height, left : left + width] = cropped[np.ix_(i, j)]
    blocks = square.reshape(SIDE // BLOCK, BLOCK, SIDE // BLOCK, BLOCK)
    return np.asarray(blocks.sum(axis=(1, 3)))
