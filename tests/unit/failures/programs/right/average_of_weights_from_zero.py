import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
mean = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
for parameter in mean.parameters():
    parameter.data.mul_(0)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(100):
    x = torch.randn(16, 3)
    sgd.zero_grad()
    nn.functional.mse_loss(net(x), x[:, :1]).backward()
    sgd.step()
    with torch.no_grad():
        for average, parameter in zip(mean.parameters(), net.parameters()):
            average.add_(parameter / 100)
