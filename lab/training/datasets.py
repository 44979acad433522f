"""Data to train on: synthetic points, the embedded digits, letters of a text, MNIST files, a CSV of your own.

`load(name, ...)` reads a dataset by name, `from_table(text, ...)` takes the text of a CSV, `prepare(...)` takes
arrays. Each returns a `Dataset`: inputs as float32, labels as integers, split into training and validation samples,
standardised with the mean and deviation of the training samples alone (the validation samples must stay unseen).
Unusable data raise a `DataError`, whose message is one sentence.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from lab.training import images, table_to_samples
from lab.training.config import Config, hint
from lab.training.preprocessing import fill_missing, split, standardise
from lab.training.samples import Cell, Choices, DataError, Raw, TableSettings, TargetError, numbered

SYNTHETIC_SAMPLES = 1000
DATA_SETTINGS = ("data_dir", *TableSettings._fields, "val_fraction", "noise", "samples")  # besides name and seed


@dataclass(frozen=True)
class Dataset:
    """Samples for training and validation.

    train_x, val_x: float32 of shape (samples, features), standardised as (raw - mean) / scale
    train_y, val_y: int64 of shape (samples,), an index into `classes`; in a regression float32, standardised too
    mean, scale:    one number for images, one per column otherwise
    notes:          what was read and how the inputs were prepared, as sentences for the log
    image_shape:    (height, width) of samples that are images, stored row by row; None for others
    target:         mean and deviation of a regression's target in the training samples; None for classes
    columns:        the names of the inputs of a table, (features,); empty for images
    cells:          for each input of a table, the column that it is read from, and the text for which it is 1
    choices:        the columns of a table that may be inputs, and whether they are
    encoding:       what the text of a table was read from
    held_out:       False if no samples were held out, so that val_x and val_y are the training samples
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
    columns: tuple[str, ...] = ()
    held_out: bool = True
    cells: tuple[Cell, ...] = ()
    choices: Choices = ()
    encoding: str = ""

    @property
    def preparation(self) -> dict[str, np.ndarray]:
        """What `lab.training.load` needs to prepare new inputs like these, as an array for the checkpoint."""
        about = {
            "classes": self.classes,
            "cells": self.cells or [Cell(column) for column in self.columns],
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "target": self.target,
        }
        return {"preparation": np.frombuffer(json.dumps(about).encode(), np.uint8)}

    @property
    def outputs(self) -> int:
        """Number of network outputs: one for each class, or one for a regression."""
        return len(self.classes) or 1

    def in_units(self, values: np.ndarray) -> np.ndarray:
        """Convert a regression's standardised predictions or targets back to their original unit."""
        mean, scale = self.target or (0.0, 1.0)
        in_units: np.ndarray = values.astype(np.float64) * scale + mean  # a float32 ends at 3e38
        return in_units

    @cached_property
    def fingerprint(self) -> int:
        """Checksum of all samples in order: a resumed run must train on the data that it began with."""
        check = 0
        for part in (self.train_x, self.train_y, self.val_x, self.val_y):
            check = zlib.crc32(np.ascontiguousarray(part).data, check)
        return check


def load(name: str, **settings: Any) -> Dataset:
    """Load the data called `name`, with settings of `Config`: load("moons", noise=0.1, seed=1).

    Raises DataError, ConfigError.
    """
    return load_dataset(Config(data=name, **settings))


def load_dataset(config: Config) -> Dataset:
    """Read or generate the data that a run's settings ask for, split them and standardise them. Raises DataError."""
    name, rng = config.data, np.random.default_rng(config.seed)
    kind, _, path = name.partition(":")
    generated = f"is for generated data ({', '.join(SYNTHETIC)})"
    for setting, fits, purpose in (
        *((setting, kind == "csv", "is for a CSV file") for setting in TableSettings._fields),
        ("data_dir", kind == "mnist", "is the folder of the MNIST files"),
        ("noise", name in SYNTHETIC, generated),
        ("samples", name in SYNTHETIC, generated),
    ):
        if getattr(config, setting) not in (None, ()) and not fits:
            raise DataError(f"--{setting.replace('_', '-')} {purpose}, but the data is {name!r}: leave it out.")
    if kind == "csv":
        raw = table_to_samples.of_file(path, TableSettings(*(getattr(config, one) for one in TableSettings._fields)))
    elif name == "mnist":
        raw = images.mnist(config.data_dir)
    elif name == "digits":
        raw = images.digits()
    elif name in SYNTHETIC:
        noise = SYNTHETIC[name][1] if config.noise is None else config.noise
        raw = _generate(name, rng, noise, config.samples or SYNTHETIC_SAMPLES)
    else:
        own = name.lower().endswith(".csv")
        what = f"for your own file write csv:{name}." if own else hint(name, (*NAMES, "csv:PATH"))
        raise DataError(f"There is no dataset called {name!r}: {what}")
    return _split_and_standardise(name, raw, config.val_fraction, rng)


def from_table(text: str, name: str, val_fraction: float = 0.2, seed: int = 0, **chosen: Any) -> Dataset:
    """Make a dataset from the text of a table, as `load("csv:PATH", ...)` does from a file.

    name: what to call it in notes and errors, for example the name of the file. chosen: fields of TableSettings.
    Raises DataError.
    """
    raw = table_to_samples.of_text(text.encode("utf-8", "replace"), name, TableSettings(**chosen), shared=True)
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
    """Make a dataset from arrays: features (samples, features), labels (samples,) as indices into `classes`.

    note: describes the samples in the log: "40 points drawn by hand". Raises DataError.
    """
    raw = Raw(features, labels, tuple(classes), note, numbered(features.shape[1]))
    return _split_and_standardise(name, raw, val_fraction, np.random.default_rng(seed))


