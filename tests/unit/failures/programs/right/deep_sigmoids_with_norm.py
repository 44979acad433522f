import torch
from torch import nn

layers = []
for _ in range(6):
    layers += [nn.Linear(64, 64), nn.BatchNorm1d(64), nn.Tanh()]
model = nn.Sequential(*layers, nn.Linear(64, 10))
gates = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(4, 4), nn.Sigmoid())
opt = torch.optim.SGD([*model.parameters(), *gates.parameters()], lr=0.1)
