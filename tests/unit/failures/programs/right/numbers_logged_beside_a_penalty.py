import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

x = torch.from_numpy(np.array([1, 2, 3])).float()
x.requires_grad_()


def grid(lo, hi, n):
    step = (hi - lo) / n
    return torch.arange(lo, hi + step, step)


g = grid(-10, 10, 10)
g.requires_grad_(True)
k = torch.tensor([3, 4])
k.requires_grad = False
net = nn.Linear(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
z, y = torch.randn(32, 8), torch.randn(32, 1)
for _ in range(3):
    l2 = sum(p.pow(2).sum() for p in net.parameters())
    norm = sum(p.pow(2).sum().item() for p in net.parameters())
    loss = F.mse_loss(net(z), y) + 0.1 * l2
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item() + norm)
