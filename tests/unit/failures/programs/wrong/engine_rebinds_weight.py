import numpy as np

from model import Tensor

w = Tensor([1.0, 2.0], label="w")
for i in range(5):
    loss = (w * w).sum()
    loss.backward()
    w = w - 0.1 * w.grad  #! 5