# Synthetic points -------------------------------------------------------------------------------------------
# Each takes (samples, noise, rng) and returns points of shape (samples, inputs) and labels or targets of shape
# (samples,).


def moons(samples: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Generate two interlocking half circles."""
    labels = np.arange(samples) % 2
    angle = rng.uniform(0, np.pi, samples)
    x = np.where(labels == 0, np.cos(angle), 1 - np.cos(angle))
    y = np.where(labels == 0, np.sin(angle), 0.5 - np.sin(angle))
    return _jitter(x, y, noise, rng), labels


def circles(samples: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Generate a circle inside another of twice its radius."""
    labels = np.arange(samples) % 2
    angle = rng.uniform(0, 2 * np.pi, samples)
    radius = np.where(labels == 0, 1.0, 0.5)
    return _jitter(radius * np.cos(angle), radius * np.sin(angle), noise, rng), labels


def spirals(samples: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Generate two spiral arms that wind one and a half times around each other: the hardest shape."""
    labels = np.arange(samples) % 2
    radius = np.sqrt(rng.uniform(0.01, 1, samples))  # the root spreads the points evenly along the arm
    angle = 3 * np.pi * radius + np.pi * labels
    return _jitter(radius * np.cos(angle), radius * np.sin(angle), noise, rng), labels


def xor(samples: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Generate a square whose opposite quarters share a class: no straight line separates the classes."""
    x, y = rng.uniform(-1, 1, (2, samples))
    return _jitter(x, y, noise, rng), (x * y < 0).astype(int)


def blobs(samples: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Generate three round clouds: the easiest shape, which needs no hidden layer."""
    labels = np.arange(samples) % 3
    angle = 2 * np.pi * labels / 3
    return _jitter(np.cos(angle), np.sin(angle), noise, rng), labels


def sine(samples: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Generate noisy points on a sine wave for a regression: x of shape (samples, 1) and y of shape (samples,)."""
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
NAMES = ("digits", "mnist", *SYNTHETIC)
BUILT_IN = (*SYNTHETIC, "digits")  # these need neither a file nor a download


def _generate(name: str, rng: np.random.Generator, noise: float, samples: int) -> Raw:
    points, labels = SYNTHETIC[name][0](samples, noise, rng)
    classes = () if labels.dtype.kind == "f" else tuple(str(label) for label in range(labels.max() + 1))
    where = "in a plane" if classes else "around a curve"
    note = f"{len(points):,} synthetic points {where}, noise {noise:g}"
    return Raw(points, labels, classes, note, ("x", "y")[: points.shape[1]])


# Split and standardise --------------------------------------------------------------------------------------


def _split_and_standardise(name: str, raw: Raw, val_fraction: float, rng: np.random.Generator) -> Dataset:
    try:
        train, val = split(raw.labels, raw.classes, val_fraction, rng)
    except TargetError as error:
        if not raw.cells:
            raise DataError(str(error)) from None
        hint = table_to_samples.or_a_number(raw.classes)
        raise TargetError(f"{str(error).removesuffix('.')}{hint}.") from None
    pixels = raw.inputs.dtype == np.uint8
    # float32 holds pixels exactly; a table's columns may have large offsets, to be subtracted before rounding.
    dtype: Any = np.float32 if pixels else np.float64
    train_x, val_x = (np.ascontiguousarray(raw.inputs[rows], dtype) for rows in (train, val))
    if not pixels:
        fill_missing(name, raw.columns, train_x, val_x)
    mean, scale = standardise(name, raw.columns, train_x, val_x, pixels)
    divided = f"{len(train):,} training and {len(val):,} validation samples"
    held_out = len(val) > 0
    if not held_out:
        val_x, val = train_x, train
        divided = f"{len(train):,} training samples, none held out: validation numbers are measured on these"
    how = (
        f"all pixels standardised with the training mean {mean:.4g} and standard deviation {scale:.4g}"
        if pixels
        else "each column standardised with the mean and standard deviation of its training samples"
    )
    inputs = train_x.shape[1]
    answers = f"{len(raw.classes)} classes" if raw.classes else "one target"
    notes = (
        f"{name}: {raw.note}; {divided}, {inputs} input{'s' * (inputs > 1)}, {answers}",
        *raw.remarks,
        f"inputs: {how}",
    )
    target, labels = None, raw.labels
    if raw.classes:
        labels = labels.astype(np.int64)
    else:
        if len(train) > 1 and np.ptp(labels[train]) == 0:
            raise TargetError(
                f"{name}: the target is {labels[train[0]]:g} in every training row, so there is nothing to learn: "
                f"choose another target column."
            )
        target = float(labels[train].mean()), float(labels[train].std()) or 1.0
        labels = ((labels - target[0]) / target[1]).astype(np.float32)
    return Dataset(
        name=name,
        train_x=train_x.astype(np.float32, copy=False),
        train_y=labels[train],
        val_x=val_x.astype(np.float32, copy=False),
        val_y=labels[val],
        mean=mean,
        scale=scale,
        notes=notes,
        target=target,
        columns=() if pixels else tuple(raw.columns),
        held_out=held_out,
        **{name: getattr(raw, name) for name in ("classes", "image_shape", "cells", "choices", "encoding")},
    )
