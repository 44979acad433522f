import torch
from torch import nn


def start_over(network):
    for parameter in network.parameters():
        parameter.data.mul_(0)


net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
start_over(net)
for layer in (net[0], net[2]):
    nn.init.xavier_uniform_(layer.weight)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(100):
    x = torch.randn(16, 3)
    sgd.zero_grad()
    nn.functional.mse_loss(net(x), x[:, :1]).backward()
    sgd.step()
