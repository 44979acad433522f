import numpy as np
from model import SGD, Linear, mse_loss

x = np.random.default_rng(0).normal(size=(60, 2))
y = x[:, :1] * 3
layer = Linear(2, 1, rng=0)
opt = SGD(layer.parameters(), lr=0.1)
for _ in range(10):
    opt.zero_grad()
    for start in range(0, 60, 20):
        mse_loss(layer(x[start : start + 20]), y[start : start + 20]).backward()  #! 24
    opt.step()
