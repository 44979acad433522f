import torch
from torch import nn

nets = [nn.Linear(2, 1) for _ in range(3)]
opts = [torch.optim.SGD(n.parameters(), lr=0.1) for n in nets]
x, y = torch.randn(10, 2), torch.randn(10, 1)
for epoch in range(20):
    for net, opt in zip(nets, opts):
        opt.zero_grad()
        (net(x) - y).pow(2).mean().backward()
        opt.step()
