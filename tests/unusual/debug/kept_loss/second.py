"""The validation losses of a weight, one a batch, for the curve. No backward pass follows."""

from model import Tensor


def validation_losses(batches, w):
    w = Tensor(w)
    history = []
    for x, y in batches:
        loss = ((w * x - y) ** 2).mean()
        history.append(loss.detach())
    return history
