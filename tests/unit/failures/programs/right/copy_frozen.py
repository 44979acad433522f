from copy import deepcopy

import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
slow = deepcopy(net)
for weight in slow.parameters():
    weight.requires_grad = False
opt = torch.optim.Adam(net.parameters())
for x in torch.randn(5, 8, 2):
    opt.zero_grad()
    nn.functional.mse_loss(net(x), slow(x)).backward()
    opt.step()
