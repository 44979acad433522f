import torch
from torch import nn


def start(layer):
    if isinstance(layer, nn.Linear):
        width = layer.weight.shape[1]
        nn.init.constant_(layer.weight, 1.0 / width**0.5)  #! 16


net = nn.Sequential(nn.Linear(8, 20), nn.Tanh(), nn.Linear(20, 2))
net.apply(start)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = torch.randn(64, 8), torch.randn(64, 2)
for turn in range(100):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
