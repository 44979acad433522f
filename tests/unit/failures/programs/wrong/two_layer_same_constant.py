import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
for m in net:
    if hasattr(m, "weight"):
        nn.init.constant_(m.weight, 0.5)  #! 16
