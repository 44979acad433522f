import numpy as np

from model import Tensor, mse_loss

rng = np.random.default_rng(0)
x, y = rng.normal(size=(40, 2)), rng.normal(size=(40, 1))
w, b = Tensor(np.zeros((2, 1)), label="w"), Tensor(np.zeros(1), label="b")
for epoch in range(50):
    loss = mse_loss(x @ w + b, y)
    loss.backward()
    for p in (w, b):
        p.data -= 0.1 * p.grad
        p.zero_grad()
