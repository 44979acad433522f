"""What is measured of a run: gradients and steps during an epoch; losses, accuracies and weights at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from lab.training.records import Histogram, Measure
from model import Tensor, no_grad
from nn import MLP, Linear

EVALUATION_BATCH = 250  # large enough to be fast, small enough that its activations take little memory
HISTOGRAM_BINS = 48
_POWERS = [float(f"{10 ** (third / 3):.3g}") for third in range(-18, 4)]  # 1e-06, 2.15e-06, 4.64e-06, 1e-05, ... 10
GRADIENT_EDGES = (*(-power for power in reversed(_POWERS)), *_POWERS)  # same in all runs; the middle bin holds zeros
# Activations that are flat at both ends: output -> slope there, as a share of the steepest slope
FLAT_ENDS = {"tanh": lambda y: 1 - y * y, "sigmoid": lambda y: 1 - (2 * y - 1) ** 2}  # a sigmoid is a rescaled tanh
SATURATED = 0.05  # an activation is flat where its derivative is below this share of its largest value


class EpochStats:
    """Quantities accumulated over the batches of an epoch, one array each; a run's state includes all of them."""

    def __init__(self, layers: int) -> None:
        self.grad_norm_sums = np.zeros(layers)
        self.clipped = np.zeros((), int)  # number of steps with clipped gradients
        self.update_ratios = np.full(layers, np.nan)  # of the last step
        self.gradient_counts = np.zeros((layers, len(GRADIENT_EDGES) + 1), int)  # of the last batch
        self.seconds = np.zeros(())


def evaluate(
    model: MLP, loss: Callable[[Tensor, np.ndarray], Tensor], inputs: np.ndarray, labels: np.ndarray
) -> tuple[float, float, list[float], list[float]]:
    """Compute the mean loss, the share of right classes, and each hidden layer's shares of dead units and of saturated
    outputs. loss: of outputs and labels."""
    loss_sum, correct = 0.0, 0
    widths = [len(layer.bias) for layer in model.layers[:-1]]
    saturated = [0] * len(widths)
    lows, highs = ([np.full(width, end) for width in widths] for end in (np.inf, -np.inf))
    with no_grad(), np.errstate(all="ignore"):
        for start in range(0, len(inputs), EVALUATION_BATCH):
            batch = slice(start, start + EVALUATION_BATCH)
            *hidden, logits = model.outputs(inputs[batch])
            loss_sum += loss(logits, labels[batch]).item() * len(labels[batch])
            correct += int(np.count_nonzero(logits.numpy().argmax(axis=1) == labels[batch]))
            for index, outputs in enumerate(output.numpy() for output in hidden):
                np.minimum(lows[index], outputs.min(axis=0), out=lows[index])
                np.maximum(highs[index], outputs.max(axis=0), out=highs[index])
                if slope := FLAT_ENDS.get(model.activation):
                    saturated[index] += int(np.count_nonzero(slope(outputs) < SATURATED))
    dead = [float(np.mean(low == high)) for low, high in zip(lows, highs, strict=True)]
    shares = [n / (len(labels) * width) for n, width in zip(saturated, widths, strict=True)]
    return loss_sum / len(labels), correct / len(labels), dead, shares


def finite(value: float) -> Measure:
    """Return a number as a record has it: None for inf and nan."""
    return float(value) if math.isfinite(value) else None


def gradient(parameter: Tensor) -> np.ndarray:
    assert parameter.grad is not None, f"no gradient has reached {parameter.label}"
    return parameter.grad


def gradient_norm(layer: Linear) -> float:
    """Compute the norm of the gradients of a layer's weights and biases together."""
    return math.sqrt(sum(float(np.vdot(values, values)) for values in map(gradient, layer.parameters())))


def histogram_edges(weights: np.ndarray) -> np.ndarray:
    """Choose the bins for all epochs of a run: twice the range of the initial or of Xavier weights."""
    reach = 2 * max(float(np.abs(weights).max()), 3 * math.sqrt(2 / sum(weights.shape)))
    return np.linspace(-reach, reach, HISTOGRAM_BINS + 1).round(6)


def counts(values: np.ndarray, edges: Sequence[float] | np.ndarray) -> np.ndarray:
    """Count the values below the first edge, in each bin, and above the last edge."""
    inside, _ = np.histogram(values, edges)
    return np.array([np.count_nonzero(values < edges[0]), *inside, np.count_nonzero(values > edges[-1])])


def histogram(counted: np.ndarray, edges: Sequence[float] | np.ndarray) -> Histogram:
    """Make a histogram of what `counts` returns."""
    below, *inside, above = counted.tolist()
    return {"edges": np.asarray(edges).tolist(), "counts": inside, "below": below, "above": above}
