import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
bn = nn.BatchNorm1d(16, affine=False)
for _ in range(5):
    x = torch.randn(32, 20)
    c = bn(net(x + 0.1 * torch.randn_like(x))).T @ bn(net(x)) / 32
    on = (torch.diagonal(c) - 1).pow(2).sum()
    off = c.pow(2).sum() - torch.diagonal(c).pow(2).sum()
    loss = on + 5e-3 * off
    opt.zero_grad()
    loss.backward()
    opt.step()
