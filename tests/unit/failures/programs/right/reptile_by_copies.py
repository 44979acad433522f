import copy

import torch
from torch import nn

net = nn.Linear(3, 1)
for outer in range(3):
    fast = copy.deepcopy(net)
    opt = torch.optim.SGD(fast.parameters(), lr=0.02)
    for _ in range(3):
        loss = nn.functional.mse_loss(fast(torch.randn(8, 3)), torch.randn(8, 1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        for p, q in zip(net.parameters(), fast.parameters()):
            p += 0.1 * (q - p)
