import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for _ in range(20):
    F.mse_loss(net(x), y).backward()
    with torch.no_grad():
        steps = [0.05 * p.grad / (p.grad.norm() + 1e-12) for p in net.parameters()]
        for p, step in zip(net.parameters(), steps):
            p.add_(step)
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    with torch.no_grad():
        for p, step in zip(net.parameters(), steps):
            p.sub_(step)
    optimizer.step()
    optimizer.zero_grad()
