"""What a network answers: probabilities for samples and over a plane, and its mistakes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.training.features import network_inputs
from model import MLP, Tensor, no_grad

MARGIN = 0.12  # of the extent of the points, around them


def probabilities(model: MLP, inputs: np.ndarray) -> np.ndarray:
    """Softmax probabilities (n, classes), float64, for inputs (n, features). Weights that are not finite give nan."""
    logits = Tensor(_outputs(model, inputs)[-1].astype(np.float64), requires_grad=False)
    with np.errstate(all="ignore"):
        return logits.softmax(axis=1).numpy()


def answers(model: MLP, inputs: np.ndarray) -> np.ndarray:
    """The number (n,) that a regression gives for each input (n, features), float64."""
    return _outputs(model, inputs)[-1][:, 0].astype(np.float64)


def _outputs(model: MLP, inputs: np.ndarray) -> list[np.ndarray]:
    """The outputs of all hidden layers, then the logits, each (n, width)."""
    with no_grad(), np.errstate(all="ignore"):
        return [output.numpy() for output in model.outputs(inputs.astype(np.float32, copy=False))]


def saliency(model: MLP, x: np.ndarray, label: int) -> np.ndarray:
    """How fast the logit of a class grows with each input: the gradient (features,) at one input x (features,)."""
    inputs = Tensor(x.reshape(1, -1).astype(np.float32), label="x")
    with np.errstate(all="ignore"):
        model(inputs)[0, label].backward()
    model.zero_grad()
    slopes: np.ndarray = inputs.grad[0]  # type: ignore[index]  # there was a backward pass
    return slopes


def confusion(labels: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """How often a sample of class `row` was taken for class `column`: integers (classes, classes)."""
    counts = np.zeros((classes, classes), dtype=int)
    np.add.at(counts, (labels, predicted), 1)
    return counts


# ---------------------------------------------------------------- over a plane


def grid(points: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """The centres of the cells along x and along y, each (cells,), of a square that holds the points (n, 2)."""
    low, high = points.min(axis=0), points.max(axis=0)
    reach = max(float((high - low).max()) / 2, 1e-6) * (1 + 2 * MARGIN)
    centre = (low + high) / 2
    along = (np.arange(cells) + 0.5) / cells * 2 - 1
    return centre[0] + reach * along, centre[1] + reach * along


def fixed_grid(reach: float, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """The same for a square from -reach to reach, whatever lies in it."""
    along = reach * ((np.arange(cells) + 0.5) / cells * 2 - 1)
    return along, along


@dataclass(frozen=True)
class PlaneGrid:
    """Points of a plane, (rows * columns, 2), the smallest y in the first row."""

    points: np.ndarray
    shape: tuple[int, int]


def grid_of(xs: np.ndarray, ys: np.ndarray) -> PlaneGrid:
    return PlaneGrid(_plane(xs, ys), (len(ys), len(xs)))


def layer_maps(model: MLP, plane: PlaneGrid) -> list[np.ndarray]:
    """The outputs (rows, columns, units) of each hidden layer, and the logits, at the points of a grid."""
    return [output.reshape(*plane.shape, -1) for output in _outputs(model, plane.points)]


def _plane(xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    return np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)


def over_plane(model: MLP, xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """Probabilities (rows, columns, classes) at every point of the grid ys x xs, the smallest y in the first row."""
    return probabilities(model, _plane(xs, ys)).reshape(len(ys), len(xs), -1)


def before_activation(model: MLP, layer: int, unit: int, xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """What one unit of a hidden layer, both counted from 0, makes of its inputs before its activation, over the grid.

    In the first layer it is linear over the plane, so that the line where it is 0 is straight. The output of a ReLU is
    0 on all of one side, and says of that line only between which cells it runs.
    """
    points = _plane(xs, ys)
    inputs = network_inputs(model, points)
    for output in _outputs(model, points)[:layer]:
        inputs = inputs + output if model.skip and output.shape == inputs.shape else output
    weight, bias = (parameter.numpy().astype(np.float64) for parameter in model.layers[layer].parameters())
    with np.errstate(all="ignore"):
        return np.asarray(inputs @ weight[:, unit] + bias[unit]).reshape(len(ys), len(xs))
