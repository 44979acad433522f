# %% engine parameters rebound in loop (read)
from model import MLP, Tensor, mse_loss
import numpy as np

net = MLP([1, 8, 1])
x = np.linspace(-1, 1, 20).reshape(-1, 1)
for epoch in range(50):
    for p in net.parameters():
        p.grad = None
    loss = mse_loss(net(Tensor(x)), x**2)
    loss.backward()
    for p in net.parameters():
        p -= 0.1 * p.grad  #! 7


# %% leaf minus equals (stops)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
loss = w.pow(2).sum()
loss.backward()
w -= 0.1 * w.grad  #! 7
