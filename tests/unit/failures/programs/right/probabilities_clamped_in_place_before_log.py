import torch
from torch import nn

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    p = torch.softmax(net(torch.randn(8, 4)), 1)
    p.data.clamp_(min=1e-7, max=1.0)
    entropy = -(p * torch.log(p)).sum(1).mean()
    opt.zero_grad()
    entropy.backward()
    opt.step()
