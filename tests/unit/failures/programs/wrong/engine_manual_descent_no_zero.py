import numpy as np

from model import Tensor, mse_loss

rng = np.random.default_rng(0)
x = rng.normal(size=(50, 3))
y = x @ np.array([[1.0], [2.0], [-1.0]])
w = Tensor(np.zeros((3, 1)), label="w")
for epoch in range(100):
    loss = mse_loss(x @ w, y)
    loss.backward()  #! 6
    w.data -= 0.1 * w.grad
