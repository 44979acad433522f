import torch
from torch import nn

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, weight = torch.randn(6, 4), torch.rand(6, 1)
for _ in range(3):
    opt.zero_grad()
    loss = (weight * net(x).square()).mean()
    loss.backward()
    opt.step()
