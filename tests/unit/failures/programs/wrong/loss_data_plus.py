import torch
from torch import nn

a, b = nn.Linear(3, 1), nn.Linear(3, 1)
opt = torch.optim.SGD([*a.parameters(), *b.parameters()], 0.1)
for x, y in [(torch.randn(3, 3), torch.randn(3, 1))] * 3:
    la = (a(x) - y).pow(2).mean()
    lb = (b(x) - y).pow(2).mean()
    total = la + lb.data  #! 11
    opt.zero_grad()
    total.backward()
    opt.step()
