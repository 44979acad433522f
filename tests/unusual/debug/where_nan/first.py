"""The square root of a tensor where there is one, 0 elsewhere; so its derivative is 0 elsewhere, too."""

from model import where


def root(x):
    safe = where(x > 0, x, 4.0)
    return safe.sqrt() * (x > 0)
