import numpy as np
from model import Tensor

w = Tensor(np.ones(3))
for _ in range(10):
    loss = ((w - 2.0) ** 2).sum()
    loss.backward()
    w.data[:] = w.data - 0.1 * w.grad
    w.grad[:] = 0.0
