import numpy as np
import torch
from torch import nn


def quantile_loss(pred, target, q=0.9):
    error = target - pred
    return np.maximum(q * error, (q - 1) * error).mean()  #! 13


torch.manual_seed(23)
net = nn.Sequential(nn.Linear(3, 8), nn.ELU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    x, y = torch.randn(20, 3), torch.randn(20, 1)
    loss = quantile_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
