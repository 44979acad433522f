# %% engine update under no grad (read)
from model import Tensor, no_grad

w = Tensor([0.5, -0.5], label="w")
for step in range(10):
    loss = ((w - 1.0) ** 2).sum()
    loss.backward()
    with no_grad():
        w -= 0.1 * w.grad  #! 7
    w.zero_grad()


# %% leaf minus equals (stops)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
loss = w.pow(2).sum()
loss.backward()
w -= 0.1 * w.grad  #! 7
