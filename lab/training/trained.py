"""Use a trained network: `load(run)` returns it with the preparation of its inputs, and `predict` applies it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lab.training import tables
from lab.training.config import Config
from lab.training.predictions import answers, probabilities
from lab.training.run_folder import RunError, RunFolder
from lab.training.run_state import new_network, put_weights
from lab.training.samples import Cell, DataError, numbered
from nn import MLP


@dataclass(frozen=True)
class TrainedModel:
    """A network with the weights of its best epoch, which takes inputs in the data's original units.

    classes: their names; empty for a regression. cells: the column that each input of a table is read from; empty for
    pixels. mean, scale: of the training samples. target: mean and deviation of a regression's target.
    """

    network: MLP
    config: Config
    classes: tuple[str, ...]
    cells: tuple[Cell, ...]
    mean: np.ndarray
    scale: np.ndarray
    target: tuple[float, float] | None

    def __repr__(self) -> str:
        finds = (
            f"classes {', '.join(self.classes[:5])}{', ...' * (len(self.classes) > 5)}" if self.classes else "number"
        )
        return f"TrainedModel({self.network!r}, data {self.config.data!r}, {finds})"

    @property
    def inputs(self) -> int:
        """Number of inputs of a sample."""
        return 2 if self.config.features else len(self.network.layers[0].weight)

    def prepare(self, samples: Any) -> np.ndarray:
        """Standardise samples (n, inputs) for the network; missing numbers (nan) become the mean. Raises DataError."""
        raw = np.asarray(samples, dtype=float)
        if raw.ndim != 2 or raw.shape[1] != self.inputs:
            raise DataError(f"The network needs samples of {self.inputs} numbers, not an array of shape {raw.shape}.")
        prepared: np.ndarray = np.nan_to_num((raw - self.mean) / self.scale, nan=0.0).astype(np.float32)
        return prepared

    def predict(self, samples: Any) -> np.ndarray:
        """Predict each sample's class, as a text, or in a regression its number: (n,). Raises DataError."""
        prepared = self.prepare(samples)
        if self.target:
            return answers(self.network, prepared) * self.target[1] + self.target[0]
        names: np.ndarray = np.array(self.classes)[probabilities(self.network, prepared).argmax(axis=1)]
        return names

    def probabilities(self, samples: Any) -> np.ndarray:
        """Compute the probability of each class, (n, classes). Raises DataError, also for a regression."""
        if not self.classes:
            raise DataError("A regression gives numbers, not probabilities: use predict.")
        return probabilities(self.network, self.prepare(samples))


def load(run: str | Path) -> TrainedModel:
    """Load a run's model with the weights of its best epoch. Raises RunError, ConfigError, DataError."""
    folder = RunFolder(Path(run))
    config, state, sizes = folder.config(), folder.checkpoint(), folder.sizes()
    if state is None or sizes is None:
        raise RunError(f"The run in {str(run)!r} has no complete epoch: train it first.")
    network = new_network(config, sizes, "zeros")
    put_weights(network, state["best_weights"])
    about = json.loads(state["preparation"].tobytes())
    return TrainedModel(
        network,
        config,
        tuple(about["classes"]),
        tuple(Cell(*cell) for cell in about["cells"]),
        np.array(about["mean"]),
        np.array(about["scale"]),
        about["target"] and tuple(about["target"]),
    )


def predict_table(model: TrainedModel, path: str, warn: Callable[[str], object] = lambda _: None) -> str:
    """Return a CSV file's rows as CSV with the predictions appended: the class and its probability, or the number.

    warn: is called with a sentence about what the network does not know. Raises DataError.
    """
    cells = model.cells or tuple(map(Cell, numbered(model.inputs)))
    header, rows, samples = tables.inputs_of_file(path, cells, warn)
    answered = model.predict(samples) if len(rows) else np.empty(0)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*header, "prediction", *(["probability"] if model.classes else [])])
    likely = model.probabilities(samples).max(axis=1) if model.classes and len(rows) else np.empty(0)
    for at, (row, answer) in enumerate(zip(rows, answered, strict=True)):
        given = [answer, f"{likely[at]:.4f}"] if model.classes else [f"{answer:.6g}"]
        writer.writerow([*row, *given])
    return out.getvalue()
