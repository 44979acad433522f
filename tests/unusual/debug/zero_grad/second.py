"""Fits y = w x by gradient descent from w = 0."""

from model import Tensor


def fitted(x, y, steps, lr):
    w = Tensor(0.0)
    for _ in range(steps):
        loss = ((w * x - y) ** 2).mean()
        loss.backward()
        w.data = w.data - lr * w.grad
        w.grad = None
    return w.item()
