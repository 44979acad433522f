"""The square root where there is one, 0 elsewhere; and its derivative, 0 elsewhere too."""

from model import Tensor, where


def root_and_derivative(x):
    x = Tensor(x)
    safe = where(x > 0, x, 4.0)
    root = safe.sqrt() * (x > 0)
    root.sum().backward()
    return root.numpy(), x.grad
