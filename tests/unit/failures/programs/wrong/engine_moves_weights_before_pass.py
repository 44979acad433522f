import numpy as np
from model import Tensor

x, y = np.array([1.0, 2.0]), np.array([2.0, 4.0])
a = Tensor(np.array([0.5]), label="a")
push = np.zeros(1)
for _ in range(3):
    error = ((a * x - y) ** 2).mean() + (a * a).sum()
    a.data += push  #! 1
    a.zero_grad()
    error.backward()
    push = -0.1 * a.grad
