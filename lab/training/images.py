"""Images to train on: the embedded digits, and MNIST from idx files, which are downloaded only on request.

A digit that a visitor draws is prepared as the embedded digits were, so that a trained network can classify it.
"""

from __future__ import annotations

import gzip
import math
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

from lab.training.samples import DataError, Raw

DIGITS = Path(__file__).resolve().parents[2] / "assets" / "digits.npz"

MNIST_MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist/"
MNIST_SHA256 = MappingProxyType(
    {
        "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    }
)


def digits() -> Raw:
    with np.load(DIGITS) as archive:
        images, labels = archive["images"], archive["labels"]
    return _images(images, labels, "the handwritten digits of the UCI repository, 8x8 pixels")


def _images(images: np.ndarray, labels: np.ndarray, note: str) -> Raw:
    """Make raw samples from images (samples, height, width) and their labels."""
    values, indices = np.unique(labels, return_inverse=True)
    _, height, width = images.shape
    return Raw(images.reshape(len(images), -1), indices, tuple(map(str, values)), note, image_shape=(height, width))


def mnist(data_dir: str | None) -> Raw:
    """Read the training pair of idx files in a folder, or the test pair (t10k) if it has no other; None: download them.

    Raises DataError.
    """
    folder = _mnist_download() if data_dir is None else Path(data_dir)
    if not os.path.isdir(folder):  # unlike Path.is_dir, false where we may not look
        raise DataError(f"There is no folder {str(folder)!r}: give --data-dir the folder of the MNIST files.")
    prefix = next((name for name in ("train", "t10k") if _find_idx(folder, f"{name}-images", 3)), "train")
    files = []
    for stem, axes in ((f"{prefix}-images", 3), (f"{prefix}-labels", 1)):
        if not (path := _find_idx(folder, stem, axes)):
            raise DataError(
                f"There is no file {stem}-idx{axes}-ubyte (or .gz) in {str(folder)!r}: put it there, or give "
                f"--data-dir another folder."
            )
        files.append(path)
    image_file, label_file = files
    images, labels = read_idx(image_file, axes=3), read_idx(label_file, axes=1)
    if not images.size:
        raise DataError(f"{str(image_file)!r} holds no images: download it again.")
    count, height, width = images.shape
    if count != len(labels):
        raise DataError(
            f"{image_file.name} holds {count:,} images but {label_file.name} holds {len(labels):,} labels: "
            f"they are not a pair, download both again."
        )
    return _images(images, labels, f"images of {height}x{width} pixels from {image_file.name}")


def _find_idx(folder: Path, stem: str, axes: int) -> Path | None:
    # Two spellings are common: the original has a dash, some archives unpack to names with a dot.
    names = (f"{stem}{mark}idx{axes}-ubyte{end}" for mark in "-." for end in ("", ".gz"))
    return next((folder / name for name in names if os.path.isfile(folder / name)), None)


def read_idx(path: Path, axes: int) -> np.ndarray:
    """Read an idx file of unsigned bytes with `axes` axes, plain or gzipped.

    The format: two zero bytes, 0x08 for unsigned bytes, the number of axes, then each axis as a big-endian
    32-bit number, then the values. Raises DataError when the file is anything else or ends too early.
    """
    magic, start = bytes([0, 0, 8, axes]), 4 + 4 * axes
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read()
    except (OSError, EOFError, zlib.error) as error:  # OSError includes gzip's BadGzipFile
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{str(path)!r} cannot be read ({reason}): download it again.") from None
    if content[:4] != magic:
        raise DataError(
            f"{str(path)!r} is not an idx file of unsigned bytes with {axes} axes: it begins with "
            f"{content[:4].hex(' ') or 'nothing'} instead of {magic.hex(' ')}; download it again."
        )
    shape = struct.unpack(f">{axes}I", content[4:start]) if len(content) >= start else ()
    surplus = len(content) - start - math.prod(shape)
    if not shape or surplus < 0:
        raise DataError(f"{str(path)!r} is truncated: it ends before its last value; download it again.")
    if surplus:
        raise DataError(f"{str(path)!r} is damaged: it goes on after its last value; download it again.")
    return np.frombuffer(content, np.uint8)[start:].reshape(shape)


def _mnist_download() -> Path:
    """Fetch the training pair into the user's cache folder, once, and return that folder."""
    import pooch  # only a download needs it

    cache = Path(pooch.os_cache("tensor-ops-lab")) / "mnist"
    fetch(cache, MNIST_MIRROR, MNIST_SHA256)
    return cache


def fetch(cache: Path, mirror: str, sha256: Mapping[str, str]) -> None:
    """Download every file of `sha256` (name -> checksum) from `mirror` into `cache`, unless it is there already.

    Raises DataError when the network, the server, the cache folder or a checksum fails.
    """
    import pooch

    try:
        store = pooch.create(path=cache, base_url=mirror, registry=dict(sha256))
        for name in sha256:
            store.fetch(name)
    except (OSError, ValueError) as error:  # requests' errors are OSErrors; a wrong checksum is a ValueError
        reason = type(error).__name__ if isinstance(error, OSError) else "a file has the wrong checksum"
        raise DataError(
            f"MNIST could not be downloaded from {mirror} ({reason}): check the network, or put the files "
            f"into a folder yourself and give it with --data-dir."
        ) from None


# ---------------------------------------------------------------- a drawn digit

SIDE, MAX_WIDTH = 32, 24  # pixels along a side of the drawing, as in the UCI digits, most of which are no wider
BLOCK = 4  # each block of 4x4 pixels becomes one pixel of the 8x8 image: its number of inked pixels
LEVELS = BLOCK * BLOCK
IMAGE_SHAPE = (SIDE // BLOCK, SIDE // BLOCK)  # of the images that the network must have been trained on


def parse_drawing(text: str) -> np.ndarray:
    """Parse a text of 1024 zeros and ones into a bitmap (32, 32). Raises ValueError for any other text."""
    if len(text) != SIDE * SIDE or set(text) - {"0", "1"}:
        raise ValueError("A drawing is a text of 1024 zeros and ones.")
    return np.array([int(mark) for mark in text], dtype=np.uint8).reshape(SIDE, SIDE)


def normalise(bitmap: np.ndarray) -> np.ndarray:
    """Centre a drawing, scale it to fill the height, and count its ink by blocks: an 8x8 image from 0 to 16.

    The training digits were prepared in the same way; a network has never seen a digit in a corner.
    """
    rows, columns = np.flatnonzero(bitmap.any(axis=1)), np.flatnonzero(bitmap.any(axis=0))
    if not len(rows):
        return np.zeros(IMAGE_SHAPE)
    cropped = bitmap[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    height, width = SIDE, min(MAX_WIDTH, max(1, round(SIDE * cropped.shape[1] / cropped.shape[0])))
    # nearest neighbour: each pixel of the scaled drawing takes the original pixel at its centre
    i = ((np.arange(height) + 0.5) * cropped.shape[0] / height).astype(int)
    j = ((np.arange(width) + 0.5) * cropped.shape[1] / width).astype(int)
    square = np.zeros((SIDE, SIDE))
    top, left = (SIDE - height) // 2, (SIDE - width) // 2
    square[top : top + height, left : left + width] = cropped[np.ix_(i, j)]
    blocks = square.reshape(SIDE // BLOCK, BLOCK, SIDE // BLOCK, BLOCK)
    return np.asarray(blocks.sum(axis=(1, 3)))
