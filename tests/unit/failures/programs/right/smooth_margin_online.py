import torch
import torch.nn as nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for x, y in zip(torch.randn(100, 3), torch.randn(100)):
    opt.zero_grad()
    err = (net(x).squeeze() - y) ** 2
    err.backward()
    opt.step()
