import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
for m in net:
    if hasattr(m, "bias"):
        nn.init.zeros_(m.bias)
nn.init.zeros_(net[2].weight)
