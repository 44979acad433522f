"""The square root where there is one, 0 elsewhere; and its derivative, 0 elsewhere too."""

import numpy as np

from model import Tensor


def root_and_derivative(x):
    x = Tensor(x)
    positive = x > 0
    x[positive].sqrt().sum().backward()
    return np.where(positive, np.sqrt(np.abs(x.data)), 0), x.grad
