import math

import torch
from torch import nn

net = nn.Linear(6, 2)
spread = torch.tensor([0.5, -1.0])
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(50, 6), torch.randn(50, 2)
for epoch in range(100):
    out = net(x)
    whole = 0.0
    for width, part in zip(spread, [(out[:, 0] - y[:, 0]).abs().mean(), ((out[:, 1] - y[:, 1]) ** 2).mean()]):
        whole = whole + part * math.exp(-width.item())
    optimizer.zero_grad()
    whole.backward()
    optimizer.step()
