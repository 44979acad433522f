"""Features computed from two inputs, such as x² or sin 3x, for a network that trains on points in a plane.

With x² and y² as inputs, a circle becomes a straight line: features do by hand what hidden layers must learn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from model import Tensor
from nn import MLP

WAVE = 3  # frequency of the sines: standardised inputs reach from about -2 to 2, which is two waves of sin 3x
FEATURES: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = MappingProxyType(
    {
        "x": lambda x, y: x,
        "y": lambda x, y: y,
        "x2": lambda x, y: x * x,
        "y2": lambda x, y: y * y,
        "xy": lambda x, y: x * y,
        "sin3x": lambda x, y: np.sin(WAVE * x),
        "sin3y": lambda x, y: np.sin(WAVE * y),
    }
)
PLAIN = ("x", "y")  # the features of a configuration that names none
NAMES = MappingProxyType(dict(zip(FEATURES, ("x", "y", "x²", "y²", "xy", "sin 3x", "sin 3y"), strict=True)))


class FeatureMLP(MLP):
    """A network that computes its features from the two inputs (n, 2) it is called with."""

    features: tuple[str, ...] = PLAIN

    def outputs(self, x: Any) -> Iterator[Tensor]:
        return super().outputs(of_inputs(x, self.features))


def of_inputs(inputs: Any, features: Sequence[str]) -> np.ndarray:
    """Compute features (n, features) of inputs (n, 2), an array or a tensor."""
    values = inputs.numpy() if isinstance(inputs, Tensor) else np.asarray(inputs)
    return np.stack([FEATURES[name](values[:, 0], values[:, 1]) for name in features], axis=1)


def network_inputs(model: MLP, inputs: np.ndarray) -> np.ndarray:
    """Return the array that a network's first layer receives for these inputs (n, inputs)."""
    return of_inputs(inputs, model.features) if isinstance(model, FeatureMLP) else inputs
