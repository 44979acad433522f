"""Predictions of a network: probabilities for samples and over a plane, saliency, and the confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.training.features import network_inputs
from model import Tensor, no_grad
from nn import MLP

MARGIN = 0.12  # on each side of the points, as a share of their extent


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


def saliency(model: MLP, x: np.ndarray, label: int) -> np.ndarray:
    """Compute the gradient (features,) of one class's logit with respect to the input x (features,)."""
    inputs = Tensor(x.reshape(1, -1).astype(np.float32), label="x")
    with np.errstate(all="ignore"):
        model(inputs)[0, label].backward()
    model.zero_grad()
    slopes: np.ndarray = inputs.grad[0]  # type: ignore[index]  # there was a backward pass
    return slopes


def confusion(labels: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Count how often a sample of class `row` was predicted as class `column`: integers (classes, classes)."""
    counts = np.zeros((classes, classes), dtype=int)
    np.add.at(counts, (labels, predicted), 1)
    return counts


# ---------------------------------------------------------------- over a plane


def grid(points: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell centres along x and along y, each (cells,), of a square grid around the points (n, 2)."""
    low, high = points.min(axis=0), points.max(axis=0)
    reach = max(float((high - low).max()) / 2, 1e-6) * (1 + 2 * MARGIN)
    centre = (low + high) / 2
    along = (np.arange(cells) + 0.5) / cells * 2 - 1
    return centre[0] + reach * along, centre[1] + reach * along


def fixed_grid(reach: float, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell centres along x and along y, each (cells,), of the square from -reach to reach."""
    along = reach * ((np.arange(cells) + 0.5) / cells * 2 - 1)
    return along, along


@dataclass(frozen=True)
class PlaneGrid:
    """Grid points in a plane, (rows * columns, 2), with the smallest y in the first row; shape: (rows, columns)."""

    points: np.ndarray
    shape: tuple[int, int]


def grid_of(xs: np.ndarray, ys: np.ndarray) -> PlaneGrid:
    return PlaneGrid(_plane(xs, ys), (len(ys), len(xs)))


def layer_maps(model: MLP, plane: PlaneGrid) -> list[np.ndarray]:
    """Compute the outputs of each hidden layer, then the logits, over a grid: arrays (rows, columns, units)."""
    return [output.reshape(*plane.shape, -1) for output in _outputs(model, plane.points)]


def _plane(xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    return np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)


def over_plane(model: MLP, xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """Compute the probabilities (rows, columns, classes) over the grid ys x xs, the smallest y in the first row."""
    return probabilities(model, _plane(xs, ys)).reshape(len(ys), len(xs), -1)


def before_activation(model: MLP, layer: int, unit: int, xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """Compute a hidden unit's pre-activation (rows, columns) over the grid; layer and unit are counted from 0.

    In the first layer it is linear, so that the line where it is 0 is straight. The output of a ReLU could not show
    that line: it is 0 everywhere on one side of it.
    """
    points = _plane(xs, ys)
    inputs = network_inputs(model, points)
    for output in _outputs(model, points)[:layer]:
        inputs = inputs + output if model.skip and output.shape == inputs.shape else output
    weight, bias = (parameter.numpy().astype(np.float64) for parameter in model.layers[layer].parameters())
    with np.errstate(all="ignore"):
        return np.asarray(inputs @ weight[:, unit] + bias[unit]).reshape(len(ys), len(xs))
