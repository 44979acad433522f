"""Data to train on: synthetic points, the embedded digits, MNIST files, a CSV of your own.

`load(name, ...)` reads what has a name, `from_table(text, ...)` a CSV that was read already, `prepare(...)` takes
arrays. Each returns a `Dataset`: inputs as float32, labels as integers, split into training and validation samples,
standardised with what was measured on the training samples alone (the validation samples must stay unseen).
Whatever is wrong with the data is said in one sentence, a `DataError`.
"""

from __future__ import annotations

import csv
import difflib
import errno
import gzip
import io
import math
import os
import re
import stat
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import IO, cast

import numpy as np

from lab.training.config import Config

DIGITS = Path(__file__).resolve().parents[2] / "assets" / "digits.npz"
SYNTHETIC_SAMPLES = 1000
IDX_BLOCK = 1 << 20  # bytes
MOST_TEXTS = 20  # different ones in a column of texts, each of which becomes an input
DECIMAL_COMMA = re.compile(r"[+-]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?", re.ASCII)
LARGEST_CELL = 1e100  # the square of a larger number overflows while we measure its column's deviation
SMALLEST_SCALE = 1e-150  # the square of a smaller number underflows, too
FARTHEST = 1e9  # deviations from the mean: float32 has no room for such a sample beside the others

