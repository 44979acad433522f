"""What a trained network answers: to new samples and tables, over a plane, and to one sample, step by step.

`load(run)` returns the network of a run with the preparation of its inputs.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lab.training import table_to_samples
from lab.training.base_trainer import new_network, put_weights
from lab.training.config import Config
from lab.training.run_folder import RunError, RunFolder
from lab.training.samples import Cell, DataError, numbered
from model import Tensor, cross_entropy, mse_loss, no_grad
from nn import MLP

MARGIN = 0.12  # on each side of the points, as a share of their extent
MAX_DRAWN_WEIGHTS = 600  # of a network whose pass is drawn: a drawing of more could not be read


@dataclass(frozen=True)
class TrainedModel:
    """A network with the weights of its best epoch, which takes inputs in the data's original units.

    classes: their names; empty for a regression. cells: the column that each input of a table is read from; empty for
    pixels. mean, scale: of the training samples. target: mean and deviation of a regression's target.
    """

    network: MLP
    config: Config
    classes: tuple[str, ...]
    cells: tuple[Cell, ...] = field(repr=False)
    mean: np.ndarray = field(repr=False)
    scale: np.ndarray = field(repr=False)
    target: tuple[float, float] | None

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
    config, state = folder.config(), folder.checkpoint()
    if state is None:
        raise RunError(f"The run in {str(run)!r} has no complete epoch: train it first.")
    sizes = tuple(state["sizes"].tolist())
    if sizes[1:-1] != config.hidden:
        raise folder.damaged("checkpoint.npz")
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


def predict_table(
    model: TrainedModel, path: str, encoding: str | None = None, warn: Callable[[str], object] = lambda _: None
) -> str:
    """Return a CSV file's rows as CSV with the predictions appended: the class and its probability, or the number.

    encoding: of the file; None: found as in training. warn: is called with a sentence about what the network does not
    know. Raises DataError.
    """
    cells = model.cells or tuple(map(Cell, numbered(model.inputs)))
    header, rows, samples = table_to_samples.inputs_of_file(path, cells, encoding or model.config.encoding, warn)
    answered = model.predict(samples) if len(rows) else np.empty(0)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*header, "prediction", *(["probability"] if model.classes else [])])
    likely = model.probabilities(samples).max(axis=1) if model.classes and len(rows) else np.empty(0)
    for at, (row, answer) in enumerate(zip(rows, answered, strict=True)):
        given = [answer, f"{likely[at]:.4f}"] if model.classes else [f"{answer:.6g}"]
        writer.writerow([*row, *given])
    return out.getvalue()


# ---------------------------------------------------------------- for pictures


def probabilities(model: MLP, inputs: np.ndarray) -> np.ndarray:
    """Compute softmax probabilities (n, classes), float64, for inputs (n, features); nan if weights are not finite."""
    logits = Tensor(_outputs(model, inputs)[-1].astype(np.float64), requires_grad=False)
    with np.errstate(all="ignore"):
        return logits.softmax(axis=1).numpy()


def answers(model: MLP, inputs: np.ndarray) -> np.ndarray:
    """Compute a regression's prediction (n,), float64, for inputs (n, features)."""
    return _outputs(model, inputs)[-1][:, 0].astype(np.float64)


def _outputs(model: MLP, inputs: np.ndarray) -> list[np.ndarray]:
    """Return the outputs of all hidden layers, then the logits, each (n, width)."""
    with no_grad(), np.errstate(all="ignore"):
        return [output.numpy() for output in model.outputs(inputs.astype(np.float32, copy=False))]


def confusion(labels: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Count how often a sample of class `row` was predicted as class `column`: integers (classes, classes)."""
    counts = np.zeros((classes, classes), dtype=int)
    np.add.at(counts, (labels, predicted), 1)
    return counts


# ---------------------------------------------------------------- over a plane


class PlaneGrid(NamedTuple):
    """The cell centres of a grid in a plane, along x and along y."""

    xs: np.ndarray
    ys: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.ys), len(self.xs)

    @property
    def points(self) -> np.ndarray:
        """All cell centres, (rows * columns, 2), with the smallest y in the first row."""
        return np.stack(np.meshgrid(self.xs, self.ys), axis=-1).reshape(-1, 2)


def grid(points: np.ndarray, cells: int) -> PlaneGrid:
    """Return a square grid around the points (n, 2), with this many cells in each direction."""
    low, high = points.min(axis=0), points.max(axis=0)
    reach = max(float((high - low).max()) / 2, 1e-6) * (1 + 2 * MARGIN)
    xs, ys = fixed_grid(reach, cells)
    return PlaneGrid(xs + (low[0] + high[0]) / 2, ys + (low[1] + high[1]) / 2)


def fixed_grid(reach: float, cells: int) -> PlaneGrid:
    """Return a grid over the square from -reach to reach, with this many cells in each direction."""
    along = reach * ((np.arange(cells) + 0.5) / cells * 2 - 1)
    return PlaneGrid(along, along)


def layer_maps(model: MLP, plane: PlaneGrid) -> list[np.ndarray]:
    """Compute the outputs of each hidden layer, then the logits, over a grid: arrays (rows, columns, units)."""
    return [output.reshape(*plane.shape, -1) for output in _outputs(model, plane.points)]


def over_plane(model: MLP, xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """Compute the probabilities (rows, columns, classes) over the grid ys x xs, the smallest y in the first row."""
    return probabilities(model, PlaneGrid(xs, ys).points).reshape(len(ys), len(xs), -1)


# ---------------------------------------------------------------- one sample, to be recorded


def loss_of_sample(
    model: MLP, x: np.ndarray, label: int | float, dtype: type[np.floating[Any]] = np.float64
) -> tuple[Callable[..., Tensor], dict[str, np.ndarray]]:
    """Return the loss of one input x (features,) as a function of the weights, and the weights: W1, b1, W2, ...
    The outputs of its hidden layers are labelled h1, h2, ..., that of the last layer out, and the result loss.

    label: an int is a class, a float the target of a regression. The function calls the real layers, with the tensors
    it is given as weights. dtype: of the weights and the input; float32 overflows where the training did.
    """
    leaves = {parameter.label: parameter.numpy().astype(dtype) for parameter in model.parameters()}
    sizes = [model.layers[0].weight.shape[0], *(layer.weight.shape[1] for layer in model.layers)]

    def build(**weights: Tensor) -> Tensor:
        network = MLP(sizes, model.activation, "zeros", skip=model.skip)
        for number, layer in enumerate(network.layers, start=1):
            layer.weight, layer.bias = weights[f"W{number}"], weights[f"b{number}"]
        *hidden, output = network.outputs(x.reshape(1, -1).astype(dtype))
        for number, layer_output in enumerate(hidden, start=1):
            layer_output.label = f"h{number}"
        output.label = "out"
        loss = cross_entropy(output, np.array([label])) if isinstance(label, int) else mse_loss(output, [[label]])
        loss.label = "loss"
        return loss

    return build, leaves
