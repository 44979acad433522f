"""The loss of one sample as a function of a network's weights, which `lab.trace.record` can record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from model import Tensor, cross_entropy, mse_loss
from nn import MLP

MAX_WEIGHTS = 600  # a drawing of more could not be read


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
