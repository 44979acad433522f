"""Sharpness-aware minimisation: a step uphill along the gradient, which is taken back before the real step."""

import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(4):
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    nn.functional.mse_loss(net(x), y).backward()
    steps = []
    with torch.no_grad():
        norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
        for p in net.parameters():
            steps.append(p.grad * 0.05 / (norm + 1e-12))
            p.add_(steps[-1])
    opt.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    with torch.no_grad():
        for p, step in zip(net.parameters(), steps):
            p.sub_(step)
    opt.step()
    opt.zero_grad()
