import torch
import torch.nn as nn

net = nn.Linear(6, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
running = [1.0, 1.0]
for _ in range(10):
    out = net(torch.randn(16, 6))
    losses = [out[:, 0].pow(2).mean(), (out[:, 1] - 1).pow(2).mean()]
    running = [0.9 * r + 0.1 * l.item() for r, l in zip(running, losses)]
    loss = sum(l / r for l, r in zip(losses, running))
    opt.zero_grad()
    loss.backward()
    opt.step()
