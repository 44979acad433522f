"""The square root of a tensor where there is one, 0 elsewhere; so its derivative is 0 elsewhere, too."""

from model import where


def root(x):
    return where(x > 0, where(x <= 0, 1.0, x) ** 0.5, 0.0)
