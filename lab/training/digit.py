"""Prepare a drawn digit as the training digits were prepared, so that a trained network can classify it."""

from __future__ import annotations

import numpy as np

SIDE = 32  # pixels along a side of the drawing, as in the UCI digits
BLOCK = 4  # each block of 4x4 pixels becomes one pixel of the 8x8 image: its number of inked pixels
LEVELS = BLOCK * BLOCK
IMAGE_SHAPE = (SIDE // BLOCK, SIDE // BLOCK)  # of the images that the network must have been trained on


def parse(text: str) -> np.ndarray:
    """Parse a text of 1024 zeros and ones into a bitmap (32, 32). Raises ValueError for any other text."""
    if len(text) != SIDE * SIDE or set(text) - {"0", "1"}:
        raise ValueError("A drawing is a text of 1024 zeros and ones.")
    return np.array([int(mark) for mark in text], dtype=np.uint8).reshape(SIDE, SIDE)


def normalise(bitmap: np.ndarray) -> np.ndarray:
    """Centre a drawing, scale it to fill the square, and count its ink by blocks: an 8x8 image from 0 to 16.

    The training digits were prepared in the same way; a network has never seen a digit in a corner.
    """
    rows, columns = np.flatnonzero(bitmap.any(axis=1)), np.flatnonzero(bitmap.any(axis=0))
    if not len(rows):
        return np.zeros(IMAGE_SHAPE)
    cropped = bitmap[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = SIDE / max(cropped.shape)
    height, width = (max(1, min(SIDE, round(length * scale))) for length in cropped.shape)
    # nearest neighbour: each pixel of the scaled drawing takes the original pixel at its centre
    i = ((np.arange(height) + 0.5) * cropped.shape[0] / height).astype(int)
    j = ((np.arange(width) + 0.5) * cropped.shape[1] / width).astype(int)
    square = np.zeros((SIDE, SIDE))
    top, left = (SIDE - height) // 2, (SIDE - width) // 2
    square[top : top + height, left : left + width] = cropped[np.ix_(i, j)]
    blocks = square.reshape(SIDE // BLOCK, BLOCK, SIDE // BLOCK, BLOCK)
    return np.asarray(blocks.sum(axis=(1, 3)))
