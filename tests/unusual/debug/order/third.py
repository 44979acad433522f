"""Trains y = w x on batches, one step each."""

from model import Tensor


def trained(batches, lr):
    w = Tensor(0.0)
    for x, y in batches:
        loss = ((w * x - y) ** 2).mean()
        loss.backward()
        w = Tensor(w.data - lr * w.grad)
    return w.item()
