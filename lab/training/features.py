"""Features of two inputs: what a network on a plane gets instead of x and y alone.

A circle is a straight line for a network that gets x² and y²: what features do by hand, hidden layers have to find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from model import MLP, Tensor

WAVE = 3  # of the sines: standardised inputs reach from about -2 to 2, which is two waves of sin 3x
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
PLAIN = ("x", "y")  # what no features at all stand for
NAMES = MappingProxyType(dict(zip(FEATURES, ("x", "y", "x²", "y²", "xy", "sin 3x", "sin 3y"), strict=True)))


class FeatureMLP(MLP):
    """A network that gets features of two inputs. It is called with the inputs themselves, (n, 2)."""

    features: tuple[str, ...] = PLAIN

    def outputs(self, x: Any) -> Iterator[Tensor]:
        return super().outputs(of_inputs(x, self.features))


def of_inputs(inputs: Any, features: Sequence[str]) -> np.ndarray:
    """The features (n, features) of inputs (n, 2), which may be a tensor."""
    values = inputs.numpy() if isinstance(inputs, Tensor) else np.asarray(inputs)
    return np.stack([FEATURES[name](values[:, 0], values[:, 1]) for name in features], axis=1)


def network_inputs(model: MLP, inputs: np.ndarray) -> np.ndarray:
    """What the first layer of a network gets for inputs (n, features)."""
    return of_inputs(inputs, model.features) if isinstance(model, FeatureMLP) else inputs


def network(
    features: Sequence[str],
    sizes: Sequence[int],
    activation: str,
    init: str,
    rng: np.random.Generator | None,
    skip: bool,
) -> FeatureMLP:
    """A network in float32. sizes: of the layers, with that of the features first."""
    made = FeatureMLP(sizes, activation, init, rng, np.float32, skip)
    made.features = tuple(features)
    return made
