"""The validation losses of a weight, one a batch, for the curve. No backward pass follows."""

import numpy as np


def validation_losses(batches, w):
    """Plain arrays: no graph is ever made. Each loss is a number of NumPy's."""
    return [np.square(w * x - y).mean() for x, y in batches]
