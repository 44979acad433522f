"""The validation losses of a weight, one a batch, for the curve. No backward pass follows."""

from model import Tensor, no_grad


def validation_losses(batches, w):
    w = Tensor(w)
    history = []
    with no_grad():
        for x, y in batches:
            history.append(((w * x - y) ** 2).mean())
    return history
