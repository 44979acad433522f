from model import MLP, Adam, Tensor
import numpy as np


def squared(pred, target):
    return Tensor(np.mean((pred.data - target) ** 2))  #! 4|13


net = MLP([3, 8, 1], activation="relu")
opt = Adam(net.parameters(), lr=0.01)
x, y = np.random.randn(50, 3), np.random.randn(50, 1)
for _ in range(100):
    opt.zero_grad()
    loss = squared(net(Tensor(x)), y)
    loss.backward()
    opt.step()
