"""One sample on its way through a network, as a function of the weights that `lab.trace.record` can record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from model import MLP, Tensor, cross_entropy, mse_loss

MOST_WEIGHTS = 600  # a picture of more would be read by nobody


def loss_of_sample(
    model: MLP, x: np.ndarray, label: int | float, dtype: type[np.floating[Any]] = np.float64
) -> tuple[Callable[..., Tensor], dict[str, np.ndarray]]:
    """The loss of one input x (features,) as a function of the weights, and the weights: W1, b1, W2, ...

    label: an int is a class, a float what a regression is to find.

    The function runs the layers themselves, on the tensors that it is given. dtype: of the weights and the input; in
    float32, as in the training, numbers overflow where they did there.
    """
    leaves = {parameter.label: parameter.numpy().astype(dtype) for parameter in model.parameters()}
    sizes = [model.layers[0].weight.shape[0], *(layer.weight.shape[1] for layer in model.layers)]

    def build(**weights: Tensor) -> Tensor:
        network = MLP(sizes, model.activation, "zeros", skip=model.skip)
        for number, layer in enumerate(network.layers, start=1):
            layer.weight, layer.bias = weights[f"W{number}"], weights[f"b{number}"]
        output = network(x.reshape(1, -1).astype(dtype))
        return cross_entropy(output, np.array([label])) if isinstance(label, int) else mse_loss(output, [[label]])

    return build, leaves