MNIST_MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist/"
MNIST_SHA256 = MappingProxyType(
    {
        "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    }
)


class DataError(ValueError):
    """The data cannot be used. The message is one sentence for the learner: what is wrong, and what to do."""


@dataclass(frozen=True)
class Dataset:
    """Samples to train and to validate on.

    train_x, val_x: float32 of shape (samples, features), standardised as (raw - mean) / scale
    train_y, val_y: int64 of shape (samples,), an index into `classes`; in a regression float32, standardised alike
    mean, scale:    one number for images, one per column otherwise
    notes:          what was read and how the inputs were prepared, as sentences for the log
    image_shape:    (height, width) of samples that are images, row by row; None for others
    target:         mean and deviation of what a regression is to find, in its training samples; None for classes
    """

    name: str
    train_x: np.ndarray
    train_y: np.ndarray
    val_x: np.ndarray
    val_y: np.ndarray
    classes: tuple[str, ...]
    mean: np.ndarray
    scale: np.ndarray
    notes: tuple[str, ...]
    image_shape: tuple[int, int] | None = None
    target: tuple[float, float] | None = None

    @property
    def outputs(self) -> int:
        """How many numbers a network for these data gives: one for each class, or the one that is to be found."""
        return len(self.classes) or 1

    def in_units(self, values: np.ndarray) -> np.ndarray:
        """Answers of a regression, or what it is to find, as they were before they were standardised."""
        mean, scale = self.target or (0.0, 1.0)
        return values * scale + mean

    @cached_property
    def fingerprint(self) -> int:
        """A checksum of all samples in order: a resumed run must find the data that it was begun with."""
        check = 0
        for part in (self.train_x, self.train_y, self.val_x, self.val_y):
            check = zlib.crc32(np.ascontiguousarray(part).data, check)
        return check


@dataclass(frozen=True)
class _Raw:
    """What a reader hands over: blocks of rows (samples, features) as stored, and one class index per sample; where
    there are no classes, one number (float64) per sample.

    columns: the names of the features, for errors; they have none in images. A feature that is nan is missing.
    remarks: what the reader had to decide, as sentences.
    """

    blocks: list[np.ndarray]
    labels: np.ndarray
    classes: tuple[str, ...]
    note: str
    columns: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    image_shape: tuple[int, int] | None = None


def load(
    name: str,
    data_dir: str | None = None,
    target: str | None = None,
    val_fraction: float = 0.2,
    seed: int = 0,
    noise: float | None = None,
    samples: int | None = None,
    task: str | None = None,
) -> Dataset:
    """Read or generate the data called `name`, split it and standardise it.

    name: one of NAMES, or "csv:PATH". data_dir: the folder of the MNIST files. target: the label column of a
    CSV, by name or by number from 1 (default: the last). seed: fixes the synthetic points and the split.
    task: "classification" or "regression", for a CSV (default: as its target is).
    noise, samples: of synthetic points (default: the usual noise of their shape, and SYNTHETIC_SAMPLES).
    Raises DataError.
    """
    rng = np.random.default_rng(seed)
    kind, _, path = name.partition(":")
    if target is not None and kind != "csv":
        raise DataError(f"--target chooses a column of a CSV file, but the data is {name!r}: leave it out.")
    if data_dir is not None and kind != "mnist":
        raise DataError(f"--data-dir is the folder of the MNIST files, but the data is {name!r}: leave it out.")
    for flag, value in (("noise", noise), ("samples", samples)):
        if value is not None and name not in SYNTHETIC:
            raise DataError(
                f"--{flag} is for generated data ({', '.join(SYNTHETIC)}), but the data is {name!r}: leave it out."
            )
    if task is not None and kind != "csv":
        raise DataError(f"--task is for a CSV file, but the data is {name!r}: leave it out.")
    if kind == "csv":
        raw = _parse_table(*_read_csv(path), path, target, task)
    elif name == "mnist":
        raw = _read_mnist(_mnist_download() if data_dir is None else Path(data_dir))
    elif name in EMBEDDED:
        raw = EMBEDDED[name]()
    elif name in SYNTHETIC:
        raw = _generate(name, rng, SYNTHETIC[name][1] if noise is None else noise, samples or SYNTHETIC_SAMPLES)
    else:
        raise DataError(_unknown(name))
    return _split_and_standardise(name, raw, val_fraction, rng)


def named(config: Config) -> Dataset:
    """The data that the settings of a run name. Raises DataError."""
    return load(
        config.data, config.data_dir, config.target, config.val_fraction, config.seed, config.noise, config.samples,
        config.task,
    )  # fmt: skip


def from_table(
    text: str,
    name: str,
    target: str | None = None,
    val_fraction: float = 0.2,
    seed: int = 0,
    task: str | None = None,
) -> Dataset:
    """The dataset of a CSV that was read already, as `load("csv:PATH", ...)` would give it for a file.

    name: what to call it in notes and errors, for example the name of the file. Raises DataError.
    """
    raw = _parse_table(*_csv_rows(io.StringIO(text.removeprefix("\ufeff"), newline=""), name), name, target, task)
    return _split_and_standardise(name, raw, val_fraction, np.random.default_rng(seed))


def prepare(
    name: str,
    features: np.ndarray,
    labels: np.ndarray,
    classes: Sequence[str],
    note: str,
    val_fraction: float = 0.2,
    seed: int = 0,
) -> Dataset:
    """A dataset of one's own samples: features (samples, features), labels (samples,) as indices into `classes`.

    note: what they are, for the log: "40 points drawn by hand". Bytes (uint8) are taken for pixels, other numbers for
    columns. Raises DataError.
    """
    features, labels = np.asarray(features), np.asarray(labels)
    if features.ndim != 2 or labels.shape != features.shape[:1] or not labels.size or not features.size:
        raise DataError(
            f"{name}: samples of shape {features.shape} and labels of shape {labels.shape} do not fit: give one row of "
            f"numbers and one label for each sample, and at least one sample."
        )
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= len(classes):
        raise DataError(f"{name}: labels must be whole numbers from 0 to {len(classes) - 1}, one for each class.")
    if not np.all(np.abs(features) <= LARGEST_CELL):  # false for nan, too
        raise DataError(f"{name}: some samples hold numbers that cannot be used (inf, nan or beyond {LARGEST_CELL:g}).")
    raw = _Raw([features], labels, tuple(classes), note, _numbered(features.shape[1]))
    return _split_and_standardise(name, raw, val_fraction, np.random.default_rng(seed))


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name.lower(), NAMES, n=1)
    if close:
        return f"There is no dataset called {name!r}: did you mean {close[0]!r}?"
    if name.lower().endswith(".csv"):
        return f"There is no dataset called {name!r}: for a file of your own write csv:{name}."
    return f"There is no dataset called {name!r}: choose one of {', '.join(NAMES)}, or csv:PATH."


# Synthetic points -------------------------------------------------------------------------------------------
# Each takes (samples, noise, rng) and returns points of shape (samples, inputs) and labels or targets of shape
# (samples,).


