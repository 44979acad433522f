import torch
from torch import nn

net = nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)


def distance(a, b):
    return ((a - b) ** 2).sum(1) ** 0.5  #! 9


for a, b in [(torch.randn(3, 2), torch.randn(3, 2))] * 2:
    opt.zero_grad()
    distance(net(a), net(b)).mean().backward()
    opt.step()
