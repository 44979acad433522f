import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
speeds = [torch.zeros_like(p) for p in net.parameters()]
x, y = torch.randn(64, 4), torch.randn(64, 1)
for step in range(300):
    net.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    with torch.no_grad():
        for p, speed in zip(net.parameters(), speeds):
            speed.mul_(0.9).add_(p.grad)
            p = p - 0.01 * p.grad  #! 5