def moons(samples: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two half circles, each reaching into the other."""
    labels = np.arange(samples) % 2
    angle = rng.uniform(0, np.pi, samples)
    x = np.where(labels == 0, np.cos(angle), 1 - np.cos(angle))
    y = np.where(labels == 0, np.sin(angle), 0.5 - np.sin(angle))
    return _jitter(x, y, noise, rng), labels


def circles(samples: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A circle inside another of twice its radius."""
    labels = np.arange(samples) % 2
    angle = rng.uniform(0, 2 * np.pi, samples)
    radius = np.where(labels == 0, 1.0, 0.5)
    return _jitter(radius * np.cos(angle), radius * np.sin(angle), noise, rng), labels


def spirals(samples: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two arms that wind one and a half times around each other: the hardest of the five."""
    labels = np.arange(samples) % 2
    radius = np.sqrt(rng.uniform(0.01, 1, samples))  # the root spreads the points evenly along the arm
    angle = 3 * np.pi * radius + np.pi * labels
    return _jitter(radius * np.cos(angle), radius * np.sin(angle), noise, rng), labels


def xor(samples: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A square in four quarters, opposite quarters alike: no straight line separates them."""
    x, y = rng.uniform(-1, 1, (2, samples))
    return _jitter(x, y, noise, rng), (x * y < 0).astype(int)


def blobs(samples: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three round clouds: the easiest of the five, no hidden layer needed."""
    labels = np.arange(samples) % 3
    angle = 2 * np.pi * labels / 3
    return _jitter(np.cos(angle), np.sin(angle), noise, rng), labels


def sine(samples: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A wave to be found again from noisy points: x of shape (samples, 1), and y, a number for each."""
    x = rng.uniform(-np.pi, np.pi, samples)
    return x[:, np.newaxis], np.sin(x) + rng.normal(0, noise, samples)


def _jitter(x: np.ndarray, y: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    return np.stack([x, y], axis=1) + rng.normal(0, noise, (len(x), 2))


Generate = Callable[[int, float, np.random.Generator], tuple[np.ndarray, np.ndarray]]
SYNTHETIC: MappingProxyType[str, tuple[Generate, float]] = MappingProxyType(
    {
        "moons": (moons, 0.15),
        "circles": (circles, 0.1),
        "spirals": (spirals, 0.03),
        "xor": (xor, 0.05),
        "blobs": (blobs, 0.25),
        "sine": (sine, 0.2),
    }
)


def _generate(name: str, rng: np.random.Generator, noise: float, samples: int) -> _Raw:
    points, labels = SYNTHETIC[name][0](samples, noise, rng)
    classes = () if labels.dtype.kind == "f" else tuple(str(label) for label in range(labels.max() + 1))
    where = "in a plane" if classes else "beside a curve"
    note = f"{len(points):,} synthetic points {where}, noise {noise:g}"
    return _Raw([points], labels, classes, note, ("x", "y")[: points.shape[1]])


# Images -----------------------------------------------------------------------------------------------------


def _read_digits() -> _Raw:
    with np.load(DIGITS) as archive:
        images, labels = archive["images"], archive["labels"]
    return _images([images], labels, "the handwritten digits of the UCI repository, 8x8 pixels")


EMBEDDED: MappingProxyType[str, Callable[[], _Raw]] = MappingProxyType({"digits": _read_digits})
NAMES = (*EMBEDDED, "mnist", *SYNTHETIC)
BUILT_IN = (*SYNTHETIC, *EMBEDDED)  # what needs neither a file nor the network


def _images(blocks: list[np.ndarray], labels: np.ndarray, note: str) -> _Raw:
    """Images (samples, height, width), in blocks."""
    values, indices = np.unique(labels, return_inverse=True)
    rows = [block.reshape(len(block), -1) for block in blocks]
    height, width = blocks[0].shape[1:]
    return _Raw(rows, indices, tuple(map(str, values)), note, image_shape=(height, width))


def _read_mnist(folder: Path) -> _Raw:
    """Read the training pair of idx files in `folder`, or the test pair (t10k) where that is all there is."""
    if not os.path.isdir(folder):  # unlike Path.is_dir, false where we may not look
        raise DataError(f"There is no folder {str(folder)!r}: give --data-dir the folder of the MNIST files.")
    prefix = next((name for name in ("train", "t10k") if _find_idx(folder, f"{name}-images", 3)), "train")
    image_file, label_file = _need_idx(folder, f"{prefix}-images", 3), _need_idx(folder, f"{prefix}-labels", 1)
    images, labels = read_idx(image_file, axes=3), read_idx(label_file, axes=1)
    count, label_count = sum(map(len, images)), sum(map(len, labels))
    if not any(block.size for block in images):
        raise DataError(f"{str(image_file)!r} holds no images: download it again.")
    if count != label_count:
        raise DataError(
            f"{image_file.name} holds {count:,} images but {label_file.name} holds {label_count:,} labels: "
            f"they are not a pair, download both again."
        )
    height, width = images[0].shape[1:]
    return _images(images, np.concatenate(labels), f"images of {height}x{width} pixels from {image_file.name}")


def _find_idx(folder: Path, stem: str, axes: int) -> Path | None:
    # Two spellings are in circulation: the original has a dash, some archives unpack to names with a dot.
    names = (f"{stem}{mark}idx{axes}-ubyte{end}" for mark in "-." for end in ("", ".gz"))
    return next((folder / name for name in names if os.path.isfile(folder / name)), None)


def _need_idx(folder: Path, stem: str, axes: int) -> Path:
    path = _find_idx(folder, stem, axes)
    if path is None:
        raise DataError(
            f"There is no file {stem}-idx{axes}-ubyte (or .gz) in {str(folder)!r}: put it there, or give "
            f"--data-dir another folder."
        )
    return path


def read_idx(path: Path, axes: int) -> list[np.ndarray]:
    """Read an idx file of unsigned bytes with `axes` axes, plain or gzipped, as blocks of uint8 along the first axis.

    In blocks, so that they can be converted and dropped one by one: the bytes of the whole file beside the numbers
    that are made from them would take a quarter more memory than the numbers alone.
    The format: two zero bytes, 0x08 for unsigned bytes, the number of axes, then each axis as a big-endian
    32-bit number, then the values. Raises DataError when the file is anything else or ends too early.
    """
    magic = bytes([0, 0, 8, axes])
    try:
        with cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb") as file:
            begin, header = file.read(4), file.read(4 * axes)
            shape = tuple(int.from_bytes(header[i : i + 4], "big") for i in range(0, len(header), 4))
            blocks = _read_blocks(file, shape) if begin == magic and len(shape) == axes else []
            surplus = file.read(1)
    except OSError as error:  # includes gzip's BadGzipFile
        raise DataError(f"{str(path)!r} cannot be read ({error.strerror or error}): download it again.") from None
    except (EOFError, zlib.error, MemoryError, OverflowError):  # the last two: a size that cannot be true
        raise DataError(f"{str(path)!r} is truncated or damaged: download it again.") from None
    if begin != magic:
        raise DataError(
            f"{str(path)!r} is not an idx file of unsigned bytes with {axes} axes: it begins with "
            f"{begin.hex(' ') or 'nothing'} instead of {magic.hex(' ')}; download it again."
        )
    if len(header) < 4 * axes or sum(map(len, blocks)) < shape[0]:
        raise DataError(f"{str(path)!r} is truncated: it ends before its last value; download it again.")
    if surplus:
        raise DataError(f"{str(path)!r} is damaged: it goes on after its last value; download it again.")
    return blocks


def _read_blocks(file: IO[bytes], shape: tuple[int, ...]) -> list[np.ndarray]:
    """Blocks of whole rows, of about IDX_BLOCK bytes each, as far as the file goes."""
    row = math.prod(shape[1:])
    at_once = max(1, IDX_BLOCK // max(row, 1))
    blocks = []
    for start in range(0, shape[0], at_once):
        rows = min(at_once, shape[0] - start)
        values = file.read(rows * row)
        if len(values) < rows * row:
            break
        blocks.append(np.frombuffer(values, dtype=np.uint8).reshape(rows, *shape[1:]))
    return blocks


def _mnist_download() -> Path:
    """Fetch the training pair into the user's cache folder, once, and return that folder."""
    import pooch  # only a download needs it

    cache = Path(pooch.os_cache("tensor-ops-lab")) / "mnist"
    names = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
    fetch(cache, MNIST_MIRROR, {name: MNIST_SHA256[name] for name in names})
    return cache


def fetch(cache: Path, mirror: str, sha256: dict[str, str]) -> None:
    """Download every file of `sha256` (name -> checksum) from `mirror` into `cache`, unless it is there already.

    Raises DataError when the network, the server, the cache folder or a checksum fails.
    """
    import pooch

    try:
        store = pooch.create(path=cache, base_url=mirror, registry=sha256)
        for name in sha256:
            store.fetch(name)
    except (OSError, ValueError) as error:  # requests' errors are OSErrors; a wrong checksum is a ValueError
        reason = type(error).__name__ if isinstance(error, OSError) else "a file has another checksum"
        raise DataError(
            f"MNIST could not be downloaded from {mirror} ({reason}): check the network, or put the files "
            f"into a folder yourself and give it with --data-dir."
        ) from None


# CSV --------------------------------------------------------------------------------------------------------


Row = tuple[int, list[str]]  # its number, as a spreadsheet counts, and its cells


def _read_csv(path: str) -> tuple[list[Row], str]:
    if not path:
        raise DataError("csv: needs the path of a file: write for example --data csv:flowers.csv.")
    try:
        with open(os.path.expanduser(path), newline="", encoding="utf-8-sig", opener=_open_file) as file:
            return _csv_rows(file, path)
    except OSError as error:
        raise DataError(f"{path!r} cannot be read ({error.strerror}): check the path after csv:.") from None


def _open_file(path: str, flags: int) -> int:
    """Raises OSError for what is neither a file nor a folder: reading a pipe or a device may wait for ever."""
    kind = os.stat(path).st_mode
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise OSError(errno.EINVAL, "It is a pipe or a device")
    return os.open(path, flags)


def _csv_rows(file: IO[str], name: str) -> tuple[list[Row], str]:
    """The rows that are not blank, and what separates their cells."""
    try:
        first = file.readline()
        if re.fullmatch(r'"?sep=.?"?', first.strip(), re.IGNORECASE):
            raise DataError(f"{name!r} begins with {first.strip()!r}, a line for Excel alone: remove that line.")
        file.seek(0)
        rows = enumerate(csv.reader(file, delimiter=separator(first)), start=1)
        return [(number, cells) for number, cells in rows if any(cells)], separator(first)
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{name!r} is not a text file ({error}): save it as CSV in UTF-8.") from None


def separator(line: str) -> str:
    """What separates the cells of a CSV, by its first line: a comma, a semicolon or a tab."""
    others = [mark for mark in ";\t" if mark in line]
    if others and not re.search(r",(?!\d)|(?<!\d),", line):  # commas that stand in numbers only are decimal commas
        return max(others, key=line.count)
    return max(",;\t", key=line.count)


def _parse_table(rows: list[Row], mark: str, path: str, target: str | None, task: str | None) -> _Raw:
    """Columns of numbers or of few texts, and one of classes, or of what a regression is to find.

    The first row is a header when no cell in it is a number.

    mark: what separates the cells. Where it is no comma, numbers may have decimal commas. Each different text of a
    column becomes an input, which is 1 where it stands. An empty cell is a missing number.
    """
    if not rows:
        raise DataError(f"{path!r} is empty: it needs rows of numbers and one column of class names.")
    width = _width(rows, path)
    commas = sum(mark != "," and bool(DECIMAL_COMMA.fullmatch(cell.strip())) for _, cells in rows for cell in cells)
    if commas:
        rows = [(number, [_with_point(path, number, cell) for cell in cells]) for number, cells in rows]
    has_header = all(_number(cell) is None for cell in rows[0][1])
    header = [name.strip() for name in rows[0][1]] if has_header else list(_numbered(width))
    if has_header:
        rows = rows[1:]
    if not rows:
        raise DataError(f"{path!r} has a header but no rows under it: add some data.")
    label_at = _find_target(path, target, header)
    columns = [at for at in range(width) if at != label_at]
    by_column = {at: _inputs(path, header, rows, at) for at in columns}
    inputs = [one for found in by_column.values() for one in found]
    labels = [cells[label_at].strip() for _, cells in rows]
    for (number, _), label in zip(rows, labels, strict=True):
        if not label:
            raise DataError(f"{path!r}, row {number}: the label in {header[label_at]!r} is empty, fill it in.")
    classes = sorted(set(labels), key=_as_class)
    numbers = [_number(label) for label in labels]
    whole = all(value is not None and value.is_integer() for value in numbers)
    measured = None not in numbers and len(classes) > 20 and (not whole or len(labels) < 5 * len(classes))
    regression = task == "regression" or (task is None and measured)
    if regression:
        classes = []
        wanted = np.array([_cell(path, number, header[label_at], cells[label_at]) for number, cells in rows])
    else:
        index_of = {label: index for index, label in enumerate(classes)}
        wanted = np.array([index_of[label] for label in labels])
    if not regression and not has_header and labels.count(labels[0]) == 1 < len(labels):
        raise DataError(
            f"{path!r}, row {rows[0][0]}: no other row is of the class {labels[0]!r}; if this row is a header, give "
            f"its columns names that are not numbers, and if not, add samples of the class or remove the row."
        )
    texts = [header[at] for at, found in by_column.items() if found[0][0] != header[at]]
    empty = sum(not cells[at].strip() for _, cells in rows for at in columns)
    remarks = (
        *([f"decimal commas: {commas:,}, read as points"] if commas else []),
        *([f"columns of texts: {', '.join(map(repr, texts))}, an input for each different text"] if texts else []),
        *([f"empty cells: {empty:,}, each given the mean of its column's training samples"] if empty else []),
    )
    note = f"{Path(path).name}, {'numbers to find' if regression else 'labels'} from {header[label_at]!r}"
    features = np.stack([values for _, values in inputs], axis=1)
    names = tuple(name for name, _ in inputs)
    return _Raw([features], wanted, tuple(classes), note, names, remarks)


def _with_point(path: str, number: int, cell: str) -> str:
    """A cell of a table with decimal commas, as Python writes numbers."""
    text = cell.strip()
    if DECIMAL_COMMA.fullmatch(text):
        return text.replace(".", "").replace(",", ".")
    if "." in text and _number(text) is not None:
        raise DataError(
            f"{path!r}, row {number}: {text[:40]!r} has a point, where other numbers of the table have a comma: write "
            f"them all alike."
        )
    return cell


def _inputs(path: str, header: list[str], rows: list[Row], at: int) -> list[tuple[str, np.ndarray]]:
    """What a column gives the network: its numbers, or an input for each of its texts. Name and values (rows,) of each.

    Raises DataError for a cell that is neither of the one kind nor of the other.
    """
    cells = [cells[at].strip() for _, cells in rows]
    filled = [cell for cell in cells if cell]
    different = sorted({*filled})
    if not filled:
        raise DataError(f"{path!r}: the column {header[at]!r} is empty: remove it.")
    if any(_number(cell) is not None for cell in filled) or len(different) > min(MOST_TEXTS, len(filled) / 2):
        return [(header[at], np.array([_cell(path, number, header[at], cells[at]) for number, cells in rows]))]
    missing = np.array([not cell for cell in cells])
    return [
        (f"{header[at]} “{text}”", np.where(missing, np.nan, [float(cell == text) for cell in cells]))
        for text in different
    ]


def _width(rows: list[Row], path: str) -> int:
    """How many cells every row has. Raises DataError when they differ, or make no table."""
    width = len(rows[0][1])
    for number, cells in rows:
        if len(cells) != width:
            longer, last = (number, cells[-1]) if len(cells) > width else (rows[0][0], rows[0][1][-1])
            raise DataError(
                f"{path!r}, row {number} has {len(cells)} cells but row {rows[0][0]} has {width}: "
                f"give every row the same number of cells."
                if last.strip()
                else _trailing(path, longer)
            )
    if len(rows) > 1 and not any(cells[-1].strip() for _, cells in rows[1:]):
        raise DataError(_trailing(path, rows[1][0]))
    if width < 2:
        raise DataError(f"{path!r} has one column only: it needs at least one column of numbers and one of classes.")
    return width


def _trailing(path: str, number: int) -> str:
    return f"{path!r}, row {number} ends with a separator, and nothing follows: remove it from all rows that do."


def _numbered(columns: int) -> tuple[str, ...]:
    """Names for columns that have none."""
    return tuple(f"column {number}" for number in range(1, columns + 1))


def _as_class(label: str) -> tuple[float, str]:
    """Sorts classes: numbers by value, and behind them all other texts, "nan" and "inf" among them."""
    value = _number(label)
    return (math.inf if value is None or not math.isfinite(value) else value), label


def _find_target(path: str, target: str | None, names: list[str]) -> int:
    if target is None:
        return len(names) - 1
    if target in names:
        return names.index(target)
    if target.isascii() and target.isdecimal() and 1 <= int(target) <= len(names):
        return int(target) - 1
    close = difflib.get_close_matches(target, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(names[:20])}."
    raise DataError(f"{path!r} has no column {target!r}: {hint}")


def _number(cell: str) -> float | None:
    """What a cell says as a number, nan and inf included. Python would also take 1_000, and digits of other scripts."""
    if not cell.isascii() or "_" in cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _cell(path: str, number: int, column: str, cell: str) -> float:
    """The number in a cell, nan where it is empty, or a DataError that says where the cell is."""
    text = cell.strip()
    value = _number(text) if text else math.nan
    if not text or (value is not None and abs(value) <= LARGEST_CELL):  # false for nan, too
        return cast(float, value)
    place = f"{path!r}, row {number}, column {column!r}"
    if "," in text and _number(text.replace(",", ".", 1)) is not None:
        raise DataError(
            f"{place}: {text[:40]!r} has a decimal comma, but commas separate the cells of this table: write "
            f"points, or separate the cells by semicolons."
        )
    raise DataError(
        f"{place}: {text[:40]!r} is not a number that can be used. Put a number there, leave the cell empty, or remove "
        f"the row; a column of texts needs at most {MOST_TEXTS} different ones, each more than once."
    )


# Split and standardise --------------------------------------------------------------------------------------


def _split_and_standardise(name: str, raw: _Raw, val_fraction: float, rng: np.random.Generator) -> Dataset:
    split = stratified_split if raw.classes else _split
    train, val = split(raw.labels, raw.classes, val_fraction, rng)
    images = raw.blocks[0].dtype == np.uint8
    # float32 holds pixels exactly; a table's columns may carry large offsets that must go before rounding to it.
    train_x, val_x = _distribute(raw.blocks, train, val, np.float32 if images else np.float64)
    if not images:
        _fill_gaps(name, raw.columns, train_x, val_x)
    constant = np.ptp(train_x, axis=0) == 0
    mean = train_x.mean(axis=0, dtype=np.float64)
    if images:
        # One mean and one deviation for all pixels: divided by its own deviation, a pixel that is hardly ever set
        # in the training images would be a huge input wherever it is set.
        mean = mean.mean()
    train_x -= mean
    val_x -= mean
    variance = np.einsum("ij,ij->j", train_x, train_x, dtype=np.float64) / len(train_x)
    scale = np.sqrt(variance.mean()) if images else np.sqrt(variance)
    scale = np.where(constant.all() if images else constant, 1.0, scale)
    if not images:
        _check_spread(name, raw.columns, scale, val_x)
    train_x /= scale
    val_x /= scale
    divided = f"{len(train):,} training and {len(val):,} validation samples"
    if not len(val):
        val_x, val = train_x, train
        divided = f"{len(train):,} training samples, none held out: what is called validation is measured on these"
    how = (
        f"all pixels standardised with the training mean {mean:.4g} and deviation {scale:.4g}"
        if images
        else "each column standardised with the mean and deviation of its training samples"
    )
    inputs = train_x.shape[1]
    answers = f"{len(raw.classes)} classes" if raw.classes else "one number to find"
    notes = (
        f"{name}: {raw.note}; {divided}, {inputs} input{'s' * (inputs > 1)}, {answers}",
        *raw.remarks,
        f"inputs: {how}",
    )
    target, labels = None, raw.labels.astype(np.int64)
    if not raw.classes:
        target = float(raw.labels[train].mean()), float(raw.labels[train].std()) or 1.0
        labels = ((raw.labels - target[0]) / target[1]).astype(np.float32)
    return Dataset(
        name=name,
        train_x=train_x.astype(np.float32, copy=False),
        train_y=labels[train],
        val_x=val_x.astype(np.float32, copy=False),
        val_y=labels[val],
        classes=raw.classes,
        mean=mean,
        scale=scale,
        notes=notes,
        image_shape=raw.image_shape,
        target=target,
    )


def _fill_gaps(name: str, columns: Sequence[str], train_x: np.ndarray, val_x: np.ndarray) -> None:
    """Give missing numbers the mean of their column's training samples. Raises DataError where these have none."""
    for index in np.flatnonzero(np.isnan(train_x).any(axis=0) | np.isnan(val_x).any(axis=0)).tolist():
        known = train_x[~np.isnan(train_x[:, index]), index]
        if not known.size:
            raise DataError(f"{name}: no training sample has a number in {columns[index]!r}: fill some of its cells.")
        for part in (train_x, val_x):
            part[np.isnan(part[:, index]), index] = known.mean()


def _check_spread(name: str, columns: Sequence[str], scale: np.ndarray, val_x: np.ndarray) -> None:
    """Raises DataError for a column that cannot be standardised. scale: (columns,); val_x: around the training mean."""
    for index, column in enumerate(columns):
        if scale[index] < SMALLEST_SCALE:
            raise DataError(
                f"{name}: the numbers of {column!r} differ by too little to be told apart: multiply them all by the "
                f"same large number."
            )
        farthest = np.abs(val_x[:, index]).max(initial=0.0) / scale[index]
        if farthest > FARTHEST:
            raise DataError(
                f"{name}: a number of {column!r} lies {farthest:.0e} deviations away from the others: put it right, or "
                f"remove its row."
            )


def _distribute(
    blocks: list[np.ndarray], train: np.ndarray, val: np.ndarray, dtype: type[np.floating]
) -> tuple[np.ndarray, np.ndarray]:
    """The training rows and the validation rows of all blocks, converted. Takes the blocks out of their list."""
    width = blocks[0].shape[1]
    parts = np.empty((len(train), width), dtype), np.empty((len(val), width), dtype)
    held_out = np.zeros(len(train) + len(val), dtype=bool)
    held_out[val] = True
    filled, start = [0, 0], 0
    while blocks:
        block = blocks.pop(0)
        side = held_out[start : start + len(block)]
        for index, rows in enumerate((~side, side)):
            count = int(np.count_nonzero(rows))
            parts[index][filled[index] : filled[index] + count] = block[rows]
            filled[index] += count
        start += len(block)
    return parts


def _split(
    targets: np.ndarray, _: tuple[str, ...], val_fraction: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of the training and of the validation samples of a regression, at least one of each; of a fraction
    of 0 none to validate.

    Raises DataError where that takes more samples than there are.
    """
    if len(targets) < 2:
        raise DataError("There is one sample only, but it needs at least two, one to train and one to validate.")
    rows = rng.permutation(len(targets))
    held_out = min(max(round(len(rows) * val_fraction), 1), len(rows) - 1) if val_fraction else 0
    return np.sort(rows[held_out:]), np.sort(rows[:held_out])


def stratified_split(
    labels: np.ndarray, classes: tuple[str, ...], val_fraction: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of the training and of the validation samples, every class in the same proportion in both.

    Each class gives `val_fraction` of its samples, rounded, at least one and never all; none if that is 0. Raises
    DataError for a class with a single sample, unless nothing is held out, and when there is only one class.
    """
    if len(classes) < 2:
        raise DataError(f"There is only one class, {classes[0]!r}: a classifier needs samples of at least two.")
    train, val = [], []
    for index, name in enumerate(classes):
        rows = rng.permutation(np.flatnonzero(labels == index))
        if len(rows) < (2 if val_fraction else 1):
            raise DataError(
                f"The class {name!r} has {'one sample only' if rows.size else 'no sample'}, but it needs at least two, "
                f"one to train and one to validate: add samples or remove the class."
            )
        held_out = min(max(round(len(rows) * val_fraction), 1), len(rows) - 1) if val_fraction else 0
        val.append(rows[:held_out])
        train.append(rows[held_out:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(val))
