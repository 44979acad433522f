"""The validation losses of a weight, one a batch, for the curve. No backward pass follows."""

from model import Tensor


def validation_losses(batches, w):
    w = Tensor(w, requires_grad=False)
    return [float(((w * x - y) ** 2).mean().data) for x, y in batches]
